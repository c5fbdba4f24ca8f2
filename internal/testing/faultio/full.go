package faultio

import (
	"os"
	"sync/atomic"
	"syscall"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A Disk is a file system on a disk with room for so many bytes: writes beyond them fail as on a
// full disk, after as many bytes as there is room for.
type Disk struct {
	storage.FS
	room atomic.Int64
}

// NewDisk returns a disk with room for so many bytes more.
func NewDisk(fsys storage.FS, room int64) *Disk {
	d := &Disk{FS: fsys}
	d.room.Store(room)
	return d
}

// OpenFile opens a file.
func (d *Disk) OpenFile(name string, flag int, perm os.FileMode) (storage.File, error) {
	f, err := d.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &diskFile{f, d}, nil
}

// Unnamed makes a file without a name, which takes no room.
func (d *Disk) Unnamed(dir string) (storage.File, error) { return iox.TempFile(d.FS, dir) }

// Exchange swaps two names.
func (d *Disk) Exchange(a, b string) error { return iox.Exchange(d.FS, a, b) }

// RenameNew moves a file or folder to a name that must be free.
func (d *Disk) RenameNew(from, to string) error { return iox.RenameNew(d.FS, from, to) }

type diskFile struct {
	storage.File
	disk *Disk
}

// write writes as much as there is room for. What is overwritten takes room too.
func (f *diskFile) write(p []byte, do func([]byte) (int, error)) (int, error) {
	left := f.disk.room.Add(-int64(len(p)))
	if left >= 0 {
		return do(p)
	}
	n, err := do(p[:max(0, int64(len(p))+left)])
	if err == nil {
		err = syscall.ENOSPC
	}
	return n, err
}

func (f *diskFile) Write(p []byte) (int, error) { return f.write(p, f.File.Write) }

func (f *diskFile) WriteAt(p []byte, off int64) (int, error) {
	return f.write(p, func(p []byte) (int, error) { return f.File.WriteAt(p, off) })
}
