package pb

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// everything describes a type with each kind of field, single, in a list and in a oneof, and
// messages of the same type. Numbers below 16 have a tag of one byte.
func everything(t testing.TB) protoreflect.MessageDescriptor {
	var fields []*descriptorpb.FieldDescriptorProto
	var groups []*descriptorpb.DescriptorProto
	add := func(kind protoreflect.Kind, label descriptorpb.FieldDescriptorProto_Label, oneof bool) {
		n := int32(len(fields) + 1)
		f := &descriptorpb.FieldDescriptorProto{Name: proto.String(fmt.Sprintf("f%d", n)), Number: &n, Label: label.Enum(),
			Type: descriptorpb.FieldDescriptorProto_Type(kind).Enum()}
		switch kind {
		case protoreflect.MessageKind:
			f.TypeName = proto.String(".r.M")
		case protoreflect.GroupKind: // a type of its own, with the first fields
			f.TypeName = proto.String(fmt.Sprintf(".r.M.F%d", n))
			g := &descriptorpb.DescriptorProto{Name: proto.String(fmt.Sprintf("F%d", n)), Field: fields[:3]}
			groups = append(groups, proto.CloneOf(g))
			for _, field := range groups[len(groups)-1].Field {
				field.OneofIndex = nil
			}
		case protoreflect.EnumKind:
			f.TypeName = proto.String(".r.E")
		}
		if oneof {
			f.OneofIndex = proto.Int32(0)
		}
		fields = append(fields, f)
	}
	const one, many = descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL, descriptorpb.FieldDescriptorProto_LABEL_REPEATED
	for _, kind := range []protoreflect.Kind{protoreflect.Int32Kind, protoreflect.StringKind, protoreflect.MessageKind,
		protoreflect.FloatKind} {
		add(kind, one, true)
	}
	for _, kind := range []protoreflect.Kind{protoreflect.MessageKind, protoreflect.GroupKind, protoreflect.BytesKind,
		protoreflect.Sint64Kind, protoreflect.Fixed32Kind} {
		add(kind, many, false)
		add(kind, one, false)
	}
	for kind := protoreflect.DoubleKind; kind <= protoreflect.Sint64Kind; kind++ {
		if _, number := WireOf(kind); number {
			add(kind, one, false)
			add(kind, many, false)
		}
	}
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{Name: proto.String("r.proto"),
		Package: proto.String("r"), Syntax: proto.String("proto2"),
		EnumType: []*descriptorpb.EnumDescriptorProto{{Name: proto.String("E"),
			Value: []*descriptorpb.EnumValueDescriptorProto{{Name: proto.String("Z"), Number: proto.Int32(0)}}}},
		MessageType: []*descriptorpb.DescriptorProto{{Name: proto.String("M"), NestedType: groups, Field: fields,
			OneofDecl: []*descriptorpb.OneofDescriptorProto{{Name: proto.String("o")}}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return file.Messages().Get(0)
}

// libraryText writes the values of a message that protobuf's own library has read.
func libraryText(b *strings.Builder, m protoreflect.Message) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		fd := fields.Get(i)
		if !m.Has(fd) {
			continue
		}
		fmt.Fprintf(b, " %d:", fd.Number())
		if !fd.IsList() {
			libraryValue(b, fd, m.Get(fd))
			continue
		}
		for list, k := m.Get(fd).List(), 0; k < list.Len(); k++ {
			libraryValue(b, fd, list.Get(k))
		}
	}
}

func libraryValue(b *strings.Builder, fd protoreflect.FieldDescriptor, v protoreflect.Value) {
	switch fd.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		b.WriteByte('{')
		libraryText(b, v.Message())
		b.WriteByte('}')
	case protoreflect.StringKind:
		fmt.Fprintf(b, "%x,", v.String())
	case protoreflect.BytesKind:
		fmt.Fprintf(b, "%x,", v.Bytes())
	case protoreflect.FloatKind: // a conversion to float64 makes signaling NaNs quiet
		if x := float32(v.Float()); x != x {
			b.WriteString("NaN,")
		} else {
			fmt.Fprintf(b, "%x,", math.Float32bits(x))
		}
	case protoreflect.DoubleKind:
		fmt.Fprintf(b, "%x,", math.Float64bits(v.Float()))
	case protoreflect.BoolKind:
		fmt.Fprintf(b, "%t,", v.Bool())
	case protoreflect.EnumKind:
		fmt.Fprintf(b, "%d,", v.Enum())
	case protoreflect.Uint32Kind, protoreflect.Uint64Kind, protoreflect.Fixed32Kind, protoreflect.Fixed64Kind:
		fmt.Fprintf(b, "%d,", v.Uint())
	default:
		fmt.Fprintf(b, "%d,", v.Int())
	}
}

