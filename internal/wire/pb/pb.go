// Package pb reads protobuf's wire format: a Scanner goes over the fields of a message,
// one after the other, an Index finds the fields of a Type, and Number reads numbers.
//
//	message   fields, in any order
//	field     tag, value
//	tag       varint: number<<3 | wire type
//	value     by the wire type:
//	          0 varint    7 bits a byte, the lowest first, the eighth bit set but in the last
//	          1 fixed64   8 bytes, little endian
//	          2 bytes     varint length, so many bytes
//	          3 group     fields, and after them a tag of the number with wire type 4
//	          5 fixed32   4 bytes, little endian
//
// No length is trusted. What it returns points into the message.
package pb

import (
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// A Scanner walks over the fields of a message:
//
//	s := pb.Scan(message)
//	for s.Next() {
//		... s.Num, s.Wire, s.Value()
//	}
//	if at, what := s.Wrong(); what != "" { ... }
type Scanner struct {
	Num  protowire.Number
	Wire protowire.Type

	message    []byte
	begin, end int // of the value
	wrong      string
}

// Scan returns a scanner of a message.
func Scan(message []byte) Scanner { return Scanner{message: message} }

// Next goes to the next field; false at the end of the message, and if a field is cut
// or wrong.
func (s *Scanner) Next() bool {
	p := s.message[s.end:]
	if len(p) > 1 && p[0] >= 8 && p[0] < 0x80 { // nearly all
		n := 0
		switch wire := protowire.Type(p[0] & 7); {
		case wire == protowire.Fixed64Type:
			n = 1 + 8
		case wire == protowire.Fixed32Type:
			n = 1 + 4
		case p[1] >= 0x80:
		case wire == protowire.BytesType:
			n = 2 + int(p[1])
		case wire == protowire.VarintType:
			n = 2
		}
		if n > 0 && n <= len(p) {
			s.Num, s.Wire = protowire.Number(p[0]>>3), protowire.Type(p[0]&7)
			s.begin = s.end + 1
			s.end += n
			return true
		}
	}
	return s.next(p)
}

func (s *Scanner) next(p []byte) bool {
	if len(p) == 0 {
		return false
	}
	num, wire, k := protowire.ConsumeTag(p)
	if k < 0 {
		s.wrong = "a field's tag is cut or wrong"
		return false
	}
	n := protowire.ConsumeFieldValue(num, wire, p[k:])
	if n < 0 {
		s.wrong = fmt.Sprintf("field %d is cut or wrong: %d bytes are left", num, len(p)-k)
		return false
	}
	s.Num, s.Wire = num, wire
	s.begin = s.end + k
	s.end = s.begin + n
	return true
}

// run goes over the fields right behind this one that have its number and fewer than 128 bytes, with a tag and a
// length of one byte each, and returns how many there are: the elements of a list.
func (s *Scanner) run() (n int32) {
	if s.Num > 15 {
		return 0
	}
	tag, p, at := byte(s.Num)<<3|byte(protowire.BytesType), s.message, s.end
	for at+1 < len(p) && p[at] == tag && p[at+1] < 0x80 {
		next := at + 2 + int(p[at+1])
		if next > len(p) {
			break
		}
		at = next
		n++
	}
	s.end = at
	return n
}

// Value returns all of the value: of bytes with their length, of a group with its end.
func (s *Scanner) Value() []byte { return s.message[s.begin:s.end] }

// Content returns the content of the field, if it is bytes or a group.
func (s *Scanner) Content() []byte { return Content(s.Num, s.Wire, s.Value()) }

// Pos returns where the value of the field begins in the message.
func (s *Scanner) Pos() int { return s.begin }

// End returns where the field ends in the message.
func (s *Scanner) End() int { return s.end }

// Wrong returns what ended the walk before the end of the message, and where the
// field begins that is cut or wrong; "" if no field is.
func (s *Scanner) Wrong() (at int, what string) { return s.end, s.wrong }

// Content returns what is in a whole value: the bytes without their length, the
// fields of a group without its end.
func Content(num protowire.Number, wire protowire.Type, value []byte) (content []byte) {
	switch {
	case wire == protowire.StartGroupType:
		content, _ = protowire.ConsumeGroup(num, value)
	case len(value) > 0 && value[0] < 0x80:
		content = value[1:]
	default:
		content, _ = protowire.ConsumeBytes(value)
	}
	return content
}

// WireOf returns the wire type of one value of a kind, and whether it is a number,
// which lists may have packed.
func WireOf(k protoreflect.Kind) (wire protowire.Type, number bool) {
	switch k {
	case protoreflect.GroupKind:
		return protowire.StartGroupType, false
	case protoreflect.MessageKind, protoreflect.StringKind, protoreflect.BytesKind:
		return protowire.BytesType, false
	case protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind, protoreflect.FloatKind:
		return protowire.Fixed32Type, true
	case protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind, protoreflect.DoubleKind:
		return protowire.Fixed64Type, true
	}
	return protowire.VarintType, true
}

// Number reads the number of a kind at the start of p; n is its length, negative if it
// is cut or wrong. Numbers with a sign have it in 64 bits, a bool is 0 or 1, floats are
// their bits. Of kinds of 32 bits the upper ones on the wire do not count.
func Number(k protoreflect.Kind, p []byte) (v uint64, n int) {
	switch k {
	case protoreflect.DoubleKind, protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind:
		if len(p) < 8 {
			return 0, -1
		}
		return binary.LittleEndian.Uint64(p), 8
	case protoreflect.FloatKind, protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind:
		if len(p) < 4 {
			return 0, -1
		}
		if v = uint64(binary.LittleEndian.Uint32(p)); k == protoreflect.Sfixed32Kind {
			v = uint64(int64(int32(v)))
		}
		return v, 4
	}
	if len(p) > 0 && p[0] < 0x80 {
		v, n = uint64(p[0]), 1
	} else {
		v, n = protowire.ConsumeVarint(p)
	}
	switch k {
	case protoreflect.BoolKind:
		v = min(v, 1)
	case protoreflect.Int32Kind, protoreflect.EnumKind:
		v = uint64(int64(int32(v)))
	case protoreflect.Uint32Kind:
		v = uint64(uint32(v))
	case protoreflect.Sint32Kind:
		v = uint64(int64(int32(protowire.DecodeZigZag(uint64(uint32(v))))))
	case protoreflect.Sint64Kind:
		v = uint64(protowire.DecodeZigZag(v))
	}
	return v, n
}

// AppendNumber appends a number of a kind, as Number returns it.
func AppendNumber(dst []byte, k protoreflect.Kind, v uint64) []byte {
	switch k {
	case protoreflect.FloatKind, protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind:
		return binary.LittleEndian.AppendUint32(dst, uint32(v))
	case protoreflect.DoubleKind, protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind:
		return binary.LittleEndian.AppendUint64(dst, v)
	case protoreflect.Sint32Kind, protoreflect.Sint64Kind:
		v = protowire.EncodeZigZag(int64(v))
	}
	return protowire.AppendVarint(dst, v)
}

// EndBytes fills in the length of all that stands after the byte at head, which is a 0
// for it, and makes room if it takes more bytes.
func EndBytes(b []byte, head int) []byte {
	n := len(b) - head - 1
	if n < 0x80 {
		b[head] = byte(n)
		return b
	}
	more := protowire.SizeVarint(uint64(n)) - 1
	b = append(b, make([]byte, more)...)
	copy(b[head+1+more:], b[head+1:head+1+n])
	protowire.AppendVarint(b[:head], uint64(n))
	return b
}

// Default returns the default of a number, as Number returns it.
func Default(fd protoreflect.FieldDescriptor) uint64 {
	v := fd.Default()
	switch fd.Kind() {
	case protoreflect.BoolKind:
		if v.Bool() {
			return 1
		}
		return 0
	case protoreflect.EnumKind:
		return uint64(int64(v.Enum()))
	case protoreflect.FloatKind:
		return uint64(math.Float32bits(float32(v.Float())))
	case protoreflect.DoubleKind:
		return math.Float64bits(v.Float())
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind, protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return v.Uint()
	}
	return uint64(v.Int())
}

// Count returns how many whole numbers of a wire type are packed in p.
func Count(wire protowire.Type, p []byte) (n int) {
	if width := Width(wire); width > 0 {
		return len(p) / width
	}
	for _, b := range p {
		if b < 0x80 {
			n++
		}
	}
	return n
}

// Width returns how many bytes each number of a wire type takes, 0 if that differs.
func Width(wire protowire.Type) int {
	switch wire {
	case protowire.Fixed32Type:
		return 4
	case protowire.Fixed64Type:
		return 8
	}
	return 0
}

// Time reads a google.protobuf.Timestamp or Duration: {1 int64 seconds, 2 int32 nanos}. Of an error the offset is
// counted from the start of p.
func Time(p []byte) (sec, nsec int64, err *Error) {
	fields := Scan(p)
	for fields.Next() {
		if fields.Wire != protowire.VarintType {
			continue
		}
		switch v, _ := Number(protoreflect.Int64Kind, fields.Value()); fields.Num {
		case 1:
			sec = int64(v)
		case 2:
			nsec = int64(int32(v))
		}
	}
	if at, what := fields.Wrong(); what != "" {
		return 0, 0, &Error{At: at, What: what}
	}
	return sec, nsec, nil
}
