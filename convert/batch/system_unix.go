//go:build linux || darwin

package batch

import (
	"errors"
	"math"
	"os"
	"syscall"
)

// removeLast: an open file can be removed.
const removeLast = false

// freeSpace is how many bytes may be written below a folder.
func freeSpace(dir string) (bytes int64, known bool) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, false
	}
	return int64(min(st.Bavail*uint64(st.Bsize), math.MaxInt64)), true
}

// lock locks a file for this process, or returns ErrRunning. A file system
// without locks is no reason to stop.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrRunning
	}
	return nil
}
