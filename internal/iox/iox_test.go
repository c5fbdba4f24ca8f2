package iox

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func list(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestMeter: every way of reading and writing a file is counted, once, for its user and in all.
func TestMeter(t *testing.T) {
	all := &Meter{}
	m, other := all.Part(), all.Part()
	path := filepath.Join(t.TempDir(), "x")
	f, err := Metered(ReadBack(nil), m).OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, err1 := f.Write(make([]byte, 300_000))
	_, err2 := f.WriteAt(make([]byte, 300_000), 10)
	_, err3 := io.Copy(f, strings.NewReader("12345"))
	if got, want := m.Counts(), (Counts{Written: 600_005}); errors.Join(err1, err2, err3) != nil || got != want {
		t.Errorf("written: %+v, want %+v", got, want)
	}
	_, err1 = f.Seek(0, io.SeekStart)
	_, err2 = io.ReadFull(f, make([]byte, 100))
	_, err3 = io.Copy(io.Discard, f)
	size := m.Counts().Read
	_, err4 := f.ReadAt(make([]byte, 7), 3)
	if got, want := m.Counts(), (Counts{Read: size + 7, Written: 600_005}); errors.Join(err1, err2, err3, err4) != nil ||
		got != want || size != 300_010 {
		t.Errorf("read: %+v, want %+v", got, want)
	}
	g, err := Metered(nil, other).Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if _, err := g.Read(make([]byte, 11)); err != nil || other.Counts() != (Counts{Read: 11}) || all.Counts().Read !=
		size+7+11 {
		t.Errorf("another user: %+v, all: %+v, %v", other.Counts(), all.Counts(), err)
	}
	if h, err := OS.Open(path); err != nil || h.Close() != nil { // without a Meter
		t.Error(err)
	}
}

func TestOutputFile(t *testing.T) {
	for _, sync := range []bool{false, true} {
		dir := t.TempDir()
		path := filepath.Join(dir, "x.bag")
		o, err := NewOutput(nil, path, false, sync)
		if err != nil {
			t.Fatal(err)
		}
		write(t, o.Temp(), "one")
		if FinalPath(o.Temp()) != path || o.Final() != path {
			t.Errorf("%s for %s", o.Temp(), o.Final())
		}
		if err := errors.Join(o.Commit(), o.Commit(), o.Abort()); err != nil {
			t.Fatal(err)
		}
		if got := list(t, dir); len(got) != 1 || got[0] != "x.bag" {
			t.Errorf("%v", got)
		}
		if _, err := NewOutput(nil, path, false, sync); !errors.Is(err, fs.ErrExist) {
			t.Errorf("existing: %v", err)
		}
		o, err = NewOutput(nil, path, true, sync)
		if err != nil {
			t.Fatal(err)
		}
		write(t, o.Temp(), "two")
		if err := o.Commit(); err != nil {
			t.Fatal(err)
		}
		if b, _ := os.ReadFile(path); string(b) != "two" || len(list(t, dir)) != 1 {
			t.Errorf("%q, %v", b, list(t, dir))
		}
	}
}

// TestOutputFolder: a folder is replaced as a whole, a file by a folder too.
func TestOutputFolder(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	for i, text := range []string{"one", "two"} {
		o, err := NewOutput(nil, path+"/", i > 0, true)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(o.Temp(), 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(o.Temp(), "f"), text)
		if err := o.Commit(); err != nil {
			t.Fatal(err)
		}
		if b, _ := os.ReadFile(filepath.Join(path, "f")); string(b) != text || len(list(t, dir)) != 1 {
			t.Errorf("%q, %v", b, list(t, dir))
		}
	}
}

// TestLateRival: something that appears under the name while we write is not
// overwritten, and our output goes away.
func TestLateRival(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	o, err := NewOutput(nil, path, false, false)
	if err != nil {
		t.Fatal(err)
	}
	write(t, o.Temp(), "ours")
	write(t, path, "theirs")
	if err := o.Commit(); !errors.Is(err, fs.ErrExist) {
		t.Errorf("%v", err)
	}
	if b, _ := os.ReadFile(path); string(b) != "theirs" || len(list(t, dir)) != 1 {
		t.Errorf("%q, %v", b, list(t, dir))
	}
}

func TestReadFull(t *testing.T) {
	r := strings.NewReader("hello")
	p := make([]byte, 4)
	if err := ReadFull(r, p, 1); err != nil || string(p) != "ello" {
		t.Errorf("%q %v", p, err)
	}
	if err := ReadFull(r, p, 2); !errors.Is(err, storage.ErrTruncated) {
		t.Errorf("%v", err)
	}
}

// A write in pieces is the write of all, wherever it begins.
func TestWritePieces(t *testing.T) {
	f, err := OS.OpenFile(filepath.Join(t.TempDir(), "x"), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data := make([]byte, 3*writePiece+5)
	for i := range data {
		data[i] = byte(i * 7 / 5)
	}
	for _, off := range []int64{0, 1, writePiece - 1, writePiece, writePiece + 1, 10*writePiece - 3} {
		for _, n := range []int{0, 1, writePiece - 1, writePiece, writePiece + 1, 2*writePiece + 3, len(data)} {
			if err := f.Truncate(0); err != nil {
				t.Fatal(err)
			}
			if k, err := f.WriteAt(data[:n], off); k != n || err != nil {
				t.Fatalf("%d bytes at %d: %d, %v", n, off, k, err)
			}
			got := make([]byte, n)
			if err := ReadFull(f, got, off); err != nil || !bytes.Equal(got, data[:n]) {
				t.Errorf("%d bytes at %d are others, %v", n, off, err)
			}
		}
	}
	if n, err := f.WriteAt(data[:3], -1); n != 0 || err == nil {
		t.Errorf("before the start: %d, %v", n, err)
	}
}
