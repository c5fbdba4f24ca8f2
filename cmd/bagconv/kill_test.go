package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// generated makes a bag with scripts/gen.
func generated(t *testing.T, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in.bag")
	cmd := exec.Command("go", append(append([]string{"run", "-buildvcs=false", "../../scripts/gen"}, args...), path)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("gen: %v: %s", err, out)
	}
	return path
}

func digest(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// TestKilled: kill -9 at twenty moments leaves no output under its final name,
// and the source as it was.
func TestKilled(t *testing.T) {
	bag := generated(t, "-profile", "small", "-mb", "60")
	before := digest(t, bag)
	dir := t.TempDir()
	began := time.Now()
	db3 := filepath.Join(dir, "whole")
	convert(t, bag, db3+"/")
	took := time.Since(began)
	_, all := read(t, bag)
	want := len(all)
	for _, way := range []struct{ in, out, to string }{{bag, "db3", "db3"}, {db3, "out.bag", "bag"}, {bag, "folder", "ros2mcap"}} {
		killed := 0
		for i := range 20 {
			out := filepath.Join(dir, way.out)
			cmd := exec.Command(binary, "-q", "--to", way.to, way.in, out)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(took * time.Duration(i+1) / 22)
			_ = cmd.Process.Kill()
			finished := cmd.Wait() == nil
			if _, err := os.Stat(out); err == nil {
				// Finished, or killed between the rename and the end: then it is whole.
				if info, msgs := read(t, out); len(msgs) != want || len(info.Warnings) > 0 {
					t.Errorf("killed at %d/22: an output of %d of %d messages, %v", i+1, len(msgs), want, info.Warnings)
				}
			} else if finished {
				t.Errorf("finished, and there is no output")
			}
			if !finished {
				killed++
			}
			if err := os.RemoveAll(out); err != nil {
				t.Fatal(err)
			}
		}
		if killed == 0 {
			t.Errorf("none of 20 runs to %s was killed in time", way.out)
		}
	}
	if digest(t, bag) != before {
		t.Error("the source has changed")
	}
}
