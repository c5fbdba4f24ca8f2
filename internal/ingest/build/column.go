package build

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// A Kind is what the values of a column are.
type Kind uint8

// The kinds. Numbers are little endian.
const (
	Signed   Kind = iota // Width bytes
	Unsigned             // Width bytes
	Float                // Width bytes: 2, 4 or 8
	Bool                 // a bit each, the lowest first
	Time                 // Width bytes with a sign; Unit ns each, since 1970 or as a duration
	Bytes                // text or bytes behind Offsets; or Width bytes each without Offsets
	Struct               // Children are its members
	List                 // behind Offsets, values of Children[0]; or Width values each without Offsets. A map, too
	Texts                // Width bytes: an index into Dictionary
	Nothing              // all values are null
)

var kindNames = [...]string{"a whole number", "a whole number", "a number", "a bool", "a time", "text or bytes",
	"a struct", "a list", "text", "null"}

// A Column has the values of a field in the layout of Arrow. Value i is number First+i of what
// Values, Offsets and Valid have; value i of a member of a struct belongs to value i of the struct.
type Column struct {
	Name       string
	Kind       Kind
	Len        int
	Width      int
	Unit       int64
	First      int
	Values     []byte
	Offsets    []int32
	Valid      []byte // a bit for each, the lowest first; nil: no value is null
	Children   []*Column
	Dictionary *Column

	members []*Column // of a Struct, by the fields of its type; nil: no such member
	flat    bool      // a Struct that was made of columns with points in their names
}

// null reports whether a value is null.
func (c *Column) null(i int) bool {
	if c.flat {
		for _, m := range c.members { // null if all that it has is
			if m != nil && !m.null(i) {
				return false
			}
		}
		return true
	}
	if c.Kind == Nothing {
		return true
	}
	i += c.First
	return c.Valid != nil && c.Valid[i>>3]>>(i&7)&1 == 0
}

// span returns where value i of a List or of Bytes begins and ends.
func (c *Column) span(i int) (from, to int) {
	i += c.First
	if c.Offsets == nil {
		return i * c.Width, (i + 1) * c.Width
	}
	return int(c.Offsets[i]), int(c.Offsets[i+1])
}

// bytes returns value i of Bytes.
func (c *Column) bytes(i int) []byte {
	from, to := c.span(i)
	return c.Values[from:to]
}

// raw returns value i of a number, a bool or a time.
func (c *Column) raw(i int) uint64 {
	i += c.First
	switch {
	case c.Kind == Bool:
		return uint64(c.Values[i>>3] >> (i & 7) & 1)
	case c.Width == 8:
		return binary.LittleEndian.Uint64(c.Values[8*i:])
	case c.Width == 4:
		return uint64(binary.LittleEndian.Uint32(c.Values[4*i:]))
	case c.Width == 2:
		return uint64(binary.LittleEndian.Uint16(c.Values[2*i:]))
	}
	return uint64(c.Values[i])
}

// signed returns value i with its sign.
func (c *Column) signed(i int) int64 {
	shift := 64 - 8*c.Width
	return int64(c.raw(i)) << shift >> shift
}

// float returns value i of a Float.
func (c *Column) float(i int) float64 {
	switch c.Width {
	case 8:
		return math.Float64frombits(c.raw(i))
	case 4:
		return float64(math.Float32frombits(uint32(c.raw(i))))
	}
	return half(uint16(c.raw(i)))
}

// half returns a float of 16 bits (IEEE 754).
func half(h uint16) float64 {
	sign, exponent, fraction := 1.0, int(h>>10&31), float64(h&1023)
	if h>>15 != 0 {
		sign = -1
	}
	switch {
	case exponent == 0:
		return sign * math.Ldexp(fraction, -24)
	case exponent == 31 && fraction == 0:
		return math.Inf(int(sign))
	case exponent == 31:
		return math.NaN()
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// Nanoseconds returns value i of a Time, or of a whole number, which is one of ns. It is not ok for a null, for a time
// beyond 64 bits of ns, and for other kinds.
func (c *Column) Nanoseconds(i int) (ns int64, ok bool) {
	if c.null(i) {
		return 0, false
	}
	switch c.Kind {
	case Time:
		v := c.signed(i)
		if c.Unit == 1 {
			return v, true
		}
		high, low := bits.Mul64(uint64(max(v, -v)), uint64(c.Unit))
		return v * c.Unit, high == 0 && low < 1<<63
	case Signed:
		return c.signed(i), true
	case Unsigned:
		v := c.raw(i)
		return int64(v), v < 1<<63
	}
	return 0, false
}
