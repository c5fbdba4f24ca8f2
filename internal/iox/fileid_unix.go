//go:build linux || darwin

package iox

import (
	"os"
	"syscall"

	"github.com/bagconv/bagconv/storage"
)

// HardLinks returns how many names an open file has in its file system, 1 where that is not known.
func HardLinks(f storage.File) int {
	if st, err := f.Stat(); err == nil {
		if s, ok := st.Sys().(*syscall.Stat_t); ok {
			return int(s.Nlink)
		}
	}
	return 1
}

// FileID returns what only this file has, for maps; ok is false if only SameFile knows.
func FileID(info os.FileInfo) (id [2]uint64, ok bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return id, false
	}
	return [2]uint64{uint64(s.Dev), s.Ino}, true //nolint:unconvert // Dev is an int32 on macOS
}
