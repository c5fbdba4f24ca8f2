package pb

import (
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// A column is a field of a type whose messages can be rows.
type column struct {
	tag   byte
	wire  protowire.Type
	plain bool // a varint of this kind is its number
	kind  protoreflect.Kind
	index int // in Type.Fields
}

// columnsOf returns the fields in the order of their numbers; nil if a message of the type is never a row.
func (t *Type) columnsOf() []column {
	out := make([]column, 0, len(t.dense))
	for num, i := range t.dense {
		if i < 0 {
			continue
		}
		f := &t.Fields[i]
		if num > 15 || f.List || f.Parts || !f.Packs || f.Oneof >= 0 {
			return nil
		}
		plain := f.Kind == protoreflect.Uint64Kind || f.Kind == protoreflect.Int64Kind
		out = append(out, column{byte(num)<<3 | byte(f.Wire), f.Wire, plain, f.Kind, int(i)})
	}
	if len(out) < len(t.Fields) || len(out) == 0 {
		return nil
	}
	return out
}

// Rows reports whether messages of the type can be read by Row: all fields are single numbers.
func (t *Type) Rows() bool { return t.columns != nil }

// Row reads a message whose fields come in the order of their numbers, as writers have them, without an Index: it
// fills in the numbers of the fields that are set, by their index in the type, as Number returns them. With false the
// message is another one, or wrong, and numbers may have changed. The type has Rows.
func (t *Type) Row(message []byte, numbers []uint64) bool {
	at := 0
	for i := range t.columns {
		c := &t.columns[i]
		if at >= len(message) {
			return at == len(message)
		}
		if message[at] != c.tag {
			continue
		}
		p := message[at+1:]
		switch {
		case c.wire == protowire.Fixed32Type && len(p) >= 4 && c.kind != protoreflect.Sfixed32Kind:
			numbers[c.index] = uint64(binary.LittleEndian.Uint32(p))
			at += 1 + 4
		case c.wire == protowire.Fixed64Type && len(p) >= 8:
			numbers[c.index] = binary.LittleEndian.Uint64(p)
			at += 1 + 8
		case c.plain:
			v, n := protowire.ConsumeVarint(p)
			if n < 0 {
				return false
			}
			numbers[c.index] = v
			at += 1 + n
		default:
			v, n := Number(c.kind, p)
			if n < 0 {
				return false
			}
			numbers[c.index] = v
			at += 1 + n
		}
	}
	return at == len(message)
}
