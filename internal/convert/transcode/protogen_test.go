package transcode

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// A protoGen makes random descriptors and messages.
type protoGen struct{ *rand.Rand }

// file makes a file of a few messages; those with a higher index are used by
// those with a lower one, and now and then in reverse.
func (g *protoGen) file() *descriptorpb.FileDescriptorProto {
	f := &descriptorpb.FileDescriptorProto{Name: proto.String("t.proto"), Package: proto.String("a.b"),
		Syntax: proto.String("proto2")}
	if g.IntN(3) == 0 {
		f.Syntax = proto.String("proto3")
	}
	f.EnumType = []*descriptorpb.EnumDescriptorProto{{Name: proto.String("Color"),
		Value: []*descriptorpb.EnumValueDescriptorProto{
			{Name: proto.String("RED"), Number: proto.Int32(0)}, {Name: proto.String("BLUE"), Number: proto.Int32(7)},
			{Name: proto.String("DARK"), Number: proto.Int32(-3)}}}}
	n := 1 + g.IntN(4)
	for i := range n {
		f.MessageType = append(f.MessageType, g.message(f, i, n))
	}
	return f
}

func (g *protoGen) message(f *descriptorpb.FileDescriptorProto, index, n int) *descriptorpb.DescriptorProto {
	m := &descriptorpb.DescriptorProto{Name: proto.String(fmt.Sprintf("M%d", index))}
	proto3 := f.GetSyntax() == "proto3"
	number := int32(0)
	for i := range g.IntN(8) {
		number += int32(1 + g.IntN(3)*g.IntN(200))
		fd := &descriptorpb.FieldDescriptorProto{Name: proto.String(fmt.Sprintf("f%d", i)), Number: proto.Int32(number),
			Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(), Type: genTypes[g.IntN(len(genTypes))].Enum()}
		if g.IntN(3) == 0 {
			fd.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
		} else if !proto3 && g.IntN(10) == 0 {
			fd.Label = descriptorpb.FieldDescriptorProto_LABEL_REQUIRED.Enum()
		}
		switch fd.GetType() {
		case descriptorpb.FieldDescriptorProto_TYPE_GROUP:
			if proto3 {
				fd.Type = descriptorpb.FieldDescriptorProto_TYPE_INT32.Enum()
				break
			}
			sub := &descriptorpb.DescriptorProto{Name: proto.String(fmt.Sprintf("F%d", i)),
				Field: []*descriptorpb.FieldDescriptorProto{
					{Name: proto.String("x"), Number: proto.Int32(2), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
						Type: descriptorpb.FieldDescriptorProto_TYPE_SINT64.Enum()}}}
			m.NestedType = append(m.NestedType, sub)
			fd.TypeName = proto.String(fmt.Sprintf(".a.b.M%d.F%d", index, i))
		case descriptorpb.FieldDescriptorProto_TYPE_ENUM:
			fd.TypeName = proto.String(".a.b.Color")
		case descriptorpb.FieldDescriptorProto_TYPE_MESSAGE:
			target := index + 1 + g.IntN(max(1, n-index))
			if target >= n || g.IntN(12) == 0 {
				target = g.IntN(n) // perhaps a circle
			}
			fd.TypeName = proto.String(fmt.Sprintf(".a.b.M%d", target))
			if g.IntN(5) == 0 { // a map
				entry := &descriptorpb.DescriptorProto{Name: proto.String(fmt.Sprintf("F%dEntry", i)),
					Options: &descriptorpb.MessageOptions{MapEntry: proto.Bool(true)},
					Field: []*descriptorpb.FieldDescriptorProto{
						{Name: proto.String("key"), Number: proto.Int32(1),
							Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
							Type:  descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum()},
						{Name: proto.String("value"), Number: proto.Int32(2),
							Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
							Type:  descriptorpb.FieldDescriptorProto_TYPE_INT32.Enum()}}}
				m.NestedType = append(m.NestedType, entry)
				fd.TypeName = proto.String(fmt.Sprintf(".a.b.M%d.F%dEntry", index, i))
				fd.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
			}
		}
		g.decorate(m, fd, proto3)
		m.Field = append(m.Field, fd)
	}
	return m
}

// decorate adds defaults, packing and oneofs.
func (g *protoGen) decorate(m *descriptorpb.DescriptorProto, fd *descriptorpb.FieldDescriptorProto, proto3 bool) {
	repeated := fd.GetLabel() == descriptorpb.FieldDescriptorProto_LABEL_REPEATED
	if repeated {
		switch fd.GetType() {
		case 9, 10, 11, 12:
		default:
			fd.Options = &descriptorpb.FieldOptions{Packed: proto.Bool(g.IntN(2) == 0)}
		}
		return
	}
	if !proto3 && g.IntN(2) == 0 {
		defaults := map[descriptorpb.FieldDescriptorProto_Type]string{1: []string{"nan", "inf", "1.5"}[g.IntN(3)],
			2: []string{"nan", "-inf", "0"}[g.IntN(3)],
			3: "-9", 4: "9", 5: "-7", 6: "8", 7: "6", 8: "true", 9: "text", 12: `\001b`, 13: "5", 14: "BLUE", 15: "-4", 16: "-3",
			17: "-2", 18: "-1"}
		if v, ok := defaults[fd.GetType()]; ok {
			fd.DefaultValue = proto.String(v)
		}
	}
	if g.IntN(4) == 0 && fd.GetLabel() == descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL &&
		fd.GetType() != descriptorpb.FieldDescriptorProto_TYPE_GROUP {
		if len(m.OneofDecl) == 0 {
			m.OneofDecl = []*descriptorpb.OneofDescriptorProto{{Name: proto.String("choice")}}
		}
		fd.OneofIndex = proto.Int32(0)
	}
}

