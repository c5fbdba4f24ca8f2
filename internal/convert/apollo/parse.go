package apollo

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/wire/pb"
)

// parse reads the fields of a message b, which begins at offset at of the whole,
// into v. If a value comes twice the last one counts; messages that come twice
// are merged. Fields that no rule wants are skipped; v.unknown reports whether any
// of them, or a wanted field on another wire type, is not as the descriptor has it.
// The tables bound the depth.
func (t *table) parse(v *values, b []byte, at int) error {
	fields := pb.Scan(b)
	for begin := 0; fields.Next(); begin = fields.End() {
		i := t.typ.Find(fields.Num)
		var f *field
		if i >= 0 {
			f = t.byIndex[i]
		}
		switch {
		case f == nil || f.Wire != fields.Wire:
			v.unknown = v.unknown || f != nil || i < 0
		case f.Kind == protoreflect.DoubleKind: // most are
			v.setInteger(f.slot, binary.LittleEndian.Uint64(fields.Value()))
		case f.List:
			if v.count == 0 {
				v.first = at + begin
			}
			v.count++
			v.last = at + fields.End()
		case f.sub != nil:
			inner := fields.Content()
			if err := f.sub.parse(v, inner, at+fields.End()-len(inner)); err != nil {
				return err
			}
		case f.Packs:
			x, _ := pb.Number(f.Kind, fields.Value())
			v.setInteger(f.slot, f.toSlot(x))
		default:
			v.setBytes(f.slot, fields.Content())
		}
	}
	if wrong, what := fields.Wrong(); what != "" {
		return malformed(at+wrong, what)
	}
	return nil
}

// toSlot returns a number as its slot has it.
func (f *field) toSlot(x uint64) uint64 {
	if !f.real {
		return x
	}
	switch f.Kind {
	case protoreflect.DoubleKind:
		return x
	case protoreflect.FloatKind:
		return widen(uint32(x))
	case protoreflect.Uint32Kind, protoreflect.Uint64Kind, protoreflect.Fixed32Kind, protoreflect.Fixed64Kind:
		return math.Float64bits(float64(x))
	}
	return math.Float64bits(float64(int64(x)))
}

// Go's conversions change the bits of some NaN; these keep them.

// widen turns the bits of a float32 into the bits of a float64.
func widen(x uint32) uint64 {
	if x&infinite == infinite {
		return uint64(x>>31)<<63 | 0x7ff<<52 | uint64(x&0x7fffff)<<29
	}
	return math.Float64bits(float64(math.Float32frombits(x)))
}

// narrow turns the bits of a float64 into the bits of the nearest float32.
func narrow(x uint64) uint32 {
	r := math.Float64frombits(x)
	if math.IsNaN(r) && x>>29&0x7fffff != 0 {
		return uint32(x>>63)<<31 | infinite | uint32(x>>29)&0x7fffff
	}
	return math.Float32bits(float32(r))
}

// nextElement returns the next element of the list field num at or after pos, and
// where to go on; ok is false if no element is before last. parse walked over
// these bytes before, so that nothing in them is cut.
func nextElement(b []byte, pos, last int, num protowire.Number) (element []byte, next int, ok bool) {
	fields := pb.Scan(b[pos:last])
	for fields.Next() {
		if fields.Num == num && fields.Wire == protowire.BytesType {
			return fields.Content(), pos + fields.End(), true
		}
	}
	return nil, last, false
}
