package render

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/bagconv/bagconv/internal/convert/transcode"
)

// hostileDescriptor is a message with itself in it, a list of itself, a packed
// list, a group, a map and a oneof.
func hostileDescriptor(t testing.TB) protoreflect.MessageDescriptor {
	field := func(name string, num int32, label descriptorpb.FieldDescriptorProto_Label,
		typ descriptorpb.FieldDescriptorProto_Type, of string) *descriptorpb.FieldDescriptorProto {
		f := &descriptorpb.FieldDescriptorProto{Name: &name, Number: &num, Label: label.Enum(), Type: typ.Enum()}
		if of != "" {
			f.TypeName = &of
		}
		return f
	}
	const (
		one  = descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL
		many = descriptorpb.FieldDescriptorProto_LABEL_REPEATED
		num  = descriptorpb.FieldDescriptorProto_TYPE_INT32
		msg  = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE
	)
	packed := field("packed", 3, many, descriptorpb.FieldDescriptorProto_TYPE_SINT64, "")
	packed.Options = &descriptorpb.FieldOptions{Packed: proto.Bool(true)}
	a, b := field("a", 8, one, descriptorpb.FieldDescriptorProto_TYPE_FLOAT, ""), field("b", 9, one, msg, ".h.M")
	a.OneofIndex, b.OneofIndex = proto.Int32(0), proto.Int32(0)
	fd, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{Name: proto.String("h.proto"),
		Package: proto.String("h"), Syntax: proto.String("proto2"),
		MessageType: []*descriptorpb.DescriptorProto{{Name: proto.String("M"),
			OneofDecl: []*descriptorpb.OneofDescriptorProto{{Name: proto.String("o")}},
			NestedType: []*descriptorpb.DescriptorProto{
				{Name: proto.String("G"), Field: []*descriptorpb.FieldDescriptorProto{field("n", 1, one, num, "")}},
				{Name: proto.String("TableEntry"), Options: &descriptorpb.MessageOptions{MapEntry: proto.Bool(true)},
					Field: []*descriptorpb.FieldDescriptorProto{field("key", 1, one, num, ""), field("value", 2, one, msg, ".h.M")}}},
			Field: []*descriptorpb.FieldDescriptorProto{
				field("n", 1, one, num, ""), field("self", 2, one, msg, ".h.M"), packed,
				field("text", 4, one, descriptorpb.FieldDescriptorProto_TYPE_BYTES, ""),
				field("g", 5, one, descriptorpb.FieldDescriptorProto_TYPE_GROUP, ".h.M.G"),
				field("list", 6, many, msg, ".h.M"), field("table", 7, many, msg, ".h.M.TableEntry"), a, b}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return fd.Messages().Get(0)
}

// nested puts a message into field num of itself, n times.
func nested(num protowire.Number, n int) []byte {
	var msg []byte
	for range n {
		msg = protowire.AppendBytes(protowire.AppendTag(nil, num, protowire.BytesType), msg)
	}
	return msg
}

func TestProtoHostile(t *testing.T) {
	md := hostileDescriptor(t)
	for name, c := range map[string]struct {
		msg  []byte
		want string
	}{
		"deep":    {nested(2, 1000), "nested more than 128 deep"},
		"cut":     {[]byte{8}, "field 1 is cut"},
		"tag":     {[]byte{0}, "tag is cut or wrong"},
		"group":   {[]byte{0x2b, 8, 1}, "field 5 is cut"},
		"packed":  {[]byte{0x1a, 1, 0x80}, "ends within a number"},
		"unknown": {[]byte{0x52, 5, 1}, "field 10 is cut"},
		"parts":   {parts(40, 1<<16), "come in parts"},
	} {
		for _, style := range []Style{JSON, YAML} {
			p, err := compileProto(md, Options{Style: style, Arrays: true})
			if err != nil {
				t.Fatal(err)
			}
			out, err := p.Append([]byte("old"), c.msg)
			if !errors.Is(err, transcode.ErrMalformed) || !strings.Contains(err.Error(), c.want) || string(out) != "old" {
				t.Errorf("%s: %d bytes, %v", name, len(out), err)
			}
		}
	}
}

// parts makes a message whose parts are put together anew on each level.
func parts(levels, size int) []byte {
	msg := protowire.AppendBytes(protowire.AppendTag(nil, 4, protowire.BytesType), make([]byte, size))
	for range levels {
		msg = protowire.AppendBytes(protowire.AppendTag(nil, 2, protowire.BytesType), msg)
		msg = append(msg, 0x12, 0) // a second, empty part
	}
	return msg
}

func TestProtoValues(t *testing.T) {
	md := hostileDescriptor(t)
	for _, c := range []struct {
		o    Options
		msg  string
		want string
	}{
		{Options{}, "", `{"n":0,"self":null,"packed":[],"text":{"$bytes":0},"g":null,"list":[],"table":[],"a":null,"b":null}`},
		{Options{Paths: []string{"self.n", "self", "list[0].n", "list.n", "packed[1]", "table.key", "a"}},
			"\x1a\x02\x01\x02\x32\x00\x3a\x00",
			`{"self.n":null,"self":null,"list[0].n":0,"list.n":[0],"packed[1]":"1","table.key":[0],"a":null}`},
		// the value of a map is always there
		{Options{Paths: []string{"table.value.n"}}, "\x3a\x00", `{"table.value.n":[0]}`},
		{Options{Paths: []string{"b", "a", "n"}}, "\x45\x00\x00\x00\x3f\x08\x01\x4a\x00\x08\x02",
			`{"b":{"n":0,"self":null,"packed":[],"text":{"$bytes":0},"g":null,"list":[],"table":[],"a":null,"b":null},"a":null,"n":2}`},
		{Options{Style: CSV, Paths: []string{"g", "self", "list", "text", "list[0]"}}, "\x2b\x08\x07\x2c\x22\x01z",
			`7,,[],eg==,`},
		{Options{Style: YAML, Paths: []string{"g", "self", "list[0]", "list"}}, "\x2b\x08\x07\x2c",
			"g:\n  n: 7\nself: null\n\"list[0]\": null\nlist: []"},
	} {
		p, err := compileProto(md, c.o)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := p.Append(nil, []byte(c.msg)); err != nil || string(out) != c.want {
			t.Errorf("%v\n got %s\nwant %s", err, out, c.want)
		}
	}
	// Fields that the descriptor does not have, or has with another wire type, are counted.
	p, err := compileProto(md, Options{Paths: []string{"n"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, msg := range []string{"\x50\x01", "\x0a\x01x", "\x08\x01"} {
		if out, err := p.Append(nil, []byte(msg)); err != nil {
			t.Errorf("%s, %v", out, err)
		}
	}
	if p.Unknown() != 2 {
		t.Errorf("%d messages with unknown fields", p.Unknown())
	}
	if p.Reset(); p.Unknown() != 0 {
		t.Error("not reset")
	}
}
