package ulog

import (
	"bytes"
	"os"

	"github.com/bagconv/bagconv/storage"
)

// A memFS is one file in memory, for reading.
type memFS struct {
	storage.FS
	b []byte
}

type memFile struct {
	storage.File
	b []byte
}

type memInfo struct {
	os.FileInfo
	size int64
}

func memory(b []byte) storage.FS { return memFS{b: b} }

func (m memFS) Open(string) (storage.File, error)         { return memFile{b: m.b}, nil }
func (f memFile) Stat() (os.FileInfo, error)              { return memInfo{size: int64(len(f.b))}, nil }
func (memFile) Close() error                              { return nil }
func (i memInfo) Size() int64                             { return i.size }
func (f memFile) ReadAt(p []byte, off int64) (int, error) { return bytes.NewReader(f.b).ReadAt(p, off) }
