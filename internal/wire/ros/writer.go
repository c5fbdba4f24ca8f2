package ros

import (
	"encoding/binary"
	"math"
)

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

// CDR reports whether CDR is written, and not ROS 1.
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

// Number writes the bits of a number of 1, 2, 4 or 8 bytes.
func (w *Writer) Number(size int, bits uint64) {
	switch size {
	case 1:
		w.U8(uint8(bits))
	case 2:
		w.U16(uint16(bits))
	case 4:
		w.U32(uint32(bits))
	default:
		w.U64(bits)
	}
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
