package values

import (
	"math"
	"unsafe"

	"github.com/bagconv/bagconv/schema"
)

// load returns the bits of a number: an integer with its sign in 64 bits, a float as a float64.
func load(p unsafe.Pointer, k kind, size int) uint64 { return widen(raw(p, size), k, size) }

// raw returns the bits of a number in memory.
func raw(p unsafe.Pointer, size int) uint64 {
	switch size {
	case 1:
		return uint64(*(*uint8)(p))
	case 2:
		return uint64(*(*uint16)(p))
	case 4:
		return uint64(*(*uint32)(p))
	}
	return *(*uint64)(p)
}

// setRaw is the way back.
func setRaw(p unsafe.Pointer, size int, bits uint64) {
	switch size {
	case 1:
		*(*uint8)(p) = uint8(bits)
	case 2:
		*(*uint16)(p) = uint16(bits)
	case 4:
		*(*uint32)(p) = uint32(bits)
	default:
		*(*uint64)(p) = bits
	}
}

// widen returns in 64 bits what has fewer.
func widen(bits uint64, k kind, size int) uint64 { return k.class().Widen(bits, 8*size) }

// convert returns the bits of a number as one of another kind; false if that does not have the value.
func convert(bits uint64, from, to kind, size int) (uint64, bool) {
	bits, changed := from.class().Convert(bits, to.class(), 8*size)
	return bits, !changed
}

// class returns what a kind is among numbers.
func (k kind) class() schema.NumberClass {
	switch k {
	case signed:
		return schema.Signed
	case float:
		return schema.Float
	}
	return schema.Unsigned
}

// asText is a number for an error.
func asText(bits uint64, k kind) any {
	switch k {
	case signed:
		return int64(bits)
	case float:
		return math.Float64frombits(bits)
	}
	return bits
}
