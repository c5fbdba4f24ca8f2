package rosbag1

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A window reads a file in pieces that grow while they follow each other.
type window struct {
	r    io.ReaderAt
	size int64
	at   int64
	buf  []byte
}

const (
	windowJump = 4 << 10
	windowStep = 256 << 10
)

// errIO marks an error of the disk.
type errIO struct{ error }

func (e errIO) Unwrap() error { return e.error }

func isIO(err error) bool {
	var e errIO
	return errors.As(err, &e)
}

// data returns n bytes at off, fewer only at the end of the file. They are valid
// until the next call.
func (w *window) data(off int64, n int) ([]byte, error) {
	n = int(min(int64(n), w.size-off))
	if off >= w.at && off+int64(n) <= w.at+int64(len(w.buf)) {
		return w.buf[off-w.at:][:n], nil
	}
	want := windowJump
	if off >= w.at && off <= w.at+int64(len(w.buf)) && len(w.buf) > 0 {
		want = windowStep
	}
	want = int(min(int64(max(want, n)), w.size-off))
	w.buf = storage.Grow(w.buf, want)
	w.at = off
	if err := iox.ReadFull(w.r, w.buf, off); err != nil {
		w.buf = w.buf[:0]
		return nil, errIO{err}
	}
	return w.buf[:n], nil
}

// header parses the record header at off. Its slices are valid until the next call.
func (w *window) header(h *header, off int64) error {
	*h = header{}
	b, err := w.data(off, 512)
	if err != nil {
		return err
	}
	err = h.parseRecord(b)
	if err == storage.ErrTruncated && len(b) == 512 {
		n := int(binary.LittleEndian.Uint32(b))
		if b, err = w.data(off, 8+n); err == nil {
			err = h.parseRecord(b)
		}
	}
	if err != nil && !isIO(err) {
		*h = header{}
	}
	return err
}

// record returns the data of the record whose header was just read at off, and
// sets h's slices anew. They and the data are valid until the next call.
func (w *window) record(h *header, off int64) ([]byte, error) {
	head := h.headLen
	b, err := w.data(off, head+int(h.dataSize()))
	if err == nil {
		err = h.parseRecord(b)
	}
	if err != nil {
		return nil, err
	}
	return b[head:], nil
}
