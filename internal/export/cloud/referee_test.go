package cloud

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// numpyTypes are the datatypes as numpy names them.
var numpyTypes = [...]string{Int8: "i1", Uint8: "u1", Int16: "i2", Uint16: "u2", Int32: "i4", Uint32: "u4",
	Float32: "f4", Float64: "f8", Int64: "i8", Uint64: "u8"}

// TestReferee: pypcd4 and plyfile read the same values in files of random clouds and of sensors.
func TestReferee(t *testing.T) {
	python := os.Getenv("BAGCONV_CLOUDS_PYTHON")
	if python == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("BAGCONV_CLOUDS_PYTHON is missing")
		}
		t.Skip("BAGCONV_CLOUDS_PYTHON names no python with pypcd4 and plyfile")
	}
	var clouds []*Cloud
	for _, name := range []string{"velodyne32", "ouster48", "livox26", "bigendian32"} {
		c := layouts()[name]
		c.Width = 1000
		clouds = append(clouds, c)
	}
	for seed := range uint64(150) {
		if c := random(rand.New(rand.NewPCG(seed, 3))); !c.empty() { // pypcd4 reads no cloud without points
			clouds = append(clouds, c)
		}
	}
	dir := t.TempDir()
	var lines bytes.Buffer
	files := 0
	var e Encoder
	for i, c := range clouds {
		for _, kind := range []string{"binary.pcd", "compressed.pcd", "flat.ply"} {
			write := e.AppendPCD
			if kind == "flat.ply" {
				write = e.AppendPLY
			}
			file, err := write(nil, c, Options{Compressed: kind == "compressed.pcd"})
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, fmt.Sprint(i)+kind)
			if err := os.WriteFile(path, file, 0o666); err != nil {
				t.Fatal(err)
			}
			type field struct {
				Name   string `json:"name"`
				Type   string `json:"type"`
				Count  uint32 `json:"count"`
				Values string `json:"values"`
			}
			var fields []field
			for k, values := range naive(c) {
				f := c.Fields[k]
				fields = append(fields, field{f.Name, numpyTypes[f.Datatype], max(f.Count, 1), hex.EncodeToString(values)})
			}
			line, err := json.Marshal(map[string]any{"path": path, "fields": fields, "width": c.Width, "height": c.Height})
			if err != nil {
				t.Fatal(err)
			}
			lines.Write(append(line, '\n'))
			files++
		}
	}
	cmd := exec.Command(python, "testdata/referee/clouds.py")
	cmd.Stdin = &lines
	out, err := cmd.CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != fmt.Sprintf("compared %d", files) {
		t.Fatalf("%v\n%.4000s", err, out)
	}
}
