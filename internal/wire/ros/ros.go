// Package ros has cursors over messages in ROS 1 serialization and in CDR as
// ROS 2 writes it (little endian XCDR1): a Writer that appends and a Reader that
// walks. They know values, not types.
//
//	          ROS 1                       CDR
//	start     nothing                     00 01 00 00; alignment counts from behind it
//	number    n bytes                     n bytes at a multiple of n
//	string    u32 length, bytes           u32 length with NUL, bytes, NUL
//	list      u32 count, values           u32 count, values
//	time      u32 s, u32 ns               i32 s, u32 ns
//
// A Reader trusts no length; after the first error it gives zeros, and Err says
// what was wrong. Neither type is safe for concurrent use.
package ros

import (
	"encoding/binary"
	"errors"
	"math"
)

// HeaderSize is the length of CDR's encapsulation header.
const HeaderSize = 4

// A Writer appends values to Buf.
type Writer struct {
	Buf  []byte
	base int
	cdr  bool
}

// NewWriter returns a writer that appends to dst, with the encapsulation header
// for CDR.
func NewWriter(dst []byte, cdr bool) Writer {
	if cdr {
		dst = append(dst, 0, 1, 0, 0)
	}
	return Writer{Buf: dst, base: len(dst), cdr: cdr}
}

// CDR tells which of the two encodings is written.
func (w *Writer) CDR() bool { return w.cdr }

// Align pads to a multiple of n, a power of two up to 8; in ROS 1 it does nothing.
func (w *Writer) Align(n int) {
	if !w.cdr {
		return
	}
	if pad := (w.base - len(w.Buf)) & (n - 1); pad > 0 {
		w.Buf = append(w.Buf, 0, 0, 0, 0, 0, 0, 0, 0)[:len(w.Buf)+pad]
	}
}

// U8 appends a byte.
func (w *Writer) U8(v uint8) { w.Buf = append(w.Buf, v) }

// U16 appends a 16-bit number.
func (w *Writer) U16(v uint16) {
	w.Align(2)
	w.Buf = binary.LittleEndian.AppendUint16(w.Buf, v)
}

// U32 appends a 32-bit number; also counts.
func (w *Writer) U32(v uint32) {
	w.Align(4)
	w.Buf = binary.LittleEndian.AppendUint32(w.Buf, v)
}

// U64 appends a 64-bit number.
func (w *Writer) U64(v uint64) {
	w.Align(8)
	w.Buf = binary.LittleEndian.AppendUint64(w.Buf, v)
}

// F32 appends a float32.
func (w *Writer) F32(v float32) { w.U32(math.Float32bits(v)) }

// F64 appends a float64.
func (w *Writer) F64(v float64) { w.U64(math.Float64bits(v)) }

// Bool appends 0 or 1.
func (w *Writer) Bool(v bool) {
	if v {
		w.U8(1)
	} else {
		w.U8(0)
	}
}

// Time appends a time in ns since 1970. Times outside of what 32 bits of seconds
// hold are clamped: to 0 at the early end, in CDR to 2038 at the late one.
func (w *Writer) Time(ns int64) {
	sec, nsec := ns/1e9, ns%1e9
	last := int64(math.MaxUint32)
	if w.cdr {
		last = math.MaxInt32
	}
	switch {
	case ns < 0:
		sec, nsec = 0, 0
	case sec > last:
		sec, nsec = last, 999999999
	}
	w.U32(uint32(sec))
	w.U32(uint32(nsec))
}

// String appends a string.
func (w *Writer) String(v []byte) {
	if !w.cdr {
		w.U32(uint32(len(v)))
		w.Buf = append(w.Buf, v...)
		return
	}
	w.U32(uint32(len(v) + 1))
	w.Buf = append(append(w.Buf, v...), 0)
}

// Bytes appends a list of bytes.
func (w *Writer) Bytes(v []byte) {
	w.U32(uint32(len(v)))
	w.Buf = append(w.Buf, v...)
}

// Zero appends n zero bytes.
func (w *Writer) Zero(n int) {
	for range n {
		w.Buf = append(w.Buf, 0)
	}
}

// ErrShort is the error of a Reader whose message ends too early.
var ErrShort = errors.New("the message ends before its last field")

// A Reader walks over a message.
type Reader struct {
	buf []byte
	pos int
	cdr bool
	err error
}

// NewReader returns a reader of body: of the whole message in ROS 1, of what
// stands behind the encapsulation header in CDR.
func NewReader(body []byte, cdr bool) Reader { return Reader{buf: body, cdr: cdr} }

// Err returns the first error, nil while all went well.
func (r *Reader) Err() error { return r.err }

// Pos is the position in the body, bytes.
func (r *Reader) Pos() int { return r.pos }

// Len is how many bytes are left.
func (r *Reader) Len() int { return len(r.buf) - r.pos }

// Fail makes err the reader's error, unless it has one.
func (r *Reader) Fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

var nothing [8]byte

// Take returns the next n bytes, which point into the message.
func (r *Reader) Take(n int) []byte {
	if r.err != nil || n < 0 || n > len(r.buf)-r.pos {
		r.Fail(ErrShort)
		return nil
	}
	r.pos += n
	return r.buf[r.pos-n : r.pos]
}

// number returns the next n bytes behind their padding; zeros after an error.
func (r *Reader) number(n int) []byte {
	r.Align(n)
	if b := r.Take(n); b != nil {
		return b
	}
	return nothing[:]
}

// Align steps over padding to a multiple of n.
func (r *Reader) Align(n int) {
	if r.cdr {
		if at := (r.pos + n - 1) &^ (n - 1); at <= len(r.buf) {
			r.pos = at
		} else {
			r.Fail(ErrShort)
		}
	}
}

// U8 reads a byte.
func (r *Reader) U8() uint8 { return r.number(1)[0] }

// U16 reads a 16-bit number.
func (r *Reader) U16() uint16 { return binary.LittleEndian.Uint16(r.number(2)) }

// U32 reads a 32-bit number.
func (r *Reader) U32() uint32 { return binary.LittleEndian.Uint32(r.number(4)) }

// U64 reads a 64-bit number.
func (r *Reader) U64() uint64 { return binary.LittleEndian.Uint64(r.number(8)) }

// F32 reads a float32.
func (r *Reader) F32() float32 { return math.Float32frombits(r.U32()) }

// F64 reads a float64.
func (r *Reader) F64() float64 { return math.Float64frombits(r.U64()) }

// Time reads a time, in ns since 1970. In ROS 1 the seconds are unsigned, in
// CDR signed.
func (r *Reader) Time() int64 {
	sec, nsec := r.U32(), r.U32()
	if r.cdr {
		return int64(int32(sec))*1e9 + int64(nsec)
	}
	return int64(sec)*1e9 + int64(nsec)
}

// String reads a string; it points into the message.
func (r *Reader) String() []byte {
	n := r.U32()
	if int64(n) > int64(r.Len()) {
		r.Fail(ErrShort)
		return nil
	}
	b := r.Take(int(n))
	if r.cdr && len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	return b
}

// Bytes reads a list of bytes; it points into the message.
func (r *Reader) Bytes() []byte {
	n := r.U32()
	if int64(n) > int64(r.Len()) {
		r.Fail(ErrShort)
		return nil
	}
	return r.Take(int(n))
}

// Count reads the count of a list whose elements take at least size bytes each.
func (r *Reader) Count(size int) int {
	n := r.U32()
	if int64(n)*int64(max(size, 1)) > int64(r.Len()) {
		r.Fail(ErrShort)
		return 0
	}
	return int(n)
}
