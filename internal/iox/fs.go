// Package iox is the small I/O that every format needs: the operating system
// as a storage.FS, reads that never trust a length, and outputs that appear
// under their final name only when they are whole.
//
// Everything here may be used from several goroutines as far as the underlying
// file allows it (ReadAt may, Write may not).
package iox

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/bagconv/bagconv/storage"
)

// OS is the operating system's file system.
var OS storage.FS = osFS{}

// FS returns fs, or OS when fs is nil.
func FS(fs storage.FS) storage.FS {
	if fs == nil {
		return OS
	}
	return fs
}

type osFS struct{}

func (osFS) Open(name string) (storage.File, error) { return file(os.Open(name)) }
func (osFS) OpenFile(name string, flag int, perm os.FileMode) (storage.File, error) {
	return file(os.OpenFile(name, flag, perm))
}
func (osFS) Stat(name string) (os.FileInfo, error)      { return os.Stat(name) }
func (osFS) ReadDir(name string) ([]os.DirEntry, error) { return os.ReadDir(name) }
func (osFS) Mkdir(name string, perm os.FileMode) error  { return os.Mkdir(name, perm) }
func (osFS) Rename(from, to string) error               { return os.Rename(from, to) }
func (osFS) Remove(name string) error                   { return os.Remove(name) }
func (osFS) RemoveAll(name string) error                { return os.RemoveAll(name) }

// file keeps a nil *os.File from becoming a non-nil interface.
func file(f *os.File, err error) (storage.File, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}

// ReadFull reads exactly len(p) bytes at off. A file that ends too early gives
// an error wrapping storage.ErrTruncated.
func ReadFull(r io.ReaderAt, p []byte, off int64) error {
	n, err := r.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return fmt.Errorf("%d of %d bytes: %w", n, len(p), storage.ErrTruncated)
	}
	return err
}
