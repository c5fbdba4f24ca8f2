package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestReindexReferees: bags whose end is missing or damaged have the same messages after
// reindex, and python3-rosbag and the C++ library read them all.
func TestReindexReferees(t *testing.T) {
	dir := t.TempDir()
	want, zero := map[string]int{}, map[string]int{}
	var outs []string
	for _, name := range []string{"index-pos-zero.bag", "truncated-in-trailer.bag", "truncated-in-chunk.bag", "crash-none.bag.active"} {
		path := filepath.Join("..", "..", "testdata", "recordings", "ros1", "generated", name)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(dir, name)
		if err := os.WriteFile(out, b, 0o666); err != nil {
			t.Fatal(err)
		}
		if status, stderr := bagconv(t, "reindex", out); status != 0 {
			t.Errorf("%s: exit status %d: %s", name, status, stderr)
			continue
		}
		_, before := read(t, path)
		_, after := read(t, out)
		if len(before) != len(after) || len(after) == 0 {
			t.Errorf("%s: %d messages before, %d after", name, len(before), len(after))
		}
		outs, want[out] = append(outs, out), len(after)
	}
	t.Run("rosbag1", func(t *testing.T) { decodeROS1(t, want, outs) })
	t.Run("C++", func(t *testing.T) { countCPP(t, want, zero, outs) })
}
