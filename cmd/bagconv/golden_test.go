package main

import (
	"bytes"
	"compress/gzip"
	"flag"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/storage"
)

var update = flag.Bool("update", false, "write testdata/golden again")

// goldenValues are the values of options that are not choices, by their kind.
var goldenValues = map[storage.OptionKind]string{
	storage.OptionInteger: "1", storage.OptionSize: "1K", storage.OptionDuration: "200ms",
}

// goldenCases returns the flags of the outputs of a format: none, and each value of each option.
func goldenCases(f *storage.Format) (cases [][]string) {
	cases = append(cases, nil)
	for _, o := range f.Options {
		values := o.Values
		if o.Kind == storage.OptionText {
			continue // encryption: two runs write different files
		}
		if o.Kind != storage.OptionChoice {
			values = []string{goldenValues[o.Kind]}
		}
		for i, v := range values {
			args := []string{"--" + o.Name, v}
			switch {
			case o.Kind == storage.OptionChoice && i == 0 && len(values) > 1:
				continue // the default
			case o.Name == storage.NameSegmentNames:
				args = append(args, "--"+storage.NameSegmentSize, "1K")
			case o.Name == storage.NameLevel && !slices.Contains(f.Options.Choices(storage.NameCompression)[:1], "zstd"):
				args = append(args, "--"+storage.NameCompression, f.Options.Choices(storage.NameCompression)[1])
			}
			cases = append(cases, args)
		}
	}
	return cases
}

// TestGolden: every writer makes the bytes that it made before, with each value of each of its
// options. The files are compressed by gzip in testdata/golden; after a change that is meant,
//
//	go test ./cmd/bagconv -run TestGolden -update
//
// writes them again, and git shows which.
func TestGolden(t *testing.T) {
	t.Parallel()
	const source = "../../testdata/recordings/ros1/rosbag/chunk-each.bag"
	seen := map[string]bool{}
	for _, f := range all.Registry().Formats() {
		if f.Create == nil {
			continue
		}
		for _, args := range goldenCases(f) {
			name := strings.ReplaceAll(strings.Join(append([]string{f.Name}, args...), "-"), "---", "-")
			t.Run(name, func(t *testing.T) {
				dir := t.TempDir()
				out := filepath.Join(dir, "out")
				if f.Layout.Folder {
					out += "/"
				} else {
					out += f.Extensions[0]
				}
				convert(t, append([]string{source, out, "--to", f.Name, "--no-sync"}, args...)...)
				checkGolden(t, filepath.Join("testdata", "golden", name), dir)
				seen[name] = true
			})
		}
	}
	stored, err := os.ReadDir(filepath.Join("testdata", "golden"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range stored {
		if !seen[e.Name()] && !t.Failed() {
			t.Errorf("testdata/golden/%s: no option has it; remove it", e.Name())
		}
	}
}

// checkGolden compares the files below a folder with the golden ones, or writes these.
func checkGolden(t *testing.T, golden, dir string) {
	t.Helper()
	got := goldenFiles(t, dir, func(b []byte) []byte { return b })
	if *update {
		if err := os.RemoveAll(golden); err != nil {
			t.Fatal(err)
		}
		for name, b := range got {
			path := filepath.Join(golden, name+".gz")
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			var packed bytes.Buffer
			z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
			_, _ = z.Write(b)
			_ = z.Close()
			if err := os.WriteFile(path, packed.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := goldenFiles(t, golden, func(b []byte) []byte {
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err == nil {
			b, err = io.ReadAll(z)
		}
		if err != nil {
			t.Fatal(err)
		}
		return b
	})
	for _, name := range slices.Sorted(maps.Keys(want)) {
		w, ok := got[strings.TrimSuffix(name, ".gz")]
		if !ok {
			t.Errorf("%s is not written", name)
		} else if !bytes.Equal(w, want[name]) {
			t.Errorf("%s has other bytes: %d, and the golden one %d", name, len(w), len(want[name]))
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files are written, and %d are golden", len(got), len(want))
	}
}

// goldenFiles reads the files below a folder, by their path.
func goldenFiles(t *testing.T, dir string, unpack func([]byte) []byte) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for name := range everything(t, dir) {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.ToSlash(name)] = unpack(b)
	}
	return files
}
