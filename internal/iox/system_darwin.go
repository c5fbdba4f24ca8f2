package iox

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func exchange(a, b string) error  { return renamex("exchange", a, b, unix.RENAME_SWAP) }
func renameNew(a, b string) error { return renamex("rename", a, b, unix.RENAME_EXCL) }

// renamex renames with flags. See renamex_np(2): file systems that cannot do it
// return ENOTSUP.
func renamex(op, a, b string, flags uint32) error {
	err := unix.RenamexNp(a, b, flags)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EINVAL):
		return unsupported(op, a, b)
	}
	return &os.LinkError{Op: op, Old: a, New: b, Err: err}
}
