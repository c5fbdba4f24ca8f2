package faultio

import (
	"os"
	"sync/atomic"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A Counter is a file system that counts the bytes that its files read and write. It may
// be used from several goroutines.
type Counter struct {
	storage.FS
	Read, Written atomic.Int64
}

// Open opens a file for reading.
func (c *Counter) Open(name string) (storage.File, error) { return c.count(c.FS.Open(name)) }

// OpenFile opens a file as os.OpenFile does.
func (c *Counter) OpenFile(name string, flag int, perm os.FileMode) (storage.File, error) {
	return c.count(c.FS.OpenFile(name, flag, perm))
}

func (c *Counter) count(f storage.File, err error) (storage.File, error) {
	if err != nil {
		return nil, err
	}
	return &counted{f, c}, nil
}

type counted struct {
	storage.File
	c *Counter
}

// LockRange locks a range of the file.
func (f *counted) LockRange(off, n int64) error {
	return iox.LockRange(f.File, off, n)
}

func (f *counted) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.c.Read.Add(int64(n))
	return n, err
}

func (f *counted) ReadAt(p []byte, at int64) (int, error) {
	n, err := f.File.ReadAt(p, at)
	f.c.Read.Add(int64(n))
	return n, err
}

func (f *counted) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	f.c.Written.Add(int64(n))
	return n, err
}

func (f *counted) WriteAt(p []byte, at int64) (int, error) {
	n, err := f.File.WriteAt(p, at)
	f.c.Written.Add(int64(n))
	return n, err
}
