package iox

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

func tryLock(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	end := &windows.Overlapped{OffsetHigh: 1 << 30} // what is locked cannot be read: lock a byte that no file has
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, end)
	switch {
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION):
		return ErrLocked
	case err != nil:
		return errors.Join(err, errors.ErrUnsupported)
	}
	return nil
}

// ours is not known on this system.
func ours(os.FileInfo) bool { return true }
