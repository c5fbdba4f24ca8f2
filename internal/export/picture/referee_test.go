package picture

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// referee runs testdata/referee.py, and returns the lines that it prints.
func referee(t *testing.T, args ...string) []string {
	t.Helper()
	python := os.Getenv("BAGCONV_PICTURES_PYTHON")
	if python == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI must have OpenCV and Pillow: BAGCONV_PICTURES_PYTHON")
		}
		t.Skip("BAGCONV_PICTURES_PYTHON names no python with opencv-python-headless, Pillow and tifffile")
	}
	cmd := exec.Command(python, append([]string{filepath.Join("testdata", "referee.py")}, args...)...)
	cmd.Env = append(os.Environ(), "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// A refereeCase is an image and the file made of it, as referee.py reads them.
type refereeCase struct {
	Name     string `json:"name"`
	Width    uint32 `json:"width"`
	Height   uint32 `json:"height"`
	Step     uint32 `json:"step"`
	Encoding string `json:"encoding"`
	Big      bool   `json:"big"`
	Debayer  bool   `json:"debayer"`
	Raw      string `json:"raw"`
	File     string `json:"file"`
}

// generalNames are of numbers without a color.
var generalNames = strings.Fields(
	"8UC 8UC1 8UC2 8UC3 8UC4 8UC5 8SC1 8SC3 16UC1 16UC2 16UC3 16UC4 16UC7 16SC1 16SC2 32SC1 32SC4 32UC1 64SC1 " +
		"16FC1 32FC1 32FC2 32FC3 32FC4 32FC6 64FC1 64FC3")

// TestOpenCV: what OpenCV, Pillow, tifffile and NumPy read of the files of all encodings, with padding and in
// both orders of bytes, is bit by bit what OpenCV makes of the raw bytes.
func TestOpenCV(t *testing.T) {
	dir, random := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	var cases []refereeCase
	add := func(name string, width, height int, o Options) {
		r := randomRaw(random, name, width, height)
		c := refereeCase{fmt.Sprintf("%d %s %dx%d %v", len(cases), name, width, height, o), r.Width, r.Height, r.Step, name,
			r.BigEndian, o.Debayer, "", ""}
		ext, file, err := r.AppendFile(nil, o)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		base := filepath.Join(dir, fmt.Sprint(len(cases)))
		c.Raw, c.File = base+".raw", base+"."+ext
		write(t, c.Raw, r.Data)
		write(t, c.File, file)
		cases = append(cases, c)
	}
	sizes := [][2]int{{2, 2}, {6, 4}, {34, 18}, {130, 66}}
	for i, size := range sizes {
		for _, e := range encodings {
			for level := range Level(len(zlibLevels)) {
				add(e.name, size[0], size[1], Options{Level: level, TIFF: true})
			}
			if e.layout == mosaic && i > 0 {
				add(e.name, size[0], size[1], Options{Debayer: true})
				add(e.name, size[0]+1, size[1]+1, Options{Debayer: true})
			}
		}
		for _, name := range generalNames {
			add(name, size[0], size[1], Options{})
			add(name, size[0]-1, size[1]-1, Options{TIFF: true, Level: Small})
		}
	}
	list, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "cases.json"), list)
	lines := referee(t, dir)
	if want := fmt.Sprint("compared ", len(cases)); len(lines) != 1 || lines[0] != want {
		t.Errorf("%d lines, want %q:\n%s", len(lines), want, strings.Join(lines[:min(len(lines), 40)], "\n"))
	}
}

// TestCompressed: the files of Pillow and OpenCV are what they are, and depth is what NumPy makes of it.
func TestCompressed(t *testing.T) {
	dir := t.TempDir()
	referee(t, "--make", dir)
	var made []struct {
		Path, Format, Ext string
		Same              bool
	}
	list, err := os.ReadFile(filepath.Join(dir, "made.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(list, &made); err != nil || len(made) < 70 {
		t.Fatalf("%d images, %v", len(made), err)
	}
	for _, m := range made {
		data, err := os.ReadFile(m.Path)
		if err != nil {
			t.Fatal(err)
		}
		ext, file, err := Stored(m.Format, data, Options{})
		if err != nil || ext != m.Ext {
			t.Errorf("%s: %q, %v, want %q", filepath.Base(m.Path), ext, err, m.Ext)
		}
		if m.Same && !bytes.Equal(file, data) {
			t.Errorf("%s: the bytes are not those stored", m.Path)
		}
		write(t, m.Path+".out."+m.Ext, file)
	}
	if lines := referee(t, "--judge", dir); len(lines) != 1 || lines[0] != "compared 90" {
		t.Error(strings.Join(lines, "\n"))
	}
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// randomRaw makes an image of random bytes, often with padding and with big-endian samples.
func randomRaw(random *rand.Rand, name string, width, height int) *Raw {
	e, err := parseEncoding(name)
	if err != nil {
		panic(err)
	}
	step := width * e.channels * e.sample.Size
	if random.IntN(2) == 0 {
		step += 2 * (1 + random.IntN(20))
	}
	n := step * height
	switch {
	case e.full:
		n *= 3
	case e.layout == biplanar || e.layout == triplanar:
		n = n * 3 / 2
	}
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	return &Raw{Width: uint32(width), Height: uint32(height), Step: uint32(step), Encoding: name,
		BigEndian: random.IntN(2) == 0, Data: data}
}
