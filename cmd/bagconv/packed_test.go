package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/samples"
)

// TestPackedReferee: rosbags decodes the same from every form of compressed folder as from
// its source: from each folder in three forms of six, and in all with BAGCONV_EXHAUSTIVE=1.
func TestPackedReferee(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ros1 := sorted(bags(t))
	inputs := append(ros1, folders(t)...)
	forms := [][]string{
		{"--compression", "zstd"},
		{"--compression", "zstd", "--distro", "foxy"},
		{"--compression", "zstd", "--compression-mode", "message"},
		{"--compression", "zstd", "--compression-mode", "message", "--distro", "humble", "--level", "1"},
		{"--compression", "zstd", "--distro", "jazzy", "--storage", "sqlite3"},
		{"--storage", "mcap", "--compression-mode", "file"},
	}
	var pairs []string
	for k, form := range forms {
		for i, path := range inputs {
			older := slices.Contains(form, "foxy") || slices.Contains(form, "humble") // rosbags finds no definitions there
			if older && i < len(ros1) || i%6 != k && (i < len(ros1) || (i+k)%3 != 0 && samples.Pick(0, 1, 1) == 1) {
				continue
			}
			out := filepath.Join(dir, fmt.Sprintf("o%d_%d", i, k))
			convert(t, append([]string{path, out + "/", "--no-sync"}, form...)...)
			if _, msgs := read(t, out); len(msgs) > 0 {
				pairs = append(pairs, path, out)
			}
		}
	}
	checkPairs(t, 20, pairs)
}
