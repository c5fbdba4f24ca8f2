//go:build linux || darwin

package iox

import (
	"errors"
	"os"
	"syscall"
	"time"
)

func tryLock(f *os.File) error {
	return patiently(func() error {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrLocked
		case err != nil:
			return errors.Join(err, errors.ErrUnsupported)
		}
		return nil
	})
}

// patiently takes a lock by a function that tries it once. A lock may look taken though nobody has it:
// until a child of this process runs its own program, it has a copy of each open file, and with it
// every lock, also of files that were closed since. It waits for children that are being started, and
// since the system lets go of the copies a moment after the start, it tries again for a tenth of a second.
func patiently(try func() error) error {
	var err error
	for wait := time.Millisecond; wait <= 64*time.Millisecond; wait *= 2 {
		syscall.ForkLock.RLock()
		err = try()
		syscall.ForkLock.RUnlock()
		if !errors.Is(err, ErrLocked) {
			return err
		}
		time.Sleep(wait)
	}
	return err
}

// ours reports whether a file belongs to the user whose process this is.
func ours(st os.FileInfo) bool {
	s, ok := st.Sys().(*syscall.Stat_t)
	return !ok || int(s.Uid) == os.Geteuid()
}
