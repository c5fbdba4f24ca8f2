package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// programMB is what bagconv holds beside --max-memory, at most.
const programMB = 48

// TestMemory: inputs several times as large as the limit are converted within it,
// but for what the program itself holds.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 300 MB")
	}
	limit, size := 64, "150" // MB
	if large() {
		limit, size = 96, "300"
	}
	dir := t.TempDir()
	gen, err := generator()
	if err != nil {
		t.Fatal(err)
	}
	for _, end := range []string{".bag", ".record"} {
		in := filepath.Join(dir, "in"+end)
		if out, err := exec.Command(gen, "-mb", size, in).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for _, to := range []string{"bag", "db3", "record"} {
			out := filepath.Join(dir, "out_"+to)
			held := heldMB(t, nil, "-q", "--no-sync", "--max-memory", fmt.Sprint(limit, "M"), "--to", to, in, out)
			t.Logf("%s to %s: %d MB", end, to, held)
			if held > limit+programMB {
				t.Errorf("%s to %s: %d MB are held, with a limit of %d", end, to, held, limit)
			}
			if err := os.RemoveAll(out); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Remove(in); err != nil {
			t.Fatal(err)
		}
	}
}
