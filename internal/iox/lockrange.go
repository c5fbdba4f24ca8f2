package iox

import (
	"errors"
	"os"
)

// A rangeLocker is a storage.File of which ranges can be locked. Files of OS are, on Linux.
type rangeLocker interface {
	LockRange(off, n int64) error
}

// LockRange locks n bytes of a file from off on, for this open file alone and until it is closed.
// It respects locks of other processes that lock ranges as SQLite does, and they respect it.
// The error is ErrLocked if somebody else has a lock there, and wraps errors.ErrUnsupported if there
// are no such locks.
func LockRange(f any, off, n int64) error {
	switch f := f.(type) {
	case rangeLocker:
		return patiently(func() error { return f.LockRange(off, n) })
	case *os.File:
		return patiently(func() error { return lockRange(f, off, n) })
	}
	return errors.ErrUnsupported
}

func (f osFile) LockRange(off, n int64) error { return lockRange(f.File, off, n) }
