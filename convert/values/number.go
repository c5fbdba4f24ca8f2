package values

import (
	"math"
	"unsafe"
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
func widen(bits uint64, k kind, size int) uint64 {
	switch {
	case k == signed:
		shift := 64 - 8*size
		return uint64(int64(bits) << shift >> shift)
	case k == float && size == 4:
		return math.Float64bits(float64(math.Float32frombits(uint32(bits))))
	}
	return bits
}

// convert returns the bits of a number as one of another kind; false if that does not have the value.
func convert(bits uint64, from, to kind, size int) (uint64, bool) {
	switch to {
	case float:
		return toFloat(bits, from, size)
	case signed:
		return toSigned(bits, from, size)
	}
	return toUnsigned(bits, from, size)
}

func toFloat(bits uint64, from kind, size int) (uint64, bool) {
	f := math.Float64frombits(bits)
	switch from {
	case signed:
		if f = float64(int64(bits)); f >= 1<<63 || int64(f) != int64(bits) {
			return 0, false
		}
	case unsigned:
		if f = float64(bits); f >= 1<<64 || uint64(f) != bits {
			return 0, false
		}
	}
	if size == 8 {
		return math.Float64bits(f), true
	}
	g := float32(f)
	return uint64(math.Float32bits(g)), float64(g) == f || f != f
}

func toSigned(bits uint64, from kind, size int) (uint64, bool) {
	v := int64(bits)
	switch from {
	case unsigned:
		if v < 0 {
			return 0, false
		}
	case float:
		f := math.Float64frombits(bits)
		if !(f >= -1<<63 && f < 1<<63) || math.Trunc(f) != f {
			return 0, false
		}
		v = int64(f)
	}
	shift := 64 - 8*size
	return uint64(v), v<<shift>>shift == v
}

func toUnsigned(bits uint64, from kind, size int) (uint64, bool) {
	switch from {
	case signed:
		if int64(bits) < 0 {
			return 0, false
		}
	case float:
		f := math.Float64frombits(bits)
		if !(f >= 0 && f < 1<<64) || math.Trunc(f) != f {
			return 0, false
		}
		bits = uint64(f)
	}
	shift := 64 - 8*size
	return bits, bits<<shift>>shift == bits
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
