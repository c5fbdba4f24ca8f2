package iox

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// TestOverlay: what is written stays in memory, and what is on the disk stays as it is.
func TestOverlay(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "real")
	if err := os.WriteFile(real, []byte("disk"), 0o666); err != nil {
		t.Fatal(err)
	}
	o := NewOverlay(nil)
	out, err := NewOutput(o, filepath.Join(dir, "new"), false, true)
	if err != nil {
		t.Fatal(err)
	}
	f, err := o.OpenFile(out.Temp(), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("abc")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("z"), 5); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Seek(1, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(f); err != nil || string(b) != "bc\x00\x00z" || o.Size() != 6 {
		t.Errorf("%q %v, %d bytes", b, err, o.Size())
	}
	if err := f.Truncate(2); err != nil || o.Size() != 2 {
		t.Error(err, o.Size())
	}
	for name, err := range map[string]error{
		"write":  second(o.OpenFile(real, os.O_RDWR, 0)),
		"remove": o.Remove(real),
		"rename": o.Rename(real, real+"2"),
	} {
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := o.Mkdir(filepath.Join(dir, "a", "b"), 0o777); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := o.Mkdir(real, 0o777); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if list, err := o.ReadDir(dir); err != nil || len(list) != 2 { // and the staging folder
		t.Error(list, err)
	}
	if r, err := o.Open(real); err != nil {
		t.Error(err)
	} else {
		r.Close()
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Error(list, err)
	}
	if err := o.Rename(out.Temp(), filepath.Join(dir, "new")); err != nil || o.Size() != 2 {
		t.Error(err, o.Size())
	}
	if st, err := o.Stat(filepath.Join(dir, "new")); err != nil || st.Size() != 2 || st.IsDir() {
		t.Error(st, err)
	}
	if err := out.Abort(); err != nil {
		t.Error(err)
	}
	if list, err := o.ReadDir(dir); err != nil || len(list) != 2 {
		t.Error(list, err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestOverlayTruncate: files that are opened anew, with O_TRUNC, while others read, write and measure them are whole or
// empty at any moment. The race detector looks at the rest.
func TestOverlayTruncate(t *testing.T) {
	o := NewOverlay(nil)
	path := filepath.Join(t.TempDir(), "x")
	f, err := o.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	text := bytes.Repeat([]byte("x"), 3*overlayPage+5)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 200 {
				if _, err := o.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o666); err != nil {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			buf := make([]byte, len(text)+1)
			for range 200 {
				if _, err := f.WriteAt(text, 0); err != nil {
					t.Error(err)
				}
				if n, err := f.ReadAt(buf, 0); n != 0 && n != len(text) || err != io.EOF || !bytes.Equal(buf[:n], text[:n]) {
					t.Errorf("%d bytes, %v", n, err)
				}
				st, err := o.Stat(path)
				if err != nil {
					t.Error(err)
				} else if n := st.Size(); n != 0 && n != int64(len(text)) || o.Size() > int64(len(text)) {
					t.Errorf("%d bytes", n)
				}
			}
		})
	}
	all.Wait()
	if _, err := o.OpenFile(path, os.O_TRUNC|os.O_RDWR, 0o666); err != nil || o.Size() != 0 {
		t.Error(err, o.Size())
	}
}
