package cyber

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// A memFS is one file in memory, for reading.
type memFS struct {
	storage.FS
	b []byte
}

func (m memFS) Open(string) (storage.File, error)         { return memFile{b: m.b}, nil }
func (m memFS) Stat(string) (os.FileInfo, error)          { return memInfo{size: int64(len(m.b))}, nil }
func (m memFS) ReadDir(string) ([]os.DirEntry, error)     { return nil, os.ErrNotExist }
func (f memFile) Stat() (os.FileInfo, error)              { return memInfo{size: int64(len(f.b))}, nil }
func (memFile) Close() error                              { return nil }
func (i memInfo) Size() int64                             { return i.size }
func (i memInfo) IsDir() bool                             { return false }
func (f memFile) ReadAt(p []byte, off int64) (int, error) { return bytes.NewReader(f.b).ReadAt(p, off) }

type memFile struct {
	storage.File
	b []byte
}

type memInfo struct {
	os.FileInfo
	size int64
}

// openBytes opens a record in memory and reads all of it: by blocks in order,
// by blocks at once, and by ReadNext, which must agree.
func openBytes(t testing.TB, b []byte, o storage.ReadOptions) ([]storage.Message, *storage.Info, error) {
	t.Helper()
	o.FS = memFS{b: b}
	r, err := openReader(context.Background(), "x.record", o)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	before := storagetest.InfoOf(r)
	var msgs []storage.Message
	for {
		m, err := r.ReadNext()
		if err == io.EOF {
			break
		}
		if err != nil {
			if !o.Strict {
				t.Fatal(err)
			}
			return msgs, nil, err
		}
		if int(m.Topic) >= len(before.Topics) {
			t.Fatalf("message of topic %d, there are %d", m.Topic, len(before.Topics))
		}
		c := *m
		c.Data = bytes.Clone(m.Data)
		msgs = append(msgs, c)
	}
	blocks, err := storagetest.ReadBlocks(r.(storage.BlockReader), 3)
	if err != nil {
		t.Fatal(err)
	}
	if d := storagetest.Diff(blocks, msgs); d != "" {
		t.Fatalf("blocks and ReadNext: %s", d)
	}
	after := storagetest.InfoOf(r)
	if len(after.Topics) != len(before.Topics) {
		t.Fatal("topics have changed by reading")
	}
	return msgs, after, nil
}

func damaged(i *storage.Info) bool {
	for _, w := range i.Warnings {
		if w.Damage {
			return true
		}
	}
	return false
}

func codes(i *storage.Info) map[string]bool {
	m := map[string]bool{}
	for _, w := range i.Warnings {
		m[w.Code] = true
	}
	return m
}

// isOurs reports whether an error is of the kind that Open may return for a file.
func isOurs(err error) bool {
	return errors.Is(err, storage.ErrCorrupt) || errors.Is(err, storage.ErrTruncated) ||
		errors.Is(err, storage.ErrUnsupported)
}
