package inplace_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/inplace"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/testing/faultio"
	"github.com/bagconv/bagconv/storage"
)

// TestLinks: a change that was killed through a link, at any operation, is mended by the name of the file, by
// the same link and by a link to it.
func TestLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a right there")
	}
	mended := 0
	for _, by := range []string{"file", "sub/link", "chain"} {
		for n := int64(1); ; n++ {
			path := start(t)
			dir := filepath.Dir(path)
			if err := errors.Join(os.Mkdir(filepath.Join(dir, "sub"), 0o777),
				os.Symlink("../file", filepath.Join(dir, "sub/link")),
				os.Symlink("sub/link", filepath.Join(dir, "chain"))); err != nil {
				t.Fatal(err)
			}
			disk := &faultio.FS{FS: iox.OS, N: n, Fault: faultio.Death}
			err := change(disk, filepath.Join(dir, "sub/link"))
			if !disk.Fired() {
				if err != nil || content(t, path) != after {
					t.Errorf("after %d operations: %v", n, err)
				}
				break
			}
			if _, err := os.Stat(filepath.Join(dir, ".file.journal")); err == nil {
				mended++
			}
			f, err := open(nil, filepath.Join(dir, by))
			if err != nil {
				t.Fatal(err)
			}
			was := content(t, path)
			end, err := f.End()
			if err != nil || was[5] == '0' && end != int64(len(before)) && len(was) > len(before) {
				t.Errorf("%s, operation %d: %q ends at %d: %v", by, n, was, end, err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			if now := content(t, path); now != after {
				if err := change(iox.OS, filepath.Join(dir, by)); err != nil || content(t, path) != after {
					t.Errorf("%s, operation %d: the next run: %v, the file is %q", by, n, err, content(t, path))
				}
			}
			if entries, _ := os.ReadDir(dir); len(entries) != 3 {
				t.Errorf("%s, operation %d: %d files are left", by, n, len(entries))
			}
			if entries, _ := os.ReadDir(filepath.Join(dir, "sub")); len(entries) != 1 {
				t.Errorf("%s, operation %d: %d files are left beside the link", by, n, len(entries))
			}
		}
	}
	if mended < 9 {
		t.Errorf("only %d runs have left a journal beside the file", mended)
	}
}

// TestHardLinks: a file with several names is refused, by each of them and also in a dry run, and stays as it is.
func TestHardLinks(t *testing.T) {
	path := start(t)
	other := path + " too"
	if err := os.Link(path, other); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{path, other} {
		for _, dry := range []bool{false, true} {
			f, err := inplace.Open(t.Context(), name, inplace.Options{Format: "toy", Read: read, DryRun: dry})
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.Begin(int64(len(before)))
			var e *storage.Error
			if !errors.Is(err, storage.ErrUnsupported) || !errors.As(err, &e) || !strings.Contains(e.What, "2 names") ||
				e.Hint == "" {
				t.Errorf("%s: %v", name, err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 2 || content(t, path) != before {
		t.Errorf("%d files, the file is %q", len(entries), content(t, path))
	}
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	if err := change(iox.OS, path); err != nil || content(t, path) != after {
		t.Errorf("by its only name: %v, the file is %q", err, content(t, path))
	}
}

// TestForeignJournal: of a file that another program has changed after a run was killed, or that stands in
// the place of another one, nothing is cut off or overwritten.
func TestForeignJournal(t *testing.T) {
	for n := int64(1); ; n++ {
		path := start(t)
		disk := &faultio.FS{FS: iox.OS, N: n, Fault: faultio.Death}
		_ = change(disk, path)
		if !disk.Fired() {
			break
		}
		if _, err := os.Stat(inplace.JournalPath(path)); err != nil {
			continue
		}
		for _, other := range []string{"another file, and a long one", "Head 0 body" + strings.Repeat(" of another", 3000)} {
			if err := os.WriteFile(path, []byte(other), 0o666); err != nil {
				t.Fatal(err)
			}
			left, err := os.ReadFile(inplace.JournalPath(path))
			f, e := open(nil, path)
			if err != nil {
				t.Fatal(err)
			}
			if e == nil {
				if end, err := f.End(); err != nil || end != int64(len(other)) {
					t.Errorf("operation %d: %q ends at %d: %v", n, other, end, err)
				}
				if at, err := f.Begin(int64(len(before))); err != nil || at != int64(len(other)) {
					t.Errorf("operation %d: begins at %d: %v", n, at, err)
				}
				e = f.Close()
			} else if !errors.Is(e, storage.ErrCorrupt) {
				t.Errorf("operation %d: %v", n, e)
			} else {
				e = nil
			}
			if e != nil || content(t, path) != other {
				t.Errorf("operation %d: %v, the file is %q", n, e, content(t, path))
			}
			if err := os.WriteFile(inplace.JournalPath(path), left, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}
