package storagetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/testing/faultio"
	"github.com/bagconv/bagconv/storage"
)

// sourceUntouched: reading changes nothing in or beside the source.
func (c *Config) sourceUntouched(t *testing.T) {
	path, _ := c.recording(t, storage.WriteOptions{}, c.small())
	dir := filepath.Dir(path)
	before := digest(t, dir)
	r := c.open(t, path, storage.ReadOptions{})
	if _, err := ReadAll(r); err != nil {
		t.Fatal(err)
	}
	if digest(t, dir) != before {
		t.Error("the source's folder changes while it is read")
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if digest(t, dir) != before {
		t.Error("the source's folder has changed")
	}
}

// otherFS: a recording is detected and read through the file system that it is in.
func (c *Config) otherFS(t *testing.T) {
	path, want := c.recording(t, storage.WriteOptions{NoSync: true}, c.small())
	dir := filepath.Dir(path)
	formats := storage.NewRegistry(c.Format)
	r, err := formats.Open(context.Background(), filepath.Join(nowhere, c.Name),
		storage.ReadOptions{FS: movedFS{iox.OS, dir}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, err := ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want.Messages) {
		t.Errorf("%d messages, want %d", len(got), len(want.Messages))
	}
}

// nowhere is a folder that only a movedFS has.
var nowhere = filepath.FromSlash("/storagetest/nowhere")

// A movedFS has what is in dir under the name nowhere, to be read.
type movedFS struct {
	storage.FS
	dir string
}

func (m movedFS) path(name string) string {
	if rest, ok := strings.CutPrefix(name, nowhere); ok {
		return m.dir + rest
	}
	return name
}

func (m movedFS) Open(name string) (storage.File, error) { return m.FS.Open(m.path(name)) }
func (m movedFS) OpenFile(name string, flag int, perm os.FileMode) (storage.File, error) {
	return m.FS.OpenFile(m.path(name), flag, perm)
}
func (m movedFS) Stat(name string) (os.FileInfo, error)      { return m.FS.Stat(m.path(name)) }
func (m movedFS) ReadDir(name string) ([]os.DirEntry, error) { return m.FS.ReadDir(m.path(name)) }

// cancelled: a context that has ended ends the reading.
func (c *Config) cancelled(t *testing.T) {
	path, _ := c.recording(t, storage.WriteOptions{NoSync: true}, c.small())
	r := c.open(t, path, storage.ReadOptions{})
	defer r.Close()
	b := storage.ReaderCapabilities(r).Blocks
	if b == nil {
		t.Skip("the format has no blocks")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var batch storage.Batch
	if err := b.ReadBlock(ctx, 0, &batch); !errors.Is(err, context.Canceled) {
		t.Errorf("ReadBlock with a cancelled context: %v", err)
	}
}

// writeFaults lets each operation of a writer fail in turn.
func (c *Config) writeFaults(t *testing.T) {
	if !c.FaultFS {
		t.Skip(c.NoFaultFS)
	}
	want := c.withExtras(t, c.Generate(16, Spec{Topics: 2, Messages: 60, MaxSize: 2000, Step: 1000}))
	for _, fault := range []faultio.Fault{faultio.Error, faultio.Short} {
		for n := int64(1); ; n++ {
			dir := t.TempDir()
			path := filepath.Join(dir, c.Name)
			disk := &faultio.FS{FS: iox.OS, N: n, Fault: fault}
			err := WriteAll(c.Format, path, storage.WriteOptions{FS: disk, ChunkSize: 20 << 10}, want)
			if !disk.Fired() {
				if err != nil || n < 5 {
					t.Errorf("after %d operations: %v", n, err)
				}
				c.check(t, path, want)
				break
			}
			if err == nil {
				// The fault hit something that does not matter; then all must be there.
				c.check(t, path, want)
				continue
			}
			if !errors.Is(err, faultio.ErrFault) {
				t.Errorf("operation %d: the error hides its cause: %v", n, err)
			}
			c.nothingLeft(t, dir)
			if n > 10_000 {
				t.Fatal("the operations have no end")
			}
		}
	}
}

// readFaults lets each operation of a reader fail in turn: an error or, if
// the format salvages, no wrong message.
func (c *Config) readFaults(t *testing.T) {
	path, want := c.recording(t, storage.WriteOptions{ChunkSize: 20 << 10},
		c.withExtras(t, c.Generate(17, Spec{Topics: 2, Messages: 60, MaxSize: 2000, Step: 1000})))
	for n := int64(1); ; n++ {
		disk := &faultio.FS{FS: iox.OS, N: n}
		var got []storage.Message
		var attachments []Attachment
		var records []MetadataRecord
		r, err := c.Format.Open(context.Background(), path, storage.ReadOptions{FS: disk})
		if err == nil {
			got, err = ReadAll(r)
			if err != nil {
				if _, again := r.ReadNext(); !errors.Is(again, err) && again.Error() != err.Error() {
					t.Errorf("operation %d: %v, and then %v", n, err, again)
				}
			}
			if err == nil {
				attachments, records, err = ReadExtras(r)
			}
			if closeErr := r.Close(); err == nil {
				err = closeErr
			}
		}
		if !disk.Fired() {
			if err != nil || n < 3 {
				t.Errorf("after %d operations: %v", n, err)
			}
			return
		}
		if err == nil && (Diff(got, want.Messages) != "" || len(attachments) != len(want.Attachments) ||
			len(records) != len(want.Records)) {
			t.Errorf("operation %d fails, and messages or attachments are missing without an error", n)
		}
		if err != nil && !errors.Is(err, faultio.ErrFault) {
			t.Errorf("operation %d: the error hides its cause: %v", n, err)
		}
	}
}
