// Package numbers has what the bits of numbers mean, and makes numbers of one kind numbers of
// another. Functions may be called concurrently.
//
//	class, width := numbers.Of(schema.Int16)                    // Signed, 16
//	bits = class.Widen(0xffff, width)                          // -1 in 64 bits
//	out, changed := class.Convert(bits, numbers.Unsigned, 16)   // 0, true
package numbers

import (
	"math"

	"github.com/bagconv/bagconv/schema"
)

// A Class is how the bits of a number are read.
type Class uint8

// The classes. In 64 bits an integer has its sign, and a float is a float64.
const (
	Signed Class = iota
	Unsigned
	Float
)

// Of returns the class of a kind that is a number or bool, and how many of its bits count.
func Of(k schema.Kind) (class Class, width int) {
	switch k {
	case schema.Float32, schema.Float64:
		return Float, 8 * k.Size()
	case schema.Int8, schema.Int16, schema.Int32, schema.Int64, schema.Enum:
		return Signed, 8 * k.Size()
	case schema.Bool:
		return Unsigned, 1
	}
	return Unsigned, 8 * k.Size()
}

// Widen returns in 64 bits a number that has width bits; of a bool all but 0 is 1.
func (c Class) Widen(bits uint64, width int) uint64 {
	switch {
	case c == Float && width == 32:
		return math.Float64bits(float64(math.Float32frombits(uint32(bits))))
	case c == Signed:
		return uint64(int64(bits) << (64 - width) >> (64 - width))
	case width == 1:
		return min(bits, 1)
	}
	return bits
}

// Convert returns a number of 64 bits as one of another class and width: the upper bits of a signed
// number are copies of its sign. It is changed if the other kind does not have the value: it is the
// nearest one that it has, NaN is 0, and a fraction loses what is behind the point.
func (c Class) Convert(bits uint64, to Class, width int) (out uint64, changed bool) {
	switch to {
	case Float:
		return toFloat(bits, c, width)
	case Signed:
		return toSigned(bits, c, width)
	}
	return toUnsigned(bits, c, width)
}

// Float returns the number that bits are, in 64 bits, as a float64.
func (c Class) Float(bits uint64) float64 {
	switch c {
	case Float:
		return math.Float64frombits(bits)
	case Signed:
		return float64(int64(bits))
	}
	return float64(bits)
}

func toFloat(bits uint64, class Class, width int) (uint64, bool) {
	f := class.Float(bits)
	changed := false
	switch class { // an integer that far out has no neighbour of its own
	case Signed:
		changed = f >= 1<<63 || int64(f) != int64(bits)
	case Unsigned:
		changed = f >= 1<<64 || uint64(f) != bits
	}
	if width == 64 {
		return math.Float64bits(f), changed
	}
	g := float32(f)
	return uint64(math.Float32bits(g)), changed || float64(g) != f && f == f
}

func toSigned(bits uint64, class Class, width int) (uint64, bool) {
	low, high := int64(-1)<<(width-1), int64(1)<<(width-1)-1
	v, changed := int64(bits), false
	switch class {
	case Unsigned:
		if bits > uint64(high) {
			return uint64(high), true
		}
	case Float:
		f := math.Float64frombits(bits)
		t := math.Trunc(f)
		switch {
		case f != f:
			return 0, true
		case t < float64(low):
			return uint64(low), true
		case t >= -float64(low):
			return uint64(high), true
		}
		v, changed = int64(t), t != f
	}
	if v < low {
		return uint64(low), true
	}
	if v > high {
		return uint64(high), true
	}
	return uint64(v), changed
}

func toUnsigned(bits uint64, class Class, width int) (uint64, bool) {
	high := ^uint64(0) >> (64 - width)
	changed := false
	switch class {
	case Signed:
		if int64(bits) < 0 {
			if width == 1 {
				return 1, true // a bool
			}
			return 0, true
		}
	case Float:
		f := math.Float64frombits(bits)
		t := math.Trunc(f)
		switch {
		case width == 1:
			if f != 0 {
				return 1, f != 1
			}
			return 0, false
		case !(t >= 0):
			return 0, true // also NaN
		case t >= math.Ldexp(1, width):
			return high, true
		}
		bits, changed = uint64(t), t != f
	}
	if bits > high {
		return high, true
	}
	return bits, changed
}
