//go:build linux || darwin

package batch

import (
	"math"
	"syscall"
)

// removeLast: an open file can be removed.
const removeLast = false

// FreeSpace returns how many bytes may be written below a folder.
func FreeSpace(dir string) (bytes int64, known bool) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, false
	}
	return int64(min(st.Bavail*uint64(st.Bsize), math.MaxInt64)), true
}
