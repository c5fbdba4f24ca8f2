package storagetest

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/internal/faultio"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// sourceUntouched: reading changes nothing in or beside the source.
func (c *Config) sourceUntouched(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, c.Name)
	if err := WriteAll(c.Format, path, storage.WriteOptions{}, c.small()); err != nil {
		t.Fatal(err)
	}
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

// cancelled: a context that has ended ends the reading.
func (c *Config) cancelled(t *testing.T) {
	path := filepath.Join(t.TempDir(), c.Name)
	if err := WriteAll(c.Format, path, storage.WriteOptions{NoSync: true}, c.small()); err != nil {
		t.Fatal(err)
	}
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
	want := c.Generate(16, Spec{Topics: 2, Messages: 60, MaxSize: 2000, Step: 1000})
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

// readFaults lets each operation of a reader fail in turn: an error or, where
// the format salvages, no wrong message.
func (c *Config) readFaults(t *testing.T) {
	path := filepath.Join(t.TempDir(), c.Name)
	want := c.Generate(17, Spec{Topics: 2, Messages: 60, MaxSize: 2000, Step: 1000})
	if err := WriteAll(c.Format, path, storage.WriteOptions{ChunkSize: 20 << 10}, want); err != nil {
		t.Fatal(err)
	}
	for n := int64(1); ; n++ {
		disk := &faultio.FS{FS: iox.OS, N: n}
		var got []storage.Message
		r, err := c.Format.Open(context.Background(), path, storage.ReadOptions{FS: disk})
		if err == nil {
			got, err = ReadAll(r)
			if err != nil {
				if _, again := r.ReadNext(); !errors.Is(again, err) && again.Error() != err.Error() {
					t.Errorf("operation %d: %v, and then %v", n, err, again)
				}
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
		if err == nil && Diff(got, want.Messages) != "" {
			t.Errorf("operation %d fails, and messages are missing without an error", n)
		}
		if err != nil && !errors.Is(err, faultio.ErrFault) {
			t.Errorf("operation %d: the error hides its cause: %v", n, err)
		}
	}
}
