package ros

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf16"
	"unicode/utf8"
)

// ErrMalformed is wrapped by every *Error.
var ErrMalformed = errors.New("the message does not fit its definition")

// An Error is where a message does not fit its definition.
type Error struct {
	Offset int // in the message, bytes
	What   string
}

func (e *Error) Error() string { return fmt.Sprintf("%s at byte %d of the message", e.What, e.Offset) }

// Unwrap returns ErrMalformed.
func (e *Error) Unwrap() error { return ErrMalformed }

// A Reader walks over a message. Slices that it returns point into the message.
type Reader struct {
	Layout
	buf  []byte // after the encapsulation header; up to pos after an error
	pos  int
	mask int // the largest alignment less one
	head int // length of the encapsulation header
	err  *Error

	Carried bool // Time has met a second or more in nanoseconds
}

// NewReader returns a reader of body: of the whole message in ROS 1, of what
// stands after the encapsulation header of the form PlainLE in CDR.
func NewReader(body []byte, cdr bool) (r Reader) {
	if cdr {
		r.Begin(body, PlainLE, HeaderSize)
	} else {
		r.Begin(body, ROS1, 0)
	}
	return r
}

// Open begins a message. In CDR its header says the form. The error is an *Error.
func (r *Reader) Open(message []byte, cdr bool) error {
	f, head := ROS1, 0
	if cdr {
		var err error
		if f, err = FormOf(message); err != nil {
			return err
		}
		head = HeaderSize
	}
	r.Begin(message[head:], f, head)
	return nil
}

// Begin begins the body of a message in a form; head bytes stand before it.
func (r *Reader) Begin(body []byte, f Form, head int) {
	r.Layout = f.Layout()
	r.buf, r.pos, r.mask, r.head, r.err = body, 0, r.MaxAlign-1, head, nil
}

// Err returns the first error, an *Error; nil if no error occurred.
func (r *Reader) Err() error {
	if r.err == nil {
		return nil
	}
	return r.err
}

// Refuse is Fail with the text, unless it is empty.
func (r *Reader) Refuse(what string) {
	if what != "" {
		r.Fail("%s", what)
	}
}

// OK reports whether there was no error.
func (r *Reader) OK() bool { return r.err == nil }

// Pos returns the position in the body, bytes.
func (r *Reader) Pos() int { return r.pos }

// Part returns a reader of the next n bytes alone, and steps over them. Alignment counts from the
// first of them.
func (r *Reader) Part(n int) Reader {
	part := *r
	part.head += r.pos
	part.buf, part.pos = r.Take(n), 0
	part.err = r.err
	return part
}

// Seek goes to a position where the reader has been; not after an error.
func (r *Reader) Seek(pos int) {
	if r.err == nil {
		r.pos = pos
	}
}

// Len returns how many bytes are left; none after an error.
func (r *Reader) Len() int { return len(r.buf) - r.pos }

// Rest returns the bytes that are left; none after an error.
func (r *Reader) Rest() []byte { return r.buf[r.pos:] }

// Offset returns the position in the message, bytes.
func (r *Reader) Offset() int { return r.head + r.pos }

// FailWith makes err the reader's error, unless it has one.
func (r *Reader) FailWith(err error) {
	if r.err != nil {
		return
	}
	e, ok := err.(*Error) // errors.As would move every Reader to the heap
	if !ok {
		e = &Error{r.Offset(), err.Error()}
	}
	r.err, r.buf = e, r.buf[:r.pos]
}

// Fail makes what stands at the current position the reader's error, unless it has one.
func (r *Reader) Fail(format string, a ...any) {
	if r.err == nil {
		r.FailWith(&Error{r.Offset(), fmt.Sprintf(format, a...)})
	}
}

func (r *Reader) short(want int) []byte {
	r.Fail("the message ends too early: %d bytes needed, %d left", want, r.Len())
	return zeros[:]
}

var zeros [8]byte

// Take returns the next n bytes, without padding before; nil after an error.
func (r *Reader) Take(n int) []byte {
	at := r.pos
	if uint(n) > uint(len(r.buf)-at) {
		r.short(n)
		return nil
	}
	r.pos = at + n
	return r.buf[at:r.pos]
}

// Align steps over padding to a multiple of n, a power of two up to 8.
func (r *Reader) Align(n int) {
	at := r.pos + -r.pos&(n-1)&r.mask
	if at > len(r.buf) {
		r.short(at - r.pos)
		return
	}
	r.pos = at
}

// number returns the next n bytes after their padding; zeros after an error.
func (r *Reader) number(n int) []byte {
	at := r.pos + -r.pos&(n-1)&r.mask
	if n > len(r.buf)-at {
		r.pos = min(at, len(r.buf)) // the padding is there
		return r.short(n)
	}
	r.pos = at + n
	return r.buf[at:]
}

// U8 reads a byte.
func (r *Reader) U8() uint8 { return r.number(1)[0] }

// U16 reads a 16-bit number.
func (r *Reader) U16() uint16 {
	b := r.number(2)
	if r.BigEndian {
		return binary.BigEndian.Uint16(b)
	}
	return binary.LittleEndian.Uint16(b)
}

