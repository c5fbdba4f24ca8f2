package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// mcapFiles are the real MCAP files.
func mcapFiles(t *testing.T) (out []string) {
	files, _ := filepath.Glob(filepath.Join(shared, "mcap", "*+*", "*.mcap"))
	for _, path := range files {
		if filepath.Base(path) != "2024-05-15.mcap" { // every CR LF in it became LF
			out = append(out, path)
		}
	}
	if len(out) == 0 {
		t.Skip("the real files are not here")
	}
	return out
}

// TestMCAPToMCAP: another compression, the same channels and bytes, in order of time.
func TestMCAPToMCAP(t *testing.T) {
	dir := t.TempDir()
	for i, path := range mcapFiles(t) {
		for _, codec := range []string{"none", "lz4", "zstd"} {
			out := filepath.Join(dir, fmt.Sprintf("m%d%s.mcap", i, codec))
			convert(t, path, out, "--compression", codec, "--no-sync")
			same(t, path, out)
		}
	}
}

// TestThroughMCAP: each other format -> MCAP -> the same again.
func TestThroughMCAP(t *testing.T) {
	dir := t.TempDir()
	n := 0
	through := func(t *testing.T, path, end string) (back string) {
		t.Helper()
		n++
		mid := filepath.Join(dir, fmt.Sprintf("t%d.mcap", n))
		back = filepath.Join(dir, fmt.Sprintf("t%d%s", n, end))
		convert(t, path, mid, "--no-sync", "--proto-types", "generated")
		convert(t, mid, back, "--no-sync")
		return back
	}
	t.Run("bag", func(t *testing.T) {
		for path := range bags(t) {
			sameBag(t, path, through(t, path, ".bag"))
		}
	})
	t.Run("db3", func(t *testing.T) {
		for _, path := range folders(t) {
			info, _ := read(t, path)
			if !slices.ContainsFunc(info.Topics, func(topic storage.TopicInfo) bool { return topic.Encoding != "cdr" }) {
				same(t, path, through(t, path, ""))
			}
		}
	})
	t.Run("record", func(t *testing.T) {
		for _, path := range records(t) {
			sameRecord(t, path, through(t, path, ".record"))
		}
	})
}
