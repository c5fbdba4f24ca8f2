package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

// mcapFolders are the rosbag2 folders with MCAP storage.
func mcapFolders(t *testing.T) (out []string) {
	for _, pattern := range []string{"rosbag2/*/*/metadata.yaml", "mcap/*+*/*/metadata.yaml",
		"mcap/generated/folder-*/metadata.yaml"} {
		for _, path := range samples.Glob(t, pattern) {
			dir := filepath.Dir(path)
			parts, _ := filepath.Glob(filepath.Join(dir, "*.mcap*"))
			if len(parts) > 0 {
				out = append(out, dir)
			}
		}
	}
	return out
}

// TestPairs: a recording of each format becomes one of each other, whole or cut, and that one
// of its own again; each holds the same as the one that it was made from.
func TestPairs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ends := map[string]string{"bag": ".bag", "record": ".record", "db3": "/", "mcap": ".mcap", "ros2mcap": "/"}
	for name, demo := range map[string]string{"ros": "demo.bag", "apollo": "demo.record"} {
		if testing.Short() && name != "ros" {
			continue
		}
		demo = filepath.Join("..", "..", "testdata", demo)
		for from, end := range ends {
			in := filepath.Join(dir, name+"_"+from) + end
			convert(t, demo, in, "--to", from, "--no-sync")
			for to, end := range ends {
				for _, cut := range []bool{false, true} {
					if cut && to != "db3" && to != "ros2mcap" {
						continue
					}
					stem := filepath.Join(dir, fmt.Sprint(name, "_", from, "_", to, "_", cut))
					args := []string{"--to", to, "--no-sync"}
					if cut {
						args = append(args, "--segment-size", "40K")
					}
					convert(t, append([]string{in, stem + end}, args...)...)
					back := stem + "_back" + ends[from]
					convert(t, stem+end, back, "--to", from, "--no-sync")
					for _, pair := range [][2]string{{in, stem + end}, {stem + end, back}} {
						if status, text := bagconv(t, "verify", "-q", "--ignore", "unconvertible", filepath.Clean(pair[0]),
							filepath.Clean(pair[1])); status != 0 {
							t.Errorf("%s and %s: exit status %d: %s", pair[0], pair[1], status, text)
						}
					}
				}
			}
		}
	}
}

// TestMCAPFolders: within its storage nothing changes but the container, in one part or
// several, and in the storage of databases but for what these have no place for.
func TestMCAPFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, path := range mcapFolders(t) {
		for k, args := range [][]string{{"--storage", "mcap"}, {"--storage", "mcap", "--segment-size", "2K", "--compression",
			"lz4"}, {"--distro", "jazzy"}} {
			out := filepath.Join(dir, fmt.Sprintf("f%d_%d", i, k))
			convert(t, append([]string{path, out + "/", "--no-sync"}, args...)...)
			info, _ := read(t, path)
			if slices.ContainsFunc(info.Topics, func(t storage.TopicInfo) bool { return t.Encoding != "cdr" }) {
				continue // what databases take of it is another matter
			}
			if info.Lost.Messages == 0 {
				same(t, path, out)
			}
			back := filepath.Join(dir, fmt.Sprintf("b%d_%d", i, k))
			db3 := filepath.Join(dir, fmt.Sprintf("d%d_%d", i, k))
			convert(t, out, db3+"/", "--no-sync")
			convert(t, db3, back+"/", "--no-sync", "--storage", "mcap")
			if status, text := bagconv(t, "verify", "-q", "--ignore", "unconvertible", out, back); status != 0 {
				t.Errorf("%s: exit status %d: %s", path, status, text)
			}
		}
	}
}
