package apollo

import (
	"math"
	"math/bits"

	"google.golang.org/protobuf/encoding/protowire"
)

// raw is a number of v as its field lies on the wire.
func (v *values) raw(f *field) uint64 {
	x := v.num[f.slot]
	if f.real {
		switch f.coding {
		case float64bits:
			return x
		case float32bits:
			return uint64(narrow(x))
		}
		x = wholeNumber(math.Float64frombits(x))
	}
	switch f.coding {
	case zigzag:
		return protowire.EncodeZigZag(int64(x))
	case uvarint32, fixed32, sfixed32:
		return uint64(uint32(x))
	case varint32:
		return uint64(int64(int32(x)))
	case boolean:
		return min(x, 1)
	}
	return x
}

// wholeNumber rounds r and clamps it to what 32 bits without a sign hold; not a
// number is 0.
func wholeNumber(r float64) uint64 {
	if !(r > 0) {
		return 0
	}
	return uint64(math.RoundToEven(min(r, math.MaxUint32)))
}

func varintSize(x uint64) int { return (bits.Len64(x|1) + 6) / 7 }

// size is how many bytes append takes for fields[from:to].
func (t *table) size(v *values) int {
	n := 0
	for i := range t.fields {
		f := &t.fields[i]
		tag := varintSize(uint64(f.num) << 3)
		switch f.coding {
		case nested:
			if v.set&f.sub.has != 0 {
				s := f.sub.size(v)
				n += tag + varintSize(uint64(s)) + s
			}
			continue
		case listed:
			continue
		}
		if !v.has(f.slot) {
			continue
		}
		n += tag
		switch wires[f.coding] {
		case protowire.VarintType:
			n += varintSize(v.raw(f))
		case protowire.Fixed32Type:
			n += 4
		case protowire.Fixed64Type:
			n += 8
		default:
			s := len(v.bytes(f.slot))
			n += varintSize(uint64(s)) + s
		}
	}
	return n
}

// append writes the fields of v that are set, by ascending number; those with a
// number from low to below high. Lists are left to the caller.
func (t *table) append(dst []byte, v *values, low, high protowire.Number) []byte {
	for i := range t.fields {
		f := &t.fields[i]
		if f.num < low || f.num >= high || f.coding == listed {
			continue
		}
		if f.coding == nested {
			if v.set&f.sub.has != 0 {
				dst = protowire.AppendTag(dst, f.num, protowire.BytesType)
				dst = protowire.AppendVarint(dst, uint64(f.sub.size(v)))
				dst = f.sub.append(dst, v, 0, maxNumber)
			}
			continue
		}
		if !v.has(f.slot) {
			continue
		}
		dst = protowire.AppendTag(dst, f.num, wires[f.coding])
		switch wires[f.coding] {
		case protowire.VarintType:
			dst = protowire.AppendVarint(dst, v.raw(f))
		case protowire.Fixed32Type:
			dst = protowire.AppendFixed32(dst, uint32(v.raw(f)))
		case protowire.Fixed64Type:
			dst = protowire.AppendFixed64(dst, v.raw(f))
		default:
			dst = protowire.AppendBytes(dst, v.bytes(f.slot))
		}
	}
	return dst
}

// maxNumber is above all field numbers.
const maxNumber = protowire.MaxValidNumber + 1
