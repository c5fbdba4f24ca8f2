package apollo

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/wire/pb"
)

// fromSlot returns the number of a slot as its field can have it.
func (f *field) fromSlot(x uint64) uint64 {
	if f.real {
		switch f.Kind {
		case protoreflect.DoubleKind:
			return x
		case protoreflect.FloatKind:
			return uint64(narrow(x))
		}
		x = wholeNumber(math.Float64frombits(x))
	}
	switch f.Kind {
	case protoreflect.Uint32Kind:
		return uint64(uint32(x))
	case protoreflect.Int32Kind, protoreflect.EnumKind:
		return uint64(int64(int32(x)))
	case protoreflect.BoolKind:
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

// append writes the fields of v that are set and have a number from low to below
// high, by ascending number. Lists are left to the caller.
func (t *table) append(dst []byte, v *values, low, high protowire.Number) []byte {
	for _, f := range t.fields {
		switch {
		case f.Num < low || f.Num >= high || f.List:
		case f.sub != nil:
			if v.set&f.sub.has != 0 {
				dst = f.sub.appendAs(dst, f.Num, v)
			}
		case !v.has(f.slot):
		case f.Packs:
			dst = protowire.AppendTag(dst, f.Num, f.Wire)
			dst = pb.AppendNumber(dst, f.Kind, f.fromSlot(v.num[f.slot]))
		default:
			dst = protowire.AppendTag(dst, f.Num, f.Wire)
			dst = protowire.AppendBytes(dst, v.bytes(f.slot))
		}
	}
	return dst
}

// appendAs writes a message in the field of a number.
func (t *table) appendAs(dst []byte, num protowire.Number, v *values) []byte {
	dst = append(protowire.AppendTag(dst, num, protowire.BytesType), 0)
	return pb.EndBytes(t.append(dst, v, 0, maxNumber), len(dst)-1)
}

// maxNumber is above all field numbers.
const maxNumber = protowire.MaxValidNumber + 1
