package batch

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A bucket is a store in a folder.
type bucket struct {
	storage.FS
	dir string
}

func (b *bucket) at(name string) string {
	return filepath.Join(b.dir, strings.TrimPrefix(filepath.ToSlash(name), "s3:/"))
}

func (b *bucket) Open(name string) (storage.File, error) { return iox.OS.Open(b.at(name)) }
func (b *bucket) OpenFile(name string, flag int, perm os.FileMode) (storage.File, error) {
	f, err := os.CreateTemp(b.dir, "")
	return &object{File: f, to: b.at(name), exclusive: flag&os.O_EXCL != 0}, err
}
func (b *bucket) ReadDir(name string) ([]os.DirEntry, error) { return os.ReadDir(b.at(name)) }
func (b *bucket) Remove(name string) error                   { return os.Remove(b.at(name)) }
func (b *bucket) RemoveAll(name string) error                { return os.RemoveAll(b.at(name)) }
func (b *bucket) Rename(from, to string) error               { return os.Rename(b.at(from), b.at(to)) }
func (b *bucket) Mkdir(name string, _ os.FileMode) error     { return os.MkdirAll(b.at(name), 0o777) }

func (b *bucket) Stat(name string) (os.FileInfo, error) {
	return os.Stat(b.at(name))
}

// An object appears whole, when it is closed.
type object struct {
	*os.File
	to        string
	exclusive bool
}

func (o *object) Close() error {
	if err := o.File.Close(); err != nil {
		return err
	}
	if !o.exclusive {
		return os.Rename(o.Name(), o.to)
	}
	return errors.Join(os.Link(o.Name(), o.to), os.Remove(o.Name()))
}

func newBucket(t *testing.T) *bucket {
	b := &bucket{dir: t.TempDir()}
	if err := os.Mkdir(filepath.Join(b.dir, "b"), 0o777); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bucket) names(t *testing.T) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(b.dir, "b"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestDistant: a manifest on a store has what one on the disk has. It is written at the end, as a whole, with the lines
// of earlier runs; until then no line is safe.
func TestDistant(t *testing.T) {
	b := newBucket(t)
	fsys := iox.Join(nil, b)
	const path = "s3:/b/m.jsonl"
	run := func(want []byte, entries ...*Entry) {
		t.Helper()
		m, err := Open(fsys, path, true, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Begin(); err != nil {
			t.Fatal(err)
		}
		var safe atomic.Int32
		for _, e := range entries {
			if err := m.Append(e, func() { safe.Add(1) }); err != nil {
				t.Fatal(err)
			}
		}
		if n := safe.Load(); n != 0 {
			t.Errorf("%d lines are safe too early", n)
		}
		if err := m.Close(); err != nil || int(safe.Load()) != len(entries) {
			t.Errorf("%v, %d lines are safe", err, safe.Load())
		}
		if got, _ := os.ReadFile(b.at(path)); !bytes.Equal(got, want) {
			t.Errorf("it is %s\nwant %s", got, want)
		}
		if names := b.names(t); !slices.Equal(names, []string{"m.jsonl"}) {
			t.Errorf("there are %q", names)
		}
	}
	entries := []*Entry{entry("/a", StatusOK), entry("s3:/b/in", StatusFailed)}
	text := written(t, filepath.Join(t.TempDir(), "m.jsonl"), entries...)
	if !bytes.Contains(text, []byte(`"input":"s3://b/in"`)) {
		t.Fatalf("%s", text)
	}
	run(text, entries...)
	run(text)
	run(appendLine(bytes.SplitAfter(text, []byte("\n"))[0], entry("s3:/b/in", StatusOK)), entry("s3:/b/in", StatusOK))
	if _, err := Open(fsys, path, false, false); !errors.Is(err, fs.ErrExist) {
		t.Errorf("without resume: %v", err)
	}
}