// U32 reads a 32-bit number.
func (r *Reader) U32() uint32 {
	b := r.number(4)
	if r.BigEndian {
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

// U64 reads a 64-bit number.
func (r *Reader) U64() uint64 {
	b := r.number(8)
	if r.BigEndian {
		return binary.BigEndian.Uint64(b)
	}
	return binary.LittleEndian.Uint64(b)
}

// F32 reads a float32.
func (r *Reader) F32() float32 { return math.Float32frombits(r.U32()) }

// F64 reads a float64.
func (r *Reader) F64() float64 { return math.Float64frombits(r.U64()) }

// Numbers returns the bytes of n numbers of size bytes each, in the order of bytes
// that the message has. Without numbers there is no padding.
func (r *Reader) Numbers(n, size int) []byte {
	if n == 0 {
		return nil
	}
	at := r.pos + -r.pos&(size-1)&r.mask
	if n < 0 || at > len(r.buf) || uint64(n)*uint64(size) > uint64(len(r.buf)-at) {
		if r.pos = min(at, len(r.buf)); n == 1 {
			r.short(size)
		}
		r.Fail("the message ends too early: %d numbers of %d bytes needed, %d bytes left", n, size, r.Len())
		return nil
	}
	r.pos = at + n*size
	return r.buf[at:r.pos]
}

// Time reads a time, in ns since 1970. In ROS 1 the seconds are unsigned, in
// CDR signed.
func (r *Reader) Time() int64 {
	sec, nsec := r.U32(), r.U32()
	r.Carried = r.Carried || nsec >= 1e9
	if r.NUL {
		return int64(int32(sec))*1e9 + int64(nsec)
	}
	return int64(sec)*1e9 + int64(nsec)
}

// String reads a string, without its NUL.
func (r *Reader) String() []byte {
	b := r.Bytes()
	if r.NUL && len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	return b
}

// Bytes reads a list of bytes.
func (r *Reader) Bytes() []byte {
	n, at := uint(r.U32()), r.pos
	if n > uint(len(r.buf)-at) {
		r.short(int(n))
		return nil
	}
	r.pos = at + int(n)
	return r.buf[at:r.pos]
}

// Count reads the count of a list whose elements take at least size bytes each; 0
// after an error. With size 0 the count is any, and the caller's to bound.
func (r *Reader) Count(size int) int {
	n := int(r.U32())
	if n < 0 || uint64(n)*uint64(min(size, math.MaxInt32)) > uint64(r.Len()) {
		r.Fail("a list of %d elements, but only %d bytes are left", n, r.Len())
		return 0
	}
	return n
}

// Size steps over the size that stands before a list or array of what is not a number,
// if the form has it.
func (r *Reader) Size() {
	if r.Sizes {
		r.number(4)
	}
}

// Struct reads what stands before the fields of a struct. It returns where the
// struct ends if it is delimited, else -1; either is for End.
func (r *Reader) Struct() (end int) {
	if !r.Delimited {
		return -1
	}
	return r.Delimiter()
}

// Delimiter reads the size before a struct, and returns where the struct ends.
func (r *Reader) Delimiter() (end int) {
	n := int(r.U32())
	if n < 0 || n > r.Len() {
		r.Fail("a struct of %d bytes, but only %d are left", n, r.Len())
		return -1
	}
	return r.pos + n
}

// End goes to the end of a struct, and returns the bytes that are skipped:
// fields that the definition does not have, or padding.
func (r *Reader) End(end int) []byte {
	if end < 0 || r.err != nil {
		return nil
	}
	if r.pos > end {
		r.Fail("a struct of fewer bytes than its fields have")
		return nil
	}
	return r.Take(end - r.pos)
}

// wide returns the units of a wide string, and how many bytes each has. If 4 bytes
// for each unit do not fit, they have 2: so one middleware writes them.
func (r *Reader) wide() (units []byte, width int) {
	n := int(r.U32())
	switch {
	case r.Sizes:
		width, n = 2, n/2
	case n > r.Len()/4:
		width = 2
	default:
		width = 4
	}
	if n < 0 || n > r.Len()/width {
		r.Fail("a wide string of %d units, but only %d bytes are left", n, r.Len())
		return nil, width
	}
	return r.Take(n * width), width
}

// AppendUTF8 appends UTF-16 units to dst as UTF-8. A surrogate that stands alone becomes U+FFFD or, with alone, the
// three bytes that such a character would have; paired reports whether no surrogate stands alone.
func AppendUTF8(dst []byte, units []uint16, alone bool) (text []byte, paired bool) {
	paired = true
	for i := 0; i < len(units); i++ {
		c := rune(units[i])
		if utf16.IsSurrogate(c) {
			full := utf8.RuneError
			if i+1 < len(units) {
				full = utf16.DecodeRune(c, rune(units[i+1]))
			}
			if full == utf8.RuneError {
				paired = false
				if alone {
					dst = append(dst, 0xe0|byte(c>>12), 0x80|byte(c>>6)&0x3f, 0x80|byte(c)&0x3f)
					continue
				}
			} else {
				i++
			}
			c = full
		}
		dst = utf8.AppendRune(dst, c)
	}
	return dst, paired
}

// SkipWide steps over a wide string, and reports whether it has any character.
func (r *Reader) SkipWide() bool {
	units, _ := r.wide()
	return len(units) > 0
}

// Wide appends the UTF-16 units of a wide string to dst. Some publishers have code
// points in the 4 bytes of a unit: they become two units. Code points that
// Unicode does not have become U+FFFD, and whole is false.
func (r *Reader) Wide(dst []uint16) (units []uint16, whole bool) {
	p, width := r.wide()
	whole = true
	for ; len(p) > 0; p = p[width:] {
		var v uint32
		switch {
		case width == 4 && r.BigEndian:
			v = binary.BigEndian.Uint32(p)
		case width == 4:
			v = binary.LittleEndian.Uint32(p)
		case r.BigEndian:
			v = uint32(binary.BigEndian.Uint16(p))
		default:
			v = uint32(binary.LittleEndian.Uint16(p))
		}
		if v <= math.MaxUint16 {
			dst = append(dst, uint16(v))
			continue
		}
		whole = whole && v <= utf8.MaxRune
		dst = utf16.AppendRune(dst, rune(min(v, utf8.MaxRune+1)))
	}
	return dst, whole
}
