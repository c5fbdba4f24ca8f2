// Package samples finds the recordings that tests read: in testdata/recordings, which
// scripts/recordings makes, and in ../shared/data beside the repository, if there is such a
// folder. Both have a folder for each format, and files that describe what is in the recordings.
package samples

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Pick returns how much a test takes: the first with BAGCONV_EXHAUSTIVE=1, the last with -short, and
// what is between as part of the gate.
func Pick(exhaustive, gate, short int) int {
	switch {
	case os.Getenv("BAGCONV_EXHAUSTIVE") != "":
		return exhaustive
	case testing.Short():
		return short
	}
	return gate
}

// Ours returns testdata/recordings, relative to the folder of the test.
func Ours(t testing.TB) string {
	t.Helper()
	return filepath.Join(top(t), "testdata", "recordings")
}

// Shared returns ../shared/data beside the repository, and whether it is there.
func Shared(t testing.TB) (dir string, ok bool) {
	t.Helper()
	dir = filepath.Join(top(t), "..", "shared", "data")
	_, err := os.Stat(dir)
	return dir, err == nil
}

// Roots returns the folders that are there.
func Roots(t testing.TB) []string {
	t.Helper()
	roots := []string{Ours(t)}
	if dir, ok := Shared(t); ok {
		roots = append(roots, dir)
	}
	return roots
}

// top returns the folder of go.mod.
func top(t testing.TB) string {
	t.Helper()
	dir := "."
	for range 10 {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		dir = filepath.Join(dir, "..")
	}
	t.Fatal("no go.mod is above this folder")
	return ""
}

// Glob returns the paths in all roots that match a pattern below them.
func Glob(t testing.TB, pattern string) (paths []string) {
	t.Helper()
	for _, root := range Roots(t) {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	return paths
}

// Expected reads a JSON file that is at a path of each root, and returns what it has for each
// recording, by the path of that recording.
func Expected[T any](t testing.TB, path string) map[string]T {
	t.Helper()
	out := map[string]T{}
	for _, root := range Roots(t) {
		file := filepath.Join(root, path)
		text, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) && root != Ours(t) {
			continue
		}
		var values map[string]T
		if err == nil {
			d := json.NewDecoder(bytes.NewReader(text))
			d.UseNumber() // an any may be a time
			err = d.Decode(&values)
		}
		if err != nil {
			t.Fatal(err)
		}
		for name, v := range values {
			out[filepath.Join(filepath.Dir(file), filepath.FromSlash(name))] = v
		}
	}
	return out
}

// Recordings lists the recordings that claims knows, damaged ones too: from Ours, and with BAGCONV_EXHAUSTIVE=1 from
// all Roots. What is in a folder that is a recording is not listed.
func Recordings(t testing.TB, claims func(path string) bool) (paths []string) {
	t.Helper()
	roots := []string{Ours(t)}
	if os.Getenv("BAGCONV_EXHAUSTIVE") != "" {
		roots = Roots(t)
	}
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err != nil || !claims(path) {
				return err
			}
			paths = append(paths, path)
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return paths
}
