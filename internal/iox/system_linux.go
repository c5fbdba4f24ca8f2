package iox

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/bagconv/bagconv/storage"
)

func exchange(a, b string) error  { return renameat2("exchange", a, b, unix.RENAME_EXCHANGE) }
func renameNew(a, b string) error { return renameat2("rename", a, b, unix.RENAME_NOREPLACE) }

// renameat2 renames with flags. See renameat2(2): file systems that do not know a
// flag return EINVAL.
func renameat2(op, a, b string, flags uint) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, flags)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOTSUP):
		return unsupported(op, a, b)
	}
	return &os.LinkError{Op: op, Old: a, New: b, Err: err}
}

// Unnamed opens a file that never has a name.
func (o osFS) Unnamed(dir string) (storage.File, error) {
	return o.file(os.OpenFile(dir, os.O_RDWR|unix.O_TMPFILE, 0o600))
}

var _ abilities = osFS{} // other systems lack some of them
