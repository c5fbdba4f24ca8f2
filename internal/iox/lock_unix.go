//go:build linux || darwin

package iox

import (
	"errors"
	"os"
	"syscall"
)

// tryLock waits for children of this process that are being started. See patiently.
func tryLock(f *os.File) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return ErrLocked
	case err != nil:
		return errors.Join(err, errors.ErrUnsupported)
	}
	return nil
}

// ours reports whether a file belongs to the user whose process this is.
func ours(st os.FileInfo) bool {
	s, ok := st.Sys().(*syscall.Stat_t)
	return !ok || int(s.Uid) == os.Geteuid()
}
