package verify_test

import (
	"encoding/binary"
	"math"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/testing/typetree"
)

func (e *faulty) tag(num protowire.Number, wire protowire.Type) {
	e.out = protowire.AppendTag(e.out, num, wire)
}

// protoMessage encodes a message of md, whose fields have the names of m's.
func (e *faulty) protoMessage(m *typetree.Message, v []typetree.Value, md protoreflect.MessageDescriptor) {
	v = e.swapped(m, e.inROS(m), v)
	for i := range m.Fields {
		f := &m.Fields[i]
		fd := md.Fields().ByName(protoreflect.Name(f.Name))
		num := fd.Number()
		if e.plant("wrong field number", !zero(v[i]) && f.Array != typetree.Fixed) {
			num += 1000
		}
		if e.plant("value that is no default left out", !zero(v[i])) {
			continue
		}
		if f.Array == typetree.One {
			e.protoValue(f, v[i], fd, num)
			continue
		}
		list := e.list(f, v[i].([]typetree.Value))
		if len(list) == 0 {
			continue
		}
		switch {
		case fd.Kind() == protoreflect.BytesKind:
			var b []byte
			for _, x := range list {
				_, bits := e.number(f, x)
				b = append(b, byte(bits))
			}
			e.tag(num, protowire.BytesType)
			e.out = protowire.AppendBytes(e.out, b)
		case fd.IsPacked():
			outer := e.out
			e.out = nil
			for _, x := range list {
				e.protoNumber(f, x, fd)
			}
			inner := e.out
			e.out = outer
			e.tag(num, protowire.BytesType)
			e.out = protowire.AppendBytes(e.out, inner)
		default:
			for _, x := range list {
				e.protoValue(f, x, fd, num)
			}
		}
	}
	if e.plant("field that nobody knows", true) {
		e.tag(5000, protowire.VarintType)
		e.out = append(e.out, 1)
	}
}

// zero reports whether it is a value that is not written: a NaN and -0 are none.
func zero(v typetree.Value) bool {
	switch x := v.(type) {
	case float64:
		return math.Float64bits(x) == 0
	case []typetree.Value:
		return !slices.ContainsFunc(x, func(v typetree.Value) bool { return !zero(v) })
	}
	return v == false || v == int64(0) || v == uint64(0) || v == "" || v == time.Duration(0)
}

func (e *faulty) protoValue(f *typetree.Field, v typetree.Value, fd protoreflect.FieldDescriptor,
	num protowire.Number) {
	switch x := v.(type) {
	case []typetree.Value:
		outer := e.out
		e.out = nil
		e.protoMessage(f.Message, x, fd.Message())
		e.wrap(outer, num)
	case time.Duration:
		sec, nsec := e.time(f, x)
		outer := e.out
		e.out = nil
		if sec != 0 {
			e.tag(1, protowire.VarintType)
			e.out = protowire.AppendVarint(e.out, uint64(sec))
		}
		if nsec != 0 {
			e.tag(2, protowire.VarintType)
			e.out = protowire.AppendVarint(e.out, uint64(nsec))
		}
		e.wrap(outer, num)
	case string:
		e.tag(num, protowire.BytesType)
		e.out = protowire.AppendString(e.out, e.content(x))
	default:
		at := len(e.out)
		wire := map[protoreflect.Kind]protowire.Type{protoreflect.Sfixed32Kind: protowire.Fixed32Type,
			protoreflect.Fixed32Kind: protowire.Fixed32Type, protoreflect.FloatKind: protowire.Fixed32Type,
			protoreflect.Sfixed64Kind: protowire.Fixed64Type, protoreflect.Fixed64Kind: protowire.Fixed64Type,
			protoreflect.DoubleKind: protowire.Fixed64Type}[fd.Kind()]
		e.tag(num, wire)
		e.protoNumber(f, v, fd)
		if e.plant("another wire type", wire != protowire.VarintType && !zero(v)) {
			e.out = e.out[:at]
			e.tag(num, protowire.VarintType)
			_, bits := e.number(f, v)
			e.out = protowire.AppendVarint(e.out, bits)
		}
	}
}

// wrap ends a message within another one.
func (e *faulty) wrap(outer []byte, num protowire.Number) {
	inner := e.out
	n := len(inner)
	if e.out = outer; e.plant("message too short", n > 0) {
		n--
	}
	e.tag(num, protowire.BytesType)
	e.out = append(protowire.AppendVarint(e.out, uint64(n)), inner...)
}

func (e *faulty) protoNumber(f *typetree.Field, v typetree.Value, fd protoreflect.FieldDescriptor) {
	size, bits := e.number(f, v)
	switch fd.Kind() {
	case protoreflect.Sfixed32Kind, protoreflect.Fixed32Kind, protoreflect.FloatKind:
		e.out = binary.LittleEndian.AppendUint32(e.out, uint32(bits))
	case protoreflect.Sfixed64Kind, protoreflect.Fixed64Kind, protoreflect.DoubleKind:
		e.out = binary.LittleEndian.AppendUint64(e.out, bits)
	case protoreflect.Sint32Kind:
		signed := int64(int8(bits))
		if size == 2 {
			signed = int64(int16(bits))
		}
		zigzag := protowire.EncodeZigZag(signed)
		if e.plant("sign not folded", signed != 0) {
			zigzag = uint64(signed)
		}
		if e.plant("sign lost", signed < 0) {
			zigzag = protowire.EncodeZigZag(int64(bits & (1<<(8*size) - 1)))
		}
		e.out = protowire.AppendVarint(e.out, zigzag)
	default:
		if bits &= 1<<(8*size) - 1; e.plant("sign that it has not", bits>>(8*size-1) == 1 &&
			fd.Kind() == protoreflect.Uint32Kind) {
			bits |= math.MaxUint64 << (8 * size)
		}
		e.out = protowire.AppendVarint(e.out, bits)
	}
}
