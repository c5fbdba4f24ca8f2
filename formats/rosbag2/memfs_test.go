package rosbag2

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/bagconv/bagconv/storage"
)

// memFS holds files in memory, for the loops that break a file thousands of
// times. It is for reading, and for the temporary files of zstd parts.
type memFS map[string][]byte

type memFile struct {
	storage.File // nil: what is not below is not called
	*bytes.Reader
	fs   memFS
	name string
}

func (m memFS) Open(name string) (storage.File, error) {
	b, ok := m[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &memFile{Reader: bytes.NewReader(b), fs: m, name: name}, nil
}

// Unnamed is a file that is not among the others.
func (m memFS) Unnamed(string) (storage.File, error) { return &memTemp{}, nil }

// A memTemp is written from its start to its end, and read then.
type memTemp struct {
	storage.File
	b []byte
}

func (f *memTemp) Write(p []byte) (int, error) { f.b = append(f.b, p...); return len(p), nil }
func (f *memTemp) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(f.b).ReadAt(p, off)
}
func (f *memTemp) Stat() (os.FileInfo, error) { return memInfo{"", int64(len(f.b)), 0o600}, nil }
func (f *memTemp) Close() error               { return nil }

func (memFS) OpenFile(string, int, os.FileMode) (storage.File, error) {
	return nil, errors.ErrUnsupported
}

func (m memFS) Stat(name string) (os.FileInfo, error) {
	if b, ok := m[name]; ok {
		return memInfo{filepath.Base(name), int64(len(b)), 0o600}, nil
	}
	for n := range m {
		if filepath.Dir(n) == name {
			return memInfo{filepath.Base(name), 0, fs.ModeDir | 0o700}, nil
		}
	}
	return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
}

func (m memFS) ReadDir(dir string) (list []os.DirEntry, err error) {
	for n, b := range m {
		if filepath.Dir(n) == dir {
			list = append(list, fs.FileInfoToDirEntry(memInfo{filepath.Base(n), int64(len(b)), 0o600}))
		}
	}
	return list, nil
}

func (memFS) Remove(string) error                     { return errors.ErrUnsupported }
func (memFS) Mkdir(string, os.FileMode) error         { return errors.ErrUnsupported }
func (memFS) Rename(string, string) error             { return errors.ErrUnsupported }
func (memFS) RemoveAll(string) error                  { return errors.ErrUnsupported }
func (f *memFile) Read(p []byte) (int, error)         { return f.Reader.Read(p) }
func (f *memFile) Seek(o int64, w int) (int64, error) { return f.Reader.Seek(o, w) }
func (f *memFile) ReadAt(p []byte, o int64) (int, error) {
	return f.Reader.ReadAt(p, o)
}
func (f *memFile) Close() error               { return nil }
func (f *memFile) Name() string               { return f.name }
func (f *memFile) Stat() (os.FileInfo, error) { return f.fs.Stat(f.name) }

type memInfo struct {
	name string
	size int64
	mode fs.FileMode
}

func (i memInfo) Name() string      { return i.name }
func (i memInfo) Size() int64       { return i.size }
func (i memInfo) Mode() fs.FileMode { return i.mode }
func (memInfo) ModTime() time.Time  { return time.Time{} }
func (i memInfo) IsDir() bool       { return i.mode.IsDir() }
func (memInfo) Sys() any            { return nil }
