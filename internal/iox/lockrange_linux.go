package iox

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// lockRange takes a lock of an open file description (fcntl(2), Linux 3.15): it excludes the
// locks of processes, which SQLite takes, and is not lost when this process closes another descriptor
// of the file.
func lockRange(f *os.File, off, n int64) error {
	const setLock = 37 // F_OFD_SETLK
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	lock := &syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: off, Len: n}
	err := syscall.FcntlFlock(f.Fd(), setLock, lock)
	switch {
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.EACCES):
		return ErrLocked
	case err != nil:
		return errors.Join(err, errors.ErrUnsupported)
	}
	return nil
}
