// Package faultio makes disks fail, for tests: a storage.FS over another that
// counts operations and lets one of them fail.
//
// An operation is an open, read, write, sync, truncate, close, rename, mkdir or
// remove. The N-th one fails, once, as the Fault says; all others go through.
// Everything may be used from several goroutines.
package faultio

import (
	"errors"
	"os"
	"sync/atomic"

	"github.com/bagconv/bagconv/storage"
)

// ErrFault is the error of an operation that was made to fail.
var ErrFault = errors.New("faultio: the disk is on fire")

// A Fault is the way in which an operation fails.
type Fault uint8

// The faults. Short moves half of the bytes before it fails; operations that
// move none fail as with Error.
const (
	Error Fault = iota
	Short
)

// FS is a file system whose operation number N fails. N counts from 1; 0 is none.
type FS struct {
	storage.FS
	N     int64
	Fault Fault

	count atomic.Int64
	fired atomic.Bool
}

// Count is the number of operations so far.
func (f *FS) Count() int64 { return f.count.Load() }

// Fired tells whether the fault has happened.
func (f *FS) Fired() bool { return f.fired.Load() }

// step counts an operation and tells whether it fails.
func (f *FS) step() bool {
	if f.count.Add(1) != f.N {
		return false
	}
	f.fired.Store(true)
	return true
}

func (f *FS) path(op, name string) error { return &os.PathError{Op: op, Path: name, Err: ErrFault} }

// Open opens a file for reading.
func (f *FS) Open(name string) (storage.File, error) {
	return f.OpenFile(name, os.O_RDONLY, 0)
}

// OpenFile opens a file.
func (f *FS) OpenFile(name string, flag int, perm os.FileMode) (storage.File, error) {
	if f.step() {
		return nil, f.path("open", name)
	}
	file, err := f.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &faulty{file, f}, nil
}

// Stat returns a file's description.
func (f *FS) Stat(name string) (os.FileInfo, error) {
	if f.step() {
		return nil, f.path("stat", name)
	}
	return f.FS.Stat(name)
}

// ReadDir lists a folder.
func (f *FS) ReadDir(name string) ([]os.DirEntry, error) {
	if f.step() {
		return nil, f.path("readdir", name)
	}
	return f.FS.ReadDir(name)
}

// Mkdir makes a folder.
func (f *FS) Mkdir(name string, perm os.FileMode) error {
	if f.step() {
		return f.path("mkdir", name)
	}
	return f.FS.Mkdir(name, perm)
}

// Rename moves a file or folder.
func (f *FS) Rename(from, to string) error {
	if f.step() {
		return f.path("rename", from)
	}
	return f.FS.Rename(from, to)
}

// Remove and RemoveAll never fail: tests look at what is left when cleaning up
// works.

type faulty struct {
	storage.File
	fs *FS
}

// move runs a read or write, or half of one and the error.
func (f *faulty) move(p []byte, do func([]byte) (int, error)) (int, error) {
	if !f.fs.step() {
		return do(p)
	}
	n := 0
	if f.fs.Fault == Short {
		n, _ = do(p[:len(p)/2])
	}
	return n, ErrFault
}

func (f *faulty) Read(p []byte) (int, error)  { return f.move(p, f.File.Read) }
func (f *faulty) Write(p []byte) (int, error) { return f.move(p, f.File.Write) }

func (f *faulty) ReadAt(p []byte, off int64) (int, error) {
	return f.move(p, func(p []byte) (int, error) { return f.File.ReadAt(p, off) })
}

func (f *faulty) WriteAt(p []byte, off int64) (int, error) {
	return f.move(p, func(p []byte) (int, error) { return f.File.WriteAt(p, off) })
}

func (f *faulty) Sync() error {
	if f.fs.step() {
		return ErrFault
	}
	return f.File.Sync()
}

func (f *faulty) Truncate(size int64) error {
	if f.fs.step() {
		return ErrFault
	}
	return f.File.Truncate(size)
}

func (f *faulty) Close() error {
	fail := f.fs.step()
	if err := f.File.Close(); err != nil || !fail {
		return err
	}
	return ErrFault
}
