package chunked

import (
	"errors"
	"io"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A Window reads a file in pieces that grow while they follow each other.
type Window struct {
	file io.ReaderAt
	size int64
	at   int64
	buf  []byte

	Step int64 // bytes of a piece that follows another
}

// NewWindow returns a window on a file of size bytes.
func NewWindow(file io.ReaderAt, size int64) Window {
	return Window{file: file, size: size, Step: WindowStep}
}

// The sizes of pieces, in bytes.
const (
	windowJump = 4 << 10   // of a piece that follows no other
	WindowStep = 256 << 10 // of a piece that does
)

// ioError marks an error of the disk.
type ioError struct{ error }

func (e ioError) Unwrap() error { return e.error }

// IOError marks err as an error of the disk.
func IOError(err error) error { return ioError{err} }

// IsIO reports whether err is of the disk, and not about what is on it.
func IsIO(err error) bool {
	var e ioError
	return errors.As(err, &e)
}

// OnlyIO returns err if it is of the disk, else nil.
func OnlyIO(err error) error {
	if IsIO(err) {
		return err
	}
	return nil
}

// Data returns n bytes at off: fewer only at the end of the file, and no bytes after it. They are
// valid until the next call. An error is of the disk: see IsIO.
func (w *Window) Data(off, n int64) ([]byte, error) {
	n = max(0, min(n, w.size-off))
	if b, ok := w.cached(off, n); ok || n == 0 {
		return b, nil
	}
	want := int64(windowJump)
	if off >= w.at && off <= w.at+int64(len(w.buf)) && len(w.buf) > 0 {
		want = w.Step
	}
	want = min(max(want, n), w.size-off)
	w.buf = storage.Grow(w.buf, int(want))
	w.at = off
	if err := iox.ReadFull(w.file, w.buf, off); err != nil {
		w.buf = w.buf[:0]
		return nil, ioError{err}
	}
	return w.buf[:n], nil
}

// Ahead returns what Data does, and all that the window has of what follows.
func (w *Window) Ahead(off, n int64) ([]byte, error) {
	b, err := w.Data(off, n)
	if err != nil || len(b) == 0 {
		return b, err
	}
	return w.buf[off-w.at:], nil
}

// At returns where the window is.
func (w *Window) At() int64 { return w.at }

// cached returns n bytes at off if the window has them now.
func (w *Window) cached(off, n int64) ([]byte, bool) {
	if off < w.at || off+n > w.at+int64(len(w.buf)) {
		return nil, false
	}
	return w.buf[off-w.at:][:n], true
}
