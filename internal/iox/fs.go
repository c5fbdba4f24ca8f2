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

// ErrNotRegular is the error for a device, pipe or socket in place of a file.
var ErrNotRegular = fmt.Errorf("neither a regular file nor a folder: %w", storage.ErrUnsupported)

// OS is the operating system's file system. It has no URLs; see Join.
var OS storage.FS = osFS{}

// FS returns fs, or OS when fs is nil.
func FS(fs storage.FS) storage.FS {
	if fs == nil {
		return OS
	}
	return fs
}

type osFS struct {
	meter *Meter // nil: nothing is counted
}

// Open refuses what is neither a file nor a folder: a pipe without a writer would
// wait for one, and a device has no end.
func (o osFS) Open(name string) (storage.File, error) {
	if st, err := os.Stat(name); err == nil && !st.Mode().IsRegular() && !st.IsDir() {
		return nil, &os.PathError{Op: "open", Path: name, Err: ErrNotRegular}
	}
	return o.file(os.Open(name))
}

func (o osFS) OpenFile(name string, flag int, perm os.FileMode) (storage.File, error) {
	return o.file(os.OpenFile(name, flag, perm))
}

func (osFS) Stat(name string) (os.FileInfo, error)      { return os.Stat(name) }
func (osFS) Lstat(name string) (os.FileInfo, error)     { return os.Lstat(name) }
func (osFS) ReadDir(name string) ([]os.DirEntry, error) { return os.ReadDir(name) }
func (osFS) Mkdir(name string, perm os.FileMode) error  { return os.Mkdir(name, perm) }
func (osFS) Rename(from, to string) error               { return os.Rename(from, to) }
func (osFS) Remove(name string) error                   { return os.Remove(name) }
func (osFS) RemoveAll(name string) error                { return os.RemoveAll(name) }
func (o osFS) file(f *os.File, err error) (storage.File, error) {
	if err != nil {
		return nil, err
	}
	return osFile{f, o.meter}, nil
}

// An osFile writes in pieces, and counts.
type osFile struct {
	*os.File
	meter *Meter
}

// writePiece is how much is written at once. Linux since 6.16 puts what one call
// writes to ext4 into as large pages as it can, and takes up to four times as long
// when it has to make those first; smaller pieces cost more calls. `dd bs=...` of 1.5 GB into a
// file, seconds: 16 KiB 0.43, 64 KiB 0.31, 128 KiB 0.30, 256 KiB 0.30 to 0.45,
// 1 MiB 0.6 to 1.0, 6 MiB 0.8 to 1.3.
const writePiece = 128 << 10

// WriteAt writes like os.File, in pieces that end at multiples of writePiece.
func (f osFile) WriteAt(p []byte, off int64) (n int, err error) {
	for n < len(p) && err == nil {
		at := off + int64(n)
		piece := p[n:min(int64(len(p)), int64(n)+writePiece-at%writePiece)]
		var k int
		k, err = f.File.WriteAt(piece, at)
		n += k
	}
	f.meter.AddWritten(int64(n))
	return n, err
}

// ReadFull reads exactly len(p) bytes at off. A file that ends too early returns
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

// SamePath reports whether two names in fsys are one, also if nothing stands there, as under the
// stem of segments. fsys nil means the operating system's.
func SamePath(fsys storage.FS, a, b string) bool {
	fsys = FS(fsys)
	sa, errA := fsys.Stat(a)
	sb, errB := fsys.Stat(b)
	if errA == nil && errB == nil {
		return SameFile(sa, sb)
	}
	a, errA = Abs(a)
	b, errB = Abs(b)
	return errA == nil && errB == nil && a == b
}
