package content

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math"

	"github.com/bagconv/bagconv/internal/schema/serial"
)

// A Writer takes the canonical bytes of one message after the other.
type Writer struct {
	// Rest is set when a message had more than its type: bytes after the last
	// field, or protobuf fields that the descriptor does not have.
	Rest bool
	// Open is set when a string of CDR did not end with NUL. It is taken whole, but
	// some readers leave out its last byte.
	Open bool
	// Beyond is set when the encoding of Program.Within does not have a time or duration.
	Beyond bool
	// Replaced is set when a wide string is not Unicode, so that the encoding of
	// Program.Within cannot hold all of it.
	Replaced bool
	// Odd counts the times and durations that their encoding has in other words than it should:
	// with other nanoseconds than 0 to 999,999,999, or in protobuf a duration with parts of two signs.
	// The canonical bytes do not tell.
	Odd uint32
	// Seq is a hash of the counters of all Headers, when the canonical type has them.
	Seq uint64

	keep     bool
	within   *serial.Encoding // of the Program
	inMemory bool
	buf      []byte
	sum      hash.Hash // of what was taken out of buf; nil: nothing was
	summed   bool
	written  int // bytes that are not in buf any more
}

// Most bytes that a Writer holds when it does not keep them, and the length from
// which bytes are hashed where they lie.
const (
	maxHeld = 32 << 10
	maxCopy = 4 << 10
)

// The byte that goes before canonical bytes into their digest.
const canonicalMark = 'c'

// NewWriter returns a Writer. With keep it holds the canonical bytes, with the
// counters of Headers at their places, and without it only their digest.
func NewWriter(keep bool) *Writer { return &Writer{keep: keep} }

// Reset begins a message.
func (w *Writer) Reset() {
	w.Rest, w.Open, w.Beyond, w.Replaced, w.Odd, w.Seq = false, false, false, false, 0, 1
	w.buf, w.written, w.summed = w.buf[:0], 0, false
	if !w.keep {
		w.buf = append(w.buf, canonicalMark)
	}
}

// Bytes returns the canonical bytes of a Writer that keeps them, until the next
// Reset.
func (w *Writer) Bytes() []byte { return w.buf }

// Sum returns the digest of a Writer that does not keep them: the SHA-256 of 'c'
// and the canonical bytes.
func (w *Writer) Sum() (digest [sha256.Size]byte) {
	if !w.summed {
		return sha256.Sum256(w.buf)
	}
	w.sum.Write(w.buf)
	w.sum.Sum(digest[:0])
	return digest
}

// Len returns how many canonical bytes were written.
func (w *Writer) Len() int { return w.written + len(w.buf) }

// flush hashes what is held.
func (w *Writer) flush() {
	if w.sum == nil {
		w.sum = sha256.New()
	}
	if !w.summed {
		w.sum.Reset()
		w.summed = true
	}
	w.sum.Write(w.buf)
	w.written += len(w.buf)
	w.buf = w.buf[:0]
}

// room makes room for n bytes.
func (w *Writer) room(n int) {
	if !w.keep && len(w.buf)+n > maxHeld {
		w.flush()
	}
}

func (w *Writer) bytes(p []byte) {
	if len(p) >= maxCopy && !w.keep {
		w.flush()
		w.sum.Write(p)
		w.written += len(p)
		return
	}
	w.room(len(p))
	w.buf = append(w.buf, p...)
}

func (w *Writer) u32(v uint32) {
	w.room(4)
	w.buf = binary.LittleEndian.AppendUint32(w.buf, v)
}

func (w *Writer) u64(v uint64) {
	w.room(8)
	w.buf = binary.LittleEndian.AppendUint64(w.buf, v)
}

// text writes a string or a list of bytes.
func (w *Writer) text(p []byte) {
	w.u32(uint32(len(p)))
	w.bytes(p)
}

// counter writes the counter of a Header.
func (w *Writer) counter(v uint32) {
	if w.keep {
		w.u32(v)
		return
	}
	w.Seq = (w.Seq ^ uint64(v)) * 0x9e3779b97f4a7c15
	w.Seq ^= w.Seq >> 29
}

// A class is the kind of a number, as far as canonical bytes depend on it.
type class uint8

const (
	plain class = iota
	boolean
	float32Class
	float64Class
)

// numbers writes little-endian numbers.
func (w *Writer) numbers(p []byte, c class) {
	if c == plain {
		w.bytes(p)
		return
	}
	for len(p) > 0 {
		part := p[:min(len(p), maxCopy)]
		p = p[len(part):]
		w.room(len(part))
		at := len(w.buf)
		w.buf = append(w.buf, part...)
		c.canonize(w.buf[at:])
	}
}

// number writes the low bytes of a number.
func (w *Writer) number(bits uint64, size int, c class) {
	w.room(8)
	at := len(w.buf)
	w.buf = binary.LittleEndian.AppendUint64(w.buf, bits)[:at+size]
	c.canonize(w.buf[at:])
}

// row writes the numbers of a row.
func (w *Writer) row(cells []cell, numbers []uint64) {
	w.room(8 * len(cells))
	b := w.buf
	for i := range cells {
		c := &cells[i]
		b = binary.LittleEndian.AppendUint64(b, c.class.one(numbers[c.index]))[:len(b)+c.size]
	}
	w.buf = b
}

// one makes a number of a class canonical.
func (c class) one(bits uint64) uint64 {
	switch {
	case c == boolean:
		return min(bits, 1)
	case c == float32Class && bits&0x7fffffff > 0x7f800000:
		return nan32
	case c == float64Class && bits&math.MaxInt64 > 0x7ff0000000000000:
		return nan64
	}
	return bits
}

// canonize makes numbers of a class canonical.
func (c class) canonize(b []byte) {
	switch c {
	case boolean:
		bools(b)
	case float32Class:
		float32s(b)
	case float64Class:
		float64s(b)
	}
}

// bools makes each byte 0 or 1.
func bools(b []byte) {
	for i, v := range b {
		if v > 1 {
			b[i] = 1
		}
	}
}

// The bits of every NaN.
const (
	nan32 = 0x7fc00000
	nan64 = 0x7ff8000000000000
)

func float32s(b []byte) {
	for ; len(b) >= 4; b = b[4:] {
		if binary.LittleEndian.Uint32(b)&0x7fffffff > 0x7f800000 {
			binary.LittleEndian.PutUint32(b, nan32)
		}
	}
}

func float64s(b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		if binary.LittleEndian.Uint64(b)&math.MaxInt64 > 0x7ff0000000000000 {
			binary.LittleEndian.PutUint64(b, nan64)
		}
	}
}

var zeroBytes [1024]byte

func (w *Writer) zeros(n int) {
	for ; n > len(zeroBytes); n -= len(zeroBytes) {
		w.bytes(zeroBytes[:])
	}
	w.bytes(zeroBytes[:n])
}
