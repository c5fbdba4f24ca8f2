package iox

import (
	"bytes"
	"io"
	"os"

	"github.com/bagconv/bagconv/storage"
)

// Sparse is fsys with files that keep no zeros: blocks of nothing else, written
// at or after the end of a file, become holes. So large test recordings take
// little of the disk, and are made as fast as their other bytes are.
func Sparse(fsys storage.FS) storage.FS { return sparseFS{Wrap(fsys)} }

type sparseFS struct{ Wrapped }

func (s sparseFS) OpenFile(name string, flag int, perm os.FileMode) (storage.File, error) {
	f, err := s.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return &sparseFile{File: f, size: st.Size()}, nil
}

// A sparseFile is written by one goroutine at a time.
type sparseFile struct {
	storage.File
	size int64
}

// holeBlock is the unit of a hole, in bytes.
const holeBlock = 4 << 10

var zeroBlock [holeBlock]byte

func (s *sparseFile) Truncate(size int64) error {
	s.size = size
	return s.File.Truncate(size)
}

func (s *sparseFile) Write(p []byte) (int, error) {
	at, err := s.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	n, err := s.WriteAt(p, at)
	if _, e := s.Seek(at+int64(n), io.SeekStart); err == nil {
		err = e
	}
	return n, err
}

func (s *sparseFile) WriteAt(p []byte, off int64) (int, error) {
	if off < s.size {
		return s.write(p, off)
	}
	done, kept := 0, 0 // p[kept:done] waits to be written
	for done < len(p) {
		n := min(len(p)-done, holeBlock-int((off+int64(done))%holeBlock))
		if hole := n == holeBlock && bytes.Equal(p[done:done+n], zeroBlock[:]); hole {
			if k, err := s.write(p[kept:done], off+int64(kept)); err != nil {
				return kept + k, err
			}
			kept = done + n
		}
		done += n
	}
	if k, err := s.write(p[kept:], off+int64(kept)); err != nil {
		return kept + k, err
	}
	if end := off + int64(len(p)); s.size < end {
		if err := s.Truncate(end); err != nil {
			return len(p), err
		}
	}
	return len(p), nil
}

func (s *sparseFile) write(p []byte, off int64) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err := s.File.WriteAt(p, off)
	s.size = max(s.size, off+int64(n))
	return n, err
}
