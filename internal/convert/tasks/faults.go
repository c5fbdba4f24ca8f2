package tasks

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"slices"
	"syscall"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// lasting are errors of the system that do not pass by themselves.
var lasting = []syscall.Errno{
	syscall.ENOENT, syscall.EACCES, syscall.EPERM, syscall.EEXIST, syscall.EISDIR, syscall.ENOTDIR, syscall.EINVAL,
	syscall.ENAMETOOLONG, syscall.ENOTEMPTY, syscall.EROFS, syscall.ELOOP,
}

// Transient reports whether an error may pass, so that the same task can succeed later or
// elsewhere: a full disk, a device or a network that fails, a lock, a key that this process does not
// have. What is in the input, and names that are missing or taken, do not pass. An error can decide that by a method
// Transient() bool.
func Transient(err error) bool {
	var own interface{ Transient() bool }
	var number syscall.Errno
	switch {
	case err == nil, storage.IsDamage(err), errors.Is(err, fs.ErrExist):
		return false
	case errors.As(err, &own):
		return own.Transient()
	case errors.As(err, &number): // which is a net.Error too
		return !slices.Contains(lasting, number)
	case errors.Is(err, storage.ErrKey), errors.Is(err, storage.ErrLocked), errors.Is(err, iox.ErrLocked), errors.Is(err,
		context.DeadlineExceeded), errors.As(err, new(net.Error)):
		return true
	}
	return false
}
