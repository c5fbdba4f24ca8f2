package apollo

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// parse reads the fields of a message b, which begins at offset at of the whole,
// into v. Of a value that comes twice the last counts, messages that come twice
// are merged. Fields that no rule wants are skipped; v.unknown says whether any
// of them, or a wanted one on another wire type, is not as the descriptor has it.
// Depth is that of the tables.
func (t *table) parse(v *values, b []byte, at int) error {
	for pos := 0; pos < len(b); {
		num, typ, k := consumeTag(b[pos:])
		if k < 0 {
			return malformed(at+pos, "a field's tag is cut or wrong")
		}
		start := pos
		pos += k
		f := t.find(num)
		if f == nil || wires[f.coding] != typ {
			if k = protowire.ConsumeFieldValue(num, typ, b[pos:]); k < 0 {
				return malformed(at+start, "an unknown field is cut or wrong")
			}
			pos += k
			v.unknown = v.unknown || f != nil || !t.leavesOut(num)
			continue
		}
		switch typ {
		case protowire.VarintType:
			x, k := consumeVarint(b[pos:])
			if k < 0 {
				return malformed(at+start, "a number is cut or too long")
			}
			pos += k
			v.number(f, x)
		case protowire.Fixed32Type:
			if len(b)-pos < 4 {
				return malformed(at+start, "a number is cut")
			}
			v.number(f, uint64(binary.LittleEndian.Uint32(b[pos:])))
			pos += 4
		case protowire.Fixed64Type:
			if len(b)-pos < 8 {
				return malformed(at+start, "a number is cut")
			}
			v.number(f, binary.LittleEndian.Uint64(b[pos:]))
			pos += 8
		default:
			n, k := consumeVarint(b[pos:])
			if k < 0 || n > uint64(len(b)-pos-k) {
				return malformed(at+start, "a field is longer than its message")
			}
			pos += k
			value := b[pos : pos+int(n)]
			pos += int(n)
			switch f.coding {
			case bytesText:
				v.setBytes(f.slot, value)
			case nested:
				if err := f.sub.parse(v, value, at+pos-int(n)); err != nil {
					return err
				}
			case listed:
				if v.count == 0 {
					v.first = at + start
				}
				v.count++
				v.last = at + pos
			}
		}
	}
	return nil
}

// number stores a number that lies on the wire as x.
func (v *values) number(f *field, x uint64) {
	switch f.coding {
	case zigzag:
		x = uint64(protowire.DecodeZigZag(x))
	case varint32, sfixed32:
		x = uint64(int64(int32(x)))
	case uvarint32:
		x = uint64(uint32(x))
	case boolean:
		if x != 0 {
			x = 1
		}
	}
	if f.real {
		switch f.coding {
		case float64bits:
		case float32bits:
			x = widen(uint32(x))
		case varint, uvarint32, fixed32, fixed64:
			x = math.Float64bits(float64(x))
		default:
			x = math.Float64bits(float64(int64(x)))
		}
	}
	v.setInteger(f.slot, x)
}

// Go's conversions change the bits of some NaN; these keep them.

// widen turns the bits of a float32 into those of a float64.
func widen(x uint32) uint64 {
	if x&infinite == infinite {
		return uint64(x>>31)<<63 | 0x7ff<<52 | uint64(x&0x7fffff)<<29
	}
	return math.Float64bits(float64(math.Float32frombits(x)))
}

// narrow turns the bits of a float64 into those of the nearest float32.
func narrow(x uint64) uint32 {
	r := math.Float64frombits(x)
	if math.IsNaN(r) && x>>29&0x7fffff != 0 {
		return uint32(x>>63)<<31 | infinite | uint32(x>>29)&0x7fffff
	}
	return math.Float32bits(float32(r))
}

// consumeTag reads a tag; a negative length says that it is cut or wrong.
func consumeTag(b []byte) (protowire.Number, protowire.Type, int) {
	if b[0] < 0x80 && b[0] >= 8 {
		return protowire.Number(b[0] >> 3), protowire.Type(b[0] & 7), 1
	}
	return protowire.ConsumeTag(b)
}

// consumeVarint reads a varint; a negative length says that it is cut or wrong.
func consumeVarint(b []byte) (uint64, int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	return protowire.ConsumeVarint(b)
}

// nextElement returns the next element of the list field num at or behind pos, and
// where to go on; ok is false when there is none before last. parse walked over
// these bytes before, so that nothing in them is cut.
func nextElement(b []byte, pos, last int, num protowire.Number) (element []byte, next int, ok bool) {
	for pos < last {
		n, typ, k := consumeTag(b[pos:last])
		if k < 0 {
			break
		}
		pos += k
		if n == num && typ == protowire.BytesType {
			size, k := consumeVarint(b[pos:last])
			if k < 0 || size > uint64(last-pos-k) {
				break
			}
			pos += k
			return b[pos : pos+int(size)], pos + int(size), true
		}
		if k = protowire.ConsumeFieldValue(n, typ, b[pos:last]); k < 0 {
			break
		}
		pos += k
	}
	return nil, last, false
}
