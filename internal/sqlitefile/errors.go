package sqlitefile

import (
	"errors"
	"fmt"

	"github.com/bagconv/bagconv/storage"
)

// ErrDeclined is wrapped by errors about a database that is sound as far as was
// looked at, but not of the one kind that this package knows. The caller leaves
// it to SQLite, which reads the same rows. It wraps storage.ErrUnsupported.
var ErrDeclined = fmt.Errorf("left to SQLite: %w", storage.ErrUnsupported)

func declined(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, ErrDeclined)...)
}

// damage reports whether an error is about the file, and not about the disk.
func damage(err error) bool {
	return errors.Is(err, storage.ErrCorrupt) || errors.Is(err, storage.ErrTruncated)
}

func corrupt(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, storage.ErrCorrupt)...)
}
