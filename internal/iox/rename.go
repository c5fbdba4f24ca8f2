package iox

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/bagconv/bagconv/storage"
)

// A renamer is a storage.FS that can do more with names than Rename. OS is a renamer. Its
// methods return an error that wraps errors.ErrUnsupported if the system or the
// file system cannot do it; then nothing has changed.
type renamer interface {
	Exchange(a, b string) error
	RenameNew(from, to string) error
}

// Exchange swaps two names of one file system in one step. The error wraps
// errors.ErrUnsupported if that cannot be done.
func Exchange(fsys storage.FS, a, b string) error {
	if r, ok := fsys.(renamer); ok {
		return r.Exchange(a, b)
	}
	return &os.LinkError{Op: "exchange", Old: a, New: b, Err: errors.ErrUnsupported}
}

// RenameNew renames a file or folder to a name that must be free; else the error
// wraps fs.ErrExist. If the system cannot do both in one step, a file that is made
// between the two may be replaced.
func RenameNew(fsys storage.FS, from, to string) error {
	if r, ok := fsys.(renamer); ok {
		if err := r.RenameNew(from, to); !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	if _, err := fsys.Stat(to); err == nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: fs.ErrExist}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fsys.Rename(from, to)
}

func (osFS) Exchange(a, b string) error { return exchange(a, b) }

// RenameNew links files if the system has nothing better.
func (osFS) RenameNew(from, to string) error {
	err := renameNew(from, to)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if st, statErr := os.Lstat(from); statErr != nil || !st.Mode().IsRegular() {
		return err
	}
	if linkErr := os.Link(from, to); errors.Is(linkErr, fs.ErrExist) {
		return linkErr
	} else if linkErr != nil {
		return err
	}
	return os.Remove(from)
}

// unsupported returns the error of a call that the system or the file system does not
// have.
func unsupported(op, a, b string) error {
	return &os.LinkError{Op: op, Old: a, New: b, Err: errors.ErrUnsupported}
}

// ErrLocked is the error of a file that another process has locked.
var ErrLocked = storage.ErrLocked

// A locker is a storage.File that can be locked. Files of OS are.
type locker interface{ TryLock() error }

// TryLock locks a file until it is closed, or the process ends in whatever way. The
// error is ErrLocked when somebody else has locked it, and wraps
// errors.ErrUnsupported if there are no locks.
func TryLock(f any) error { return patiently(func() error { return TryLockOnce(f) }) }

// TryLockOnce is TryLock for files that are likely to be locked: it does not wait for locks that only look taken.
func TryLockOnce(f any) error {
	switch f := f.(type) {
	case locker:
		return f.TryLock()
	case *os.File:
		return tryLock(f)
	}
	return errors.ErrUnsupported
}

// patiently takes a lock by a function that tries it once. A lock may look taken though nobody has it: until a child
// of this process runs its own program, it has a copy of each open file, and with it every lock, also of files that
// were closed since. The system lets go of the copies a moment after the start: patiently tries for a tenth of a
// second.
func patiently(try func() error) error {
	var err error
	for wait := time.Millisecond; wait <= 64*time.Millisecond; wait *= 2 {
		if err = try(); !errors.Is(err, ErrLocked) {
			return err
		}
		time.Sleep(wait)
	}
	return err
}

func (f osFile) TryLock() error { return tryLock(f.File) }
