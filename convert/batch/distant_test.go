package batch

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A bucket is a store in a folder.
type bucket struct {
	storage.FS
	dir    string
	unseen string // a name that Stat does not find
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
	if name == b.unseen {
		return nil, fs.ErrNotExist
	}
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

// TestDistant: a manifest on a store has what one on the disk has; while a batch runs, another one is
// refused; a batch that was killed leaves its claims and what it has written until then.
func TestDistant(t *testing.T) {
	defer func(every, long time.Duration) { aliveEvery, aliveFor = every, long }(aliveEvery, aliveFor)
	aliveEvery, aliveFor = 5*time.Millisecond, time.Minute
	b := newBucket(t)
	fsys := iox.Join(nil, b)
	const path = "s3:/b/m.jsonl"
	text := written(t, filepath.Join(t.TempDir(), "m.jsonl"), entry("/a", StatusOK), entry("s3:/b/in", StatusFailed))
	m, err := Open(fsys, path, false, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(fsys, path, true, true); !errors.Is(err, ErrRunning) {
		t.Errorf("another batch: %v", err)
	}
	b.unseen = path + ".alive" // which another batch writes right after this one has looked
	if _, err := Open(fsys, path, true, true); !errors.Is(err, ErrRunning) || errors.Is(err, fs.ErrExist) {
		t.Errorf("another batch at the same time: %v", err)
	}
	b.unseen = ""
	if err := m.Begin([]string{"s3:/b/o/1", "/o/2"}, nil); err != nil {
		t.Fatal(err)
	}
	if err := m.Append(entry("/a", StatusOK)); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if _, err := b.Stat(path); err == nil {
			break // it is written while the batch runs
		}
	}
	killed := map[string][]byte{}
	for _, name := range b.names(t) {
		killed[name], _ = os.ReadFile(filepath.Join(b.dir, "b", name))
	}
	if err := errors.Join(m.Append(entry("s3:/b/in", StatusFailed)), m.Close()); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(b.at(path)); !bytes.Equal(got, text) || !bytes.Contains(got, []byte(`"input":"s3://b/in"`)) {
		t.Errorf("it is %s\nwant %s", got, text)
	}
	if names := b.names(t); !slices.Equal(names, []string{"m.jsonl"}) {
		t.Errorf("left are %q", names)
	}
	if _, err := Open(fsys, path, false, false); !errors.Is(err, fs.ErrExist) {
		t.Errorf("without resume: %v", err)
	}

	for name, text := range killed { // as if it had been killed
		write(t, filepath.Join(b.dir, "b", name), string(text))
	}
	if _, err := Open(fsys, path, true, false); !errors.Is(err, ErrRunning) || !strings.Contains(err.Error(), "if it was killed, try again in ") {
		t.Errorf("right after the kill: %v", err)
	}
	long := time.Now().Add(-2 * aliveFor)
	if err := os.Chtimes(b.at(path+".alive"), long, long); err != nil {
		t.Fatal(err)
	}
	if m, err = Open(fsys, path, true, false); err != nil {
		t.Fatal(err)
	}
	if e := m.Entries(); len(e) != 1 || e[0].Input != "/a" || !m.Claimed("s3:/b/o/1") || !m.Claimed("/o/2") {
		t.Errorf("after the kill: %+v", e)
	}
	if err := errors.Join(m.Begin([]string{"s3:/b/o/1"}, map[string]bool{"/a": true}), m.Append(entry("s3:/b/in", StatusOK)), m.Close()); err != nil {
		t.Fatal(err)
	}
	if m, err = Read(fsys, path, true, false); err != nil || len(m.Entries()) != 1 || m.Entries()[0].Input != "s3:/b/in" || !m.Claimed("/o/2") || m.Claimed("s3:/b/o/1") {
		t.Errorf("in the end: %v, %+v", err, m)
	}
	if names := b.names(t); !slices.Equal(names, []string{"m.jsonl", "m.jsonl.running"}) {
		t.Errorf("left are %q: the claim of /o/2, which this batch had nothing to do with, stays", names)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
