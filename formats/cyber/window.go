package cyber

import (
	"cmp"
	"encoding/binary"
	"errors"
	"io"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
	"google.golang.org/protobuf/encoding/protowire"
)

// A window looks at a file here and there. It reads more at a time the longer it is moved forward
// without a leap, so that small things that follow each other do not cost a system call each, and
// large things that are skipped are not read.
type window struct {
	r    io.ReaderAt
	size int64 // of the file
	buf  []byte
	at   int64 // offset of buf in the file
	step int   // bytes of the next read
	leap int   // bytes to read if there are as many between leaps; 0: not known
}

const (
	minStep = 512
	maxStep = 256 << 10

	searchStep = 4 << 10 // of what is looked through for something
)

// peek returns the bytes from offset at on: n of them, or as many as the file
// has. They are valid until the next peek.
func (w *window) peek(at int64, n int) ([]byte, error) {
	if at < 0 || at >= w.size {
		return nil, nil
	}
	n = int(min(int64(n), w.size-at))
	if at >= w.at && at+int64(n) <= w.at+int64(len(w.buf)) {
		return w.buf[at-w.at:][:n], nil
	}
	if at >= w.at && at <= w.at+int64(len(w.buf)) {
		w.step = min(2*w.step, cmp.Or(w.leap, maxStep))
	} else {
		w.step = w.leap
	}
	w.step = max(w.step, minStep)
	w.buf = storage.Grow(w.buf[:0], int(min(int64(max(n, w.step)), w.size-at)))
	w.at = at
	if err := iox.ReadFull(w.r, w.buf, at); err != nil {
		w.buf = w.buf[:0]
		return nil, err
	}
	return w.buf[:n], nil
}

// read reads bytes at an offset: through the window, if they are few.
func (w *window) read(to []byte, at int64) error {
	if len(to) > largeMessage {
		return iox.ReadFull(w.r, to, at)
	}
	b, err := w.peek(at, len(to))
	if copy(to, b) < len(to) && err == nil {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// errMalformed means that bytes are not what they should be. It goes no further
// than this package.
var errMalformed = errors.New("malformed")

// A field is a field of a protobuf message in the file.
type field struct {
	num      protowire.Number
	v        uint64 // of a varint
	from, to int64  // of bytes: where they lie in the file
}

// fields calls f for each varint and each length-delimited field of the message
// between two offsets. Other kinds, which no message of a record has, are skipped;
// groups are malformed. An error of f ends it.
func (w *window) fields(from, to int64, f func(field) error) error {
	for at := from; at < to; {
		b, err := w.peek(at, 2*binary.MaxVarintLen64)
		if err != nil {
			return err
		}
		b = b[:min(int64(len(b)), to-at)]
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return errMalformed
		}
		at += int64(n)
		x := field{num: num, from: -1}
		switch typ {
		case protowire.VarintType:
			v, n := protowire.ConsumeVarint(b[n:])
			if n < 0 {
				return errMalformed
			}
			at += int64(n)
			x.v = v
		case protowire.Fixed32Type:
			at += 4
		case protowire.Fixed64Type:
			at += 8
		case protowire.BytesType:
			size, n := protowire.ConsumeVarint(b[n:])
			if n < 0 || size > uint64(to-at-int64(n)) {
				return errMalformed
			}
			x.from = at + int64(n)
			x.to = x.from + int64(size)
			at = x.to
		default:
			return errMalformed
		}
		if at > to {
			return errMalformed
		}
		if typ == protowire.VarintType || typ == protowire.BytesType {
			if err := f(x); err != nil {
				return err
			}
		}
	}
	return nil
}

// text reads a name of the file. Bytes longer than 64 KiB are not a name.
func (w *window) text(x field) (string, error) {
	if x.from < 0 || x.to-x.from > 64<<10 {
		return "", errMalformed
	}
	b, err := w.peek(x.from, int(x.to-x.from))
	return string(b), err
}

// bytes reads a length-delimited field.
func (w *window) bytes(x field) ([]byte, error) {
	b := make([]byte, x.to-x.from)
	if err := iox.ReadFull(w.r, b, x.from); err != nil {
		return nil, err
	}
	return b, nil
}

// isIO reports whether an error is an error of the disk, and not of the file's content.
func isIO(err error) bool {
	return err != nil && !errors.Is(err, errMalformed)
}

// zeros reports whether all bytes from at to the end of the file are NUL, or how
// far they are.
func (w *window) zeros(at int64) (end int64, err error) {
	for at < w.size {
		b, err := w.peek(at, searchStep)
		if err != nil {
			return at, err
		}
		for i, c := range b {
			if c != 0 {
				return at + int64(i), nil
			}
		}
		at += int64(len(b))
	}
	return at, nil
}
