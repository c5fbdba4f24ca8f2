package mp4

import (
	"fmt"

	"github.com/bagconv/bagconv/storage"
)

// corrupt returns an error about bytes that contradict what they are.
func corrupt(format string, args ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), storage.ErrCorrupt)
}

// unsupported returns an error about what is sound, but not for us, with the next step, which may be "".
func unsupported(next, format string, args ...any) error {
	if next != "" {
		next = "; " + next
	}
	return fmt.Errorf("%s: %w%s", fmt.Sprintf(format, args...), storage.ErrUnsupported, next)
}
