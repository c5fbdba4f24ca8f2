package mcap

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// A memFS is one file in memory, for reading.
type memFS struct {
	storage.FS
	b []byte
}

func (m memFS) Open(string) (storage.File, error) { return memFile{b: m.b}, nil }

// Stat: nothing lies beside the file.
func (m memFS) Stat(string) (os.FileInfo, error) { return nil, fs.ErrNotExist }

type memFile struct {
	storage.File
	b []byte
}

func (f memFile) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off >= int64(len(f.b)) {
		return 0, io.EOF
	}
	n := copy(p, f.b[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f memFile) Stat() (os.FileInfo, error) { return memInfo{size: int64(len(f.b))}, nil }
func (memFile) Close() error                 { return nil }

type memInfo struct {
	os.FileInfo
	size int64
}

func (i memInfo) Size() int64 { return i.size }

// openBytes opens a file in memory and reads all of it, block by block and by
// ReadNext, which must agree.
func openBytes(t testing.TB, b []byte, o storage.ReadOptions) ([]storage.Message, *storage.Info, *reader, error) {
	t.Helper()
	o.FS = memFS{b: b}
	sr, err := openReader(context.Background(), "x.mcap", o)
	if err != nil {
		return nil, nil, nil, err
	}
	r := sr.(*reader)
	before := storagetest.InfoOf(r)
	var messages, next []storage.Message
	var batch storage.Batch
	blocks, _, _ := r.Blocks(context.Background(), nil)
	for i := range blocks {
		if err := r.ReadBlock(context.Background(), i, &batch); err != nil {
			if !o.Strict {
				t.Fatal(err)
			}
			return messages, nil, r, err
		}
		for _, m := range batch.Messages {
			if int(m.Topic) >= len(before.Topics) {
				t.Fatalf("message of topic %d, there are %d", m.Topic, len(before.Topics))
			}
			m.Data = bytes.Clone(m.Data)
			messages = append(messages, m)
		}
	}
	for {
		m, err := r.ReadNext()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		x := *m
		x.Data = bytes.Clone(m.Data)
		next = append(next, x)
	}
	equalMessages(t, next, messages)
	after := storagetest.InfoOf(r)
	if len(after.Topics) != len(before.Topics) {
		t.Fatal("topics have changed by reading")
	}
	return messages, after, r, r.Close()
}

func equalMessages(t testing.TB, got, want []storage.Message) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d messages, want %d", len(got), len(want))
	}
	for i := range got {
		g, w := &got[i], &want[i]
		if g.Topic != w.Topic || g.LogTime != w.LogTime || g.PublishTime != w.PublishTime || g.Sequence != w.Sequence ||
			!bytes.Equal(g.Data, w.Data) {
			t.Fatalf("message %d is %+v, want %+v", i, *g, *w)
		}
	}
}

func damaged(info *storage.Info) bool {
	return slices.ContainsFunc(info.Warnings, func(w storage.Warning) bool { return w.Damage })
}
