package stdio_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/stdio"
	"github.com/bagconv/bagconv/storage"
)

// TestIn: what arrives on a pipe, and a file, are read at any place, by several readers.
func TestIn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("0123456789"), 0o666); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, in := range []struct {
		r    io.Reader
		kept int64
	}{{strings.NewReader("0123456789"), 10}, {file, 0}} {
		fsys := stdio.New(iox.OS, io.Discard)
		if kept, err := fsys.Keep(in.r, t.TempDir(), 10); kept != in.kept || err != nil {
			t.Fatalf("%d bytes are kept, want %d: %v", kept, in.kept, err)
		}
		for range 2 {
			f, err := fsys.Open(stdio.In)
			if err != nil {
				t.Fatal(err)
			}
			all, err := io.ReadAll(f)
			if string(all) != "0123456789" || err != nil {
				t.Errorf("%q, %v", all, err)
			}
			part := make([]byte, 3)
			if n, err := f.ReadAt(part, 4); n != 3 || err != nil || string(part) != "456" {
				t.Errorf("%q, %v", part, err)
			}
			if _, err := f.WriteAt(part, 0); !errors.Is(err, storage.ErrUnsupported) {
				t.Errorf("it is written: %v", err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
		if st, err := fsys.Stat(stdio.In); err != nil || st.Size() != 10 || !st.Mode().IsRegular() {
			t.Errorf("%v, %v", st, err)
		}
		if err := fsys.Close(); err != nil {
			t.Error(err)
		}
	}
	fsys := stdio.New(iox.OS, io.Discard)
	if _, err := fsys.Keep(strings.NewReader("0123456789"), t.TempDir(), 9); !errors.Is(err, stdio.ErrTooLong) {
		t.Errorf("ten bytes where nine may be kept: %v", err)
	}
	if _, err := fsys.Open(stdio.In); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is open: %v", err)
	}
}

// output makes an output that goes to standard output.
func output(t *testing.T, fsys storage.FS) (*iox.Output, storage.File) {
	t.Helper()
	out, err := iox.NewOutput(fsys, stdio.Out, false, true)
	if err != nil {
		t.Fatal(err)
	}
	f, err := fsys.OpenFile(out.Temp(), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	return out, f
}

// TestOut: an output goes out as it grows, or whole; nothing of it is on the disk.
func TestOut(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, direct := range []bool{true, false} {
		var got bytes.Buffer
		fsys := stdio.New(iox.OS, &got)
		fsys.Direct(direct)
		out, f := output(t, iox.Metered(iox.Join(fsys, nil), &iox.Meter{}))
		for i, part := range []string{"one ", "two "} {
			if _, err := f.WriteAt([]byte(part), int64(4*i)); err != nil {
				t.Fatal(err)
			}
		}
		if sent := got.Len() > 0; sent != direct {
			t.Errorf("direct %v: %q is out", direct, got.String())
		}
		_, err := f.WriteAt([]byte("ONE"), 0)
		if back := !errors.Is(err, storage.ErrUnsupported); back == direct {
			t.Errorf("direct %v: going back: %v", direct, err)
		}
		if _, err := fsys.Stat(stdio.Out); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("it is there before its Commit: %v", err)
		}
		if err := errors.Join(f.Sync(), f.Close(), out.Commit()); err != nil {
			t.Fatal(err)
		}
		if st, err := fsys.Stat(stdio.Out); err != nil || st.Size() != 8 {
			t.Errorf("%v, %v", st, err)
		}
		want := "ONE two "
		if direct {
			want = "one two "
		}
		if got.String() != want {
			t.Errorf("direct %v: %q", direct, got.String())
		}
	}
	if left, err := os.ReadDir("."); len(left) > 0 || err != nil {
		t.Errorf("%v are on the disk, %v", left, err)
	}
}

// TestOutFails: an output that is given up, or is a folder, sends nothing more; an error of the receiver is returned.
func TestOutFails(t *testing.T) {
	var got bytes.Buffer
	fsys := stdio.New(iox.OS, &got)
	out, f := output(t, fsys)
	if _, err := f.Write([]byte("some")); err != nil {
		t.Fatal(err)
	}
	if err := out.Abort(); err != nil || got.Len() > 0 {
		t.Errorf("%q, %v", got.String(), err)
	}
	folder, err := iox.NewOutput(fsys, stdio.Out, false, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := fsys.Mkdir(folder.Temp(), 0o777); !errors.Is(err, storage.ErrUnsupported) {
		t.Errorf("a folder: %v", err)
	}
	broken := stdio.New(iox.OS, failing{})
	for _, direct := range []bool{true, false} {
		broken.Direct(direct)
		out, f := output(t, broken)
		_, err := f.Write([]byte("some"))
		if err == nil {
			err = out.Commit()
		}
		if !errors.Is(err, errClosed) {
			t.Errorf("direct %v: %v", direct, err)
		}
	}
}

var errClosed = errors.New("nobody reads")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errClosed }
