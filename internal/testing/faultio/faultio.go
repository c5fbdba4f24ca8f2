// Package faultio makes disks fail, for tests: a storage.FS over another that
// counts operations and lets one of them fail.
//
// An operation is an open, read, write, sync, truncate, lock, close, rename, mkdir or
// listing, and with Death or Kill a remove. The N-th one fails as the Fault has it;
// all others go through, except operations after a Death. Everything may be used from
// several goroutines.
package faultio

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// ErrFault is the error of an operation that was made to fail.
var ErrFault = errors.New("faultio: the disk is on fire")

// A Fault is the way in which an operation fails.
type Fault uint8

// The faults. Error fails once. Short moves half of the bytes before it fails;
// operations that move none fail as with Error. Death is what a process that is killed
// sees of its disk: the N-th operation and all after it do nothing and fail, and all
// files are closed, with their locks. Kill ends this process without any warning.
const (
	Error Fault = iota
	Short
	Death
	Kill
)

// FS is a file system whose operation number N fails. N counts from 1; 0: none fails.
type FS struct {
	storage.FS
	N     int64
	Fault Fault

	// Plain takes away what not every system has: names that are exchanged, names that
	// must be free, files without a name.
	Plain bool

	// NoSync counts syncs and does not do them, which is faster.
	NoSync bool

	count atomic.Int64
	fired atomic.Bool

	mu   sync.Mutex
	open map[*faulty]bool // with Death
}

// Count returns the number of operations so far.
func (f *FS) Count() int64 { return f.count.Load() }

// Fired reports whether the fault has happened.
func (f *FS) Fired() bool { return f.fired.Load() }

// step counts an operation and reports whether it fails.
func (f *FS) step() bool {
	switch n := f.count.Add(1); {
	case f.N == 0 || n < f.N || n > f.N && f.Fault != Death:
		return false
	case n == f.N && f.Fault == Kill:
		kill()
	}
	if !f.fired.Swap(true) && f.Fault == Death {
		f.closeAll()
	}
	return true
}

// kill ends the process as SIGKILL does.
func kill() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Kill()
	}
	select {}
}

// closeAll closes the files of a process that has died.
func (f *FS) closeAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for file := range f.open {
		_ = file.File.Close()
	}
	f.open = nil
}

// keep keeps a file for closeAll.
func (f *FS) keep(file storage.File) storage.File {
	out := &faulty{file, f}
	if f.Fault == Death {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.Fired() { // died meanwhile
			_ = file.Close()
		}
		if f.open == nil {
			f.open = map[*faulty]bool{}
		}
		f.open[out] = true
	}
	return out
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
	return f.keep(file), nil
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

// Exchange swaps two names.
func (f *FS) Exchange(a, b string) error {
	if f.Plain {
		return errors.ErrUnsupported
	}
	if f.step() {
		return f.path("exchange", a)
	}
	return iox.Exchange(f.FS, a, b)
}

// RenameNew moves a file or folder to a name that must be free.
func (f *FS) RenameNew(from, to string) error {
	if f.Plain {
		return errors.ErrUnsupported
	}
	if f.step() {
		return f.path("rename", from)
	}
	return iox.RenameNew(f.FS, from, to)
}

// Unnamed makes a file without a name.
func (f *FS) Unnamed(dir string) (storage.File, error) {
	if f.Plain {
		return nil, errors.ErrUnsupported
	}
	if f.step() {
		return nil, f.path("open", dir)
	}
	file, err := iox.TempFile(f.FS, dir)
	if err != nil {
		return nil, err
	}
	return f.keep(file), nil
}

// Remove removes a name. It fails with Death only, as RemoveAll does: other tests look
// at what is left when cleaning up works.
func (f *FS) Remove(name string) error {
	if f.Fault >= Death && f.step() {
		return f.path("remove", name)
	}
	return f.FS.Remove(name)
}

// RemoveAll removes a file or folder. A process that dies meanwhile has removed one name in it.
func (f *FS) RemoveAll(name string) error {
	before := f.Fired()
	if f.Fault >= Death && f.step() {
		if entries, err := f.FS.ReadDir(name); err == nil && len(entries) > 0 && !before {
			_ = f.FS.RemoveAll(filepath.Join(name, entries[0].Name()))
		}
		return f.path("remove", name)
	}
	return f.FS.RemoveAll(name)
}

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
	if f.fs.NoSync {
		return nil
	}
	return f.File.Sync()
}

func (f *faulty) Truncate(size int64) error {
	if f.fs.step() {
		return ErrFault
	}
	return f.File.Truncate(size)
}

// TryLock locks the file.
func (f *faulty) TryLock() error {
	if f.fs.step() {
		return ErrFault
	}
	return iox.TryLockOnce(f.File)
}

// LockRange locks a range of the file.
func (f *faulty) LockRange(off, n int64) error {
	if f.fs.step() {
		return ErrFault
	}
	return iox.LockRange(f.File, off, n)
}

func (f *faulty) Close() error {
	if f.fs.Fault == Death {
		f.fs.mu.Lock()
		delete(f.fs.open, f)
		f.fs.mu.Unlock()
	}
	fail := f.fs.step()
	if err := f.File.Close(); err != nil || !fail {
		return err
	}
	return ErrFault
}
