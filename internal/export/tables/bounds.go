package tables

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/parquet-go/parquet-go/format"

	"github.com/bagconv/bagconv/internal/export/columns"
)

// bounds are the least and the greatest of some values, in PLAIN without a length; nil: no values.
type bounds struct{ low, high []byte }

// maxBound is up to how many bytes a text is a bound.
const maxBound = 64

// boundsOf returns the bounds of values in PLAIN.
func boundsOf(f *columns.Field, physical format.Type, plain []byte) bounds {
	switch f.Kind {
	case columns.Binary, columns.FixedBinary:
		return bounds{}
	case columns.Bool:
		return integerBounds(numbers[uint8](plain))
	case columns.Text, columns.Enum:
		return textBounds(plain)
	case columns.Float32:
		return floatBounds(numbers[float32](plain))
	case columns.Float64:
		return floatBounds(numbers[float64](plain))
	case columns.Uint64:
		return integerBounds(numbers[uint64](plain))
	case columns.Uint8, columns.Uint16, columns.Uint32:
		return integerBounds(numbers[uint32](plain))
	}
	if physical == format.Int64 {
		return integerBounds(numbers[int64](plain))
	}
	return integerBounds(numbers[int32](plain))
}

func integerBounds[T uint8 | int32 | uint32 | int64 | uint64](values []T) bounds {
	if len(values) == 0 {
		return bounds{}
	}
	least, most := values[0], values[0]
	for _, v := range values {
		least, most = min(least, v), max(most, v)
	}
	return bounds{numberBytes(least), numberBytes(most)}
}

// floatBounds skips what is no number; a zero is the lesser one as the least and the greater one as the most.
func floatBounds[T float32 | float64](values []T) bounds {
	least, most := T(math.Inf(1)), T(math.Inf(-1))
	there := false
	for _, v := range values {
		if v < least {
			least = v
		}
		if v > most {
			most = v
		}
		there = there || v == v
	}
	if !there {
		return bounds{}
	}
	if least == 0 {
		least = T(math.Copysign(0, -1))
	}
	if most == 0 {
		most = 0
	}
	return bounds{numberBytes(least), numberBytes(most)}
}

func numberBytes[T any](v T) []byte {
	return bytes.Clone(unsafe.Slice((*byte)(unsafe.Pointer(&v)), unsafe.Sizeof(v)))
}

func textBounds(plain []byte) (b bounds) {
	for len(plain) >= 4 {
		n := binary.LittleEndian.Uint32(plain)
		v := plain[4:][:n]
		plain = plain[4+n:]
		if b.low == nil || bytes.Compare(v, b.low) < 0 {
			b.low = v
		}
		if b.high == nil || bytes.Compare(v, b.high) > 0 {
			b.high = v
		}
	}
	if len(b.low) > maxBound || len(b.high) > maxBound || len(b.low) == 0 {
		return bounds{} // nor if the least is empty, which Thrift's writer leaves out
	}
	return bounds{bytes.Clone(b.low), bytes.Clone(b.high)}
}

// join returns the bounds of two sets of values.
func (b bounds) join(c bounds, f *columns.Field) bounds {
	switch {
	case b.low == nil:
		return c
	case c.low == nil:
		return b
	}
	if compare(c.low, b.low, f) < 0 {
		b.low = c.low
	}
	if compare(c.high, b.high, f) > 0 {
		b.high = c.high
	}
	return b
}

// compare compares two bounds.
func compare(a, b []byte, f *columns.Field) int {
	switch f.Kind {
	case columns.Text, columns.Enum, columns.Bool:
		return bytes.Compare(a, b)
	case columns.Float32:
		return cmp.Compare(number[float32](a), number[float32](b))
	case columns.Float64:
		return cmp.Compare(number[float64](a), number[float64](b))
	case columns.Uint64:
		return cmp.Compare(number[uint64](a), number[uint64](b))
	case columns.Uint8, columns.Uint16, columns.Uint32:
		return cmp.Compare(number[uint32](a), number[uint32](b))
	}
	if len(a) == 8 {
		return cmp.Compare(number[int64](a), number[int64](b))
	}
	return cmp.Compare(number[int32](a), number[int32](b))
}

func number[T any](b []byte) (v T) {
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&v)), unsafe.Sizeof(v)), b)
	return v
}
