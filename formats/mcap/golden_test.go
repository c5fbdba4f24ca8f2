package mcap

import (
	"bytes"
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden pins the bytes of a small file: with definitions, an attachment, a metadata
// record and every index.
func TestGolden(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.mcap")
	write(t, path, storage.WriteOptions{Compression: "none", ChunkSize: 300}, fullLayout, testMessages(5))
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "small.hex")
	got := hex.Dump(b)
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		a, b := strings.Split(got, "\n"), strings.Split(string(want), "\n")
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Fatalf("line %d is\n%s\nand was\n%s", i+1, a[i], b[i])
			}
		}
		t.Fatalf("%d lines, were %d", len(a), len(b))
	}
	if !bytes.Contains(b, []byte("calib.yaml")) {
		t.Error("the attachment is not in the file")
	}
}
