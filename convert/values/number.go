package values

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/bagconv/bagconv/internal/message"
)

// load returns the bits of a number: an integer with its sign in 64 bits, a float as a float64.
func load(p unsafe.Pointer, k message.Kind, size int) uint64 { return widen(raw(p, size), k, size) }

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
func widen(bits uint64, k message.Kind, size int) uint64 { return k.Class().Widen(bits, 8*size) }

// convert returns the bits of a number as one of another kind; false if that does not have the value.
func convert(bits uint64, from, to message.Kind, size int) (uint64, bool) {
	bits, changed := from.Class().Convert(bits, to.Class(), 8*size)
	return bits, !changed
}

// asText is a number for an error.
func asText(bits uint64, k message.Kind) any {
	switch k {
	case message.Signed:
		return int64(bits)
	case message.Float:
		return math.Float64frombits(bits)
	}
	return bits
}

// swap turns the order of bytes around.
func swap(b []byte, size int) {
	for ; len(b) >= size && size > 1; b = b[size:] {
		for i := range size / 2 {
			b[i], b[size-1-i] = b[size-1-i], b[i]
		}
	}
}

var bigEndianHost = binary.NativeEndian.Uint16([]byte{1, 0}) != 1