// fill sets fields at random.
func (g *protoGen) fill(m protoreflect.Message, depth int) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if f.Cardinality() != protoreflect.Required && (g.IntN(3) == 0 || depth > 4) {
			continue
		}
		switch {
		case f.IsMap():
			for range g.IntN(3) {
				m.Mutable(f).Map().Set(protoreflect.ValueOfString(fmt.Sprint(g.IntN(100))).MapKey(),
					protoreflect.ValueOfInt32(int32(g.Uint32())))
			}
		case f.IsList():
			for range g.IntN(4) {
				l := m.Mutable(f).List()
				if f.Message() != nil {
					g.fill(l.AppendMutable().Message(), depth+1)
				} else {
					l.Append(g.scalar(f))
				}
			}
		case f.Message() != nil:
			if depth < 8 {
				g.fill(m.Mutable(f).Message(), depth+1)
			}
		default:
			m.Set(f, g.scalar(f))
		}
	}
}

func (g *protoGen) scalar(f protoreflect.FieldDescriptor) protoreflect.Value {
	small := g.Uint64() >> g.IntN(64)
	switch f.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(g.IntN(2) == 0)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber([]int32{0, 7, -3}[g.IntN(3)]))
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(int32(small))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(uint32(small))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(int64(small))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(small)
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(float32(g.NormFloat64()))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(g.NormFloat64())
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(fmt.Sprint("s", small)[:1+g.IntN(2)])
	}
	return protoreflect.ValueOfBytes([]byte(fmt.Sprint(small))[:1])
}

// naive writes a message as the generated type, by reflection. It is the
// reference: slow, and obvious.
func naive(w *ros.Writer, m protoreflect.Message, s *protoschema.Struct) {
	if len(s.Slots) == 0 && w.CDR() {
		w.U8(0)
	}
	for _, sl := range s.Slots {
		if sl.Form == protoschema.OneCase {
			n := uint32(0)
			if f := m.WhichOneof(sl.Case); f != nil {
				n = uint32(f.Number())
			}
			w.U32(n)
			continue
		}
		f := sl.Field
		switch {
		case f.IsMap():
			mp := m.Get(f).Map()
			keys, _ := sortedKeys(mp)
			w.U32(uint32(len(keys)))
			for _, k := range keys {
				w.String([]byte(k.String()))
				w.U32(uint32(mp.Get(k).Int()))
			}
		case f.IsList():
			l := m.Get(f).List()
			w.U32(uint32(l.Len()))
			for i := range l.Len() {
				naiveValue(w, l.Get(i), f, &sl)
			}
		default:
			if sl.Form == protoschema.Raw && !m.Has(f) {
				w.Bytes(nil)
				continue
			}
			naiveValue(w, m.Get(f), f, &sl)
		}
	}
}

func sortedKeys(mp protoreflect.Map) (keys []protoreflect.MapKey, n int) {
	mp.Range(func(k protoreflect.MapKey, _ protoreflect.Value) bool {
		keys = append(keys, k)
		return true
	})
	for i := range keys {
		for j := i; j > 0 && keys[j].String() < keys[j-1].String(); j-- {
			keys[j], keys[j-1] = keys[j-1], keys[j]
		}
	}
	return keys, len(keys)
}

func naiveValue(w *ros.Writer, v protoreflect.Value, f protoreflect.FieldDescriptor, sl *protoschema.Slot) {
	switch f.Kind() {
	case protoreflect.BoolKind:
		w.Bool(v.Bool())
	case protoreflect.EnumKind:
		w.U32(uint32(v.Enum()))
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		w.U32(uint32(v.Int()))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		w.U32(uint32(v.Uint()))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		w.U64(uint64(v.Int()))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		w.U64(v.Uint())
	case protoreflect.FloatKind:
		w.F32(float32(v.Float()))
	case protoreflect.DoubleKind:
		w.F64(v.Float())
	case protoreflect.StringKind:
		w.String([]byte(v.String()))
	case protoreflect.BytesKind:
		w.Bytes(v.Bytes())
	default:
		if sl.Form == protoschema.Raw {
			b, _ := proto.MarshalOptions{Deterministic: true, AllowPartial: true}.Marshal(v.Message().Interface())
			w.Bytes(b)
			return
		}
		naive(w, v.Message(), sl.Struct)
	}
}

// random makes a type and a message of it; nil when the descriptor is one that
// protobuf refuses or that has no ROS type.
func (g *protoGen) random(t testing.TB) (md protoreflect.MessageDescriptor, gen *schema.Message) {
	data, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{g.file()}})
	if err != nil {
		t.Fatal(err)
	}
	set, err := protoschema.Parse(data)
	if err != nil {
		return nil, nil
	}
	if md, err = set.Message("a.b.M0"); err != nil {
		t.Fatal(err)
	}
	if gen, err = protoschema.NewNamer(true).ROS(md); err != nil {
		t.Fatal(err)
	}
	return md, gen
}

// shuffle returns the same message with its fields in another order; those of
// one number, and of one oneof, keep theirs.
func (g *protoGen) shuffle(src []byte) []byte {
	byNumber := map[protowire.Number][]byte{}
	var numbers []protowire.Number
	for p := src; len(p) > 0; {
		num, _, n := protowire.ConsumeField(p)
		if _, seen := byNumber[num]; !seen {
			numbers = append(numbers, num)
		}
		byNumber[num] = append(byNumber[num], p[:n]...)
		p = p[n:]
	}
	g.Shuffle(len(numbers), func(i, j int) { numbers[i], numbers[j] = numbers[j], numbers[i] })
	var out []byte
	for _, n := range numbers {
		out = append(out, byNumber[n]...)
	}
	return out
}