// An indexReader writes the same as libraryText from an Index.
type indexReader struct {
	*Index
	types    map[protoreflect.FullName]*Type
	replaced bool // there were messages in a oneof that another member has replaced
}

func (x *indexReader) text(b *strings.Builder, md protoreflect.MessageDescriptor, message []byte) *Error {
	t := x.types[md.FullName()]
	if t == nil {
		t = TypeOf(md)
		x.types[md.FullName()] = t
	}
	var v View
	if err := x.Open(&v, t, message); err != nil {
		return err
	}
	defer x.Close(&v)
	met := map[int]int{}
	for s := Scan(message); s.Next(); {
		if i := t.Find(s.Num); i >= 0 && t.Fields[i].Parts && t.Fields[i].Takes(s.Wire) {
			met[i]++
		}
	}
	for i, n := range met {
		x.replaced = x.replaced || n != x.Count(&v, i)
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		var values strings.Builder
		switch {
		case x.Count(&v, i) == 0:
			continue
		case f.Parts && !f.List:
			content, _, err := x.Joined(&v, i)
			if err == nil {
				err = x.message(&values, md.Fields().Get(i), content)
			}
			if err != nil {
				return err
			}
		case f.Parts:
			for o := x.First(&v, i); !o.None(); o = x.Next(&v, o) {
				if err := x.message(&values, md.Fields().Get(i), v.Content(f, &o)); err != nil {
					return err
				}
			}
		case f.List:
			for o := x.First(&v, i); !o.None(); o = x.Next(&v, o) {
				content := message[o.Begin:o.End]
				if f.Packs {
					content = v.Numbers(f, &o)
				}
				if err := indexValues(&values, f, content); err != nil {
					return err
				}
			}
		default:
			begin, end, _ := x.Single(&v, i)
			if err := indexValues(&values, f, message[begin:end]); err != nil {
				return err
			}
		}
		if values.Len() > 0 { // else a packed list without numbers
			fmt.Fprintf(b, " %d:%s", f.Num, values.String())
		}
	}
	return nil
}

func (x *indexReader) message(b *strings.Builder, fd protoreflect.FieldDescriptor, content []byte) *Error {
	b.WriteByte('{')
	err := x.text(b, fd.Message(), content)
	b.WriteByte('}')
	return err
}

func indexValues(b *strings.Builder, f *Field, p []byte) *Error {
	if !f.Packs {
		fmt.Fprintf(b, "%x,", Content(f.Num, protowire.BytesType, p))
		return nil
	}
	for len(p) > 0 {
		v, n := Number(f.Kind, p)
		if n < 0 {
			return &Error{What: "a number is cut"}
		}
		switch p = p[n:]; f.Kind {
		case protoreflect.FloatKind:
			if x := math.Float32frombits(uint32(v)); x != x {
				b.WriteString("NaN,")
			} else {
				fmt.Fprintf(b, "%x,", uint32(v))
			}
		case protoreflect.DoubleKind:
			fmt.Fprintf(b, "%x,", v)
		case protoreflect.BoolKind:
			fmt.Fprintf(b, "%t,", v != 0)
		case protoreflect.Uint32Kind, protoreflect.Uint64Kind, protoreflect.Fixed32Kind, protoreflect.Fixed64Kind:
			fmt.Fprintf(b, "%d,", v)
		default:
			fmt.Fprintf(b, "%d,", int64(v))
		}
	}
	return nil
}

