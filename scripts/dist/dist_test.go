package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var when = time.Unix(1_700_000_000, 0).UTC()

// TestPack: an archive has what the folder has, and its bytes do not depend on
// when and by whom the files were made.
func TestPack(t *testing.T) {
	for _, ending := range []string{".tar.gz", ".zip"} {
		var packed [2][]byte
		for i := range packed {
			dir := t.TempDir()
			folder := filepath.Join(dir, "bagconv_1")
			for name, mode := range map[string]os.FileMode{"bagconv": 0o700 + os.FileMode(i), "man/bagconv.1": 0o600 +
				os.FileMode(i)*4} {
				path := filepath.Join(folder, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o777-os.FileMode(i)); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(name), mode); err != nil {
					t.Fatal(err)
				}
				if err := os.Chtimes(path, when, when.Add(time.Duration(i)*time.Hour)); err != nil {
					t.Fatal(err)
				}
			}
			out := filepath.Join(dir, "out"+ending)
			if err := pack(out, folder, when); err != nil {
				t.Fatal(err)
			}
			packed[i], _ = os.ReadFile(out)
		}
		if !bytes.Equal(packed[0], packed[1]) {
			t.Errorf("%s: two runs differ", ending)
		}
		var names []string
		add := func(name string, modified time.Time, r io.Reader) {
			names = append(names, name)
			text, err := io.ReadAll(r)
			if err != nil || !strings.HasSuffix(name, "/") && !strings.HasSuffix(name, string(text)) || !modified.Equal(when) {
				t.Errorf("%s: %s has %q, %v, of %v", ending, name, text, err, modified)
			}
		}
		if ending == ".zip" {
			z, err := zip.NewReader(bytes.NewReader(packed[0]), int64(len(packed[0])))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range z.File {
				r, err := f.Open()
				if err != nil {
					t.Fatal(err)
				}
				add(f.Name, f.Modified, r)
			}
		} else {
			z, err := gzip.NewReader(bytes.NewReader(packed[0]))
			if err != nil {
				t.Fatal(err)
			}
			for r := tar.NewReader(z); ; {
				h, err := r.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				add(h.Name, h.ModTime, r)
			}
		}
		if got := strings.Join(names, " "); got != "bagconv_1/ bagconv_1/bagconv bagconv_1/man/ bagconv_1/man/bagconv.1" {
			t.Errorf("%s: %s", ending, got)
		}
	}
	if err := pack(filepath.Join(t.TempDir(), "out.rar"), t.TempDir(), when); err == nil {
		t.Error("a .rar is packed")
	}
}
