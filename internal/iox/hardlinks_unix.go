//go:build linux || darwin

package iox

import (
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