// FuzzMessage: in whatever bytes, a Scanner finds the fields that the reference finds, and an Index
// the values that protobuf's own library finds; it refuses what that refuses. Only the library has
// limits for the number of a field and for depth, and looks into messages that another member of
// their oneof replaces; only the Index has a limit for messages in parts.
func FuzzMessage(f *testing.F) {
	md := everything(f)
	typ, types := TypeOf(md), map[protoreflect.FullName]*Type{}
	var whole []byte
	for i := range typ.Fields {
		field := &typ.Fields[i]
		whole = protowire.AppendTag(whole, field.Num, field.Wire)
		switch field.Wire {
		case protowire.StartGroupType:
			whole = protowire.AppendTag(append(whole, 8, 1), field.Num, protowire.EndGroupType)
		case protowire.BytesType:
			whole = append(whole, 2, 8, 5)
		case protowire.Fixed32Type:
			whole = binary.LittleEndian.AppendUint32(whole, math.MaxUint32-5)
		case protowire.Fixed64Type:
			whole = binary.LittleEndian.AppendUint64(whole, math.MaxUint64-5)
		default:
			whole = protowire.AppendVarint(whole, math.MaxUint64-5)
		}
	}
	f.Add(whole)
	for _, m := range []string{"", "\x08\x96\x01", "\x12\x03abc\x19\x01\x02\x03\x04\x05\x06\x07\x08",
		"\x1b\x08\x01\x1c\x25\x01\x02\x03\x04", "\x1b\x08\x01\x24",
		"\x80\x01\x05", "\x88\x00\x05", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", "\x0a\xff\xff\xff\xff\x0f", "\x0e",
		"\x0c", "\x00", "\x13\x13\x14\x14", "\xf8\xff\xff\xff\x0f\x01"} {
		f.Add([]byte(m))
	}
	f.Add([]byte("\x08\x05\x12\x01a\x1a\x02\x08\x01\x1a\x02\x08\x02\x08\x05\x1a\x02\x12\x00"))        // a oneof
	f.Add([]byte("\x32\x02\x08\x01\x32\x02\x12\x00\x43\x08\x05\x44\x43\x0a\x00\x44\x62\x02\x01\x02")) // in parts; packed
	f.Fuzz(func(t *testing.T, message []byte) {
		compare(t, message)
		m := dynamicpb.NewMessage(md)
		refused := proto.UnmarshalOptions{AllowPartial: true}.Unmarshal(message, m)
		x, wrong := NewIndex(message)
		if wrong != nil {
			t.Fatal(wrong)
		}
		defer x.Release()
		var got, want strings.Builder
		reader := &indexReader{Index: x, types: types}
		wrong = reader.text(&got, md, message)
		if wrong != nil && strings.Contains(wrong.What, "in parts") {
			return
		}
		if refused != nil {
			if wrong == nil && !reader.replaced && !strings.Contains(refused.Error(), "recursion") && !largeNumber(message) {
				t.Fatalf("% x: %s, and protobuf refuses it: %v", message, got.String(), refused)
			}
			return
		}
		if wrong != nil {
			t.Fatalf("% x: %v, and protobuf reads it", message, wrong)
		}
		if libraryText(&want, m); got.String() != want.String() {
			t.Fatalf("% x:\n got %s\nwant %s", message, got.String(), want.String())
		}
	})
}

// largeNumber reports whether a message may have a field whose number is beyond 2^29-1.
func largeNumber(message []byte) bool {
	for i := range message {
		if tag, n := protowire.ConsumeVarint(message[i:]); n > 4 && tag>>3 > uint64(protowire.MaxValidNumber) {
			return true
		}
	}
	return false
}
