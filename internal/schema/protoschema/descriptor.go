package protoschema

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/bagconv/bagconv/schema"
)

// An Origin is the ROS definition that a message was made from. It stands in the options of the
// message as field 50817, a message {1 dialect, 2 name, 3 text}, which every tool skips: so the way
// back makes the same type. The text is the text of the one type; the types that it uses have
// theirs with them.
type Origin struct{ Dialect, Name, Text string }

// originField is the number of the option, from the range that protobuf leaves
// to everybody (descriptor.proto: 50000 to 99999).
const originField = 50817

func (o *Origin) options() *descriptorpb.MessageOptions {
	var b []byte
	for i, s := range []string{o.Dialect, o.Name, o.Text} {
		b = protowire.AppendTag(b, protowire.Number(i+1), protowire.BytesType)
		b = protowire.AppendString(b, s)
	}
	opts := &descriptorpb.MessageOptions{}
	field := protowire.AppendTag(nil, originField, protowire.BytesType)
	opts.ProtoReflect().SetUnknown(protowire.AppendBytes(field, b))
	return opts
}

// OriginOf returns the ROS definition that md was made from, nil when it was not.
func OriginOf(md protoreflect.MessageDescriptor) *Origin {
	for p := []byte(md.Options().ProtoReflect().GetUnknown()); len(p) > 0; {
		num, typ, n := protowire.ConsumeTag(p)
		if n < 0 {
			return nil
		}
		m := protowire.ConsumeFieldValue(num, typ, p[n:])
		if m < 0 {
			return nil
		}
		if num == originField && typ == protowire.BytesType {
			v, _ := protowire.ConsumeBytes(p[n:])
			return parseOrigin(v)
		}
		p = p[n+m:]
	}
	return nil
}

func parseOrigin(p []byte) *Origin {
	o := &Origin{}
	for len(p) > 0 {
		num, typ, n := protowire.ConsumeTag(p)
		if n < 0 || typ != protowire.BytesType {
			return nil
		}
		v, m := protowire.ConsumeString(p[n:])
		if m < 0 {
			return nil
		}
		switch num {
		case 1:
			o.Dialect = v
		case 2:
			o.Name = v
		case 3:
			o.Text = v
		}
		p = p[n+m:]
	}
	return o
}

// Origins returns the ROS definitions of md and of all messages that its files
// define, by ROS name; nil when md was not made from one.
func Origins(md protoreflect.MessageDescriptor) map[string]*Origin {
	if OriginOf(md) == nil {
		return nil
	}
	out := map[string]*Origin{}
	seen := map[string]bool{}
	var visit func(f protoreflect.FileDescriptor)
	visit = func(f protoreflect.FileDescriptor) {
		if seen[f.Path()] || len(seen) > maxTypes {
			return
		}
		seen[f.Path()] = true
		for i := range f.Messages().Len() {
			if o := OriginOf(f.Messages().Get(i)); o != nil {
				out[o.Name] = o
			}
		}
		for i := range f.Imports().Len() {
			visit(f.Imports().Get(i).FileDescriptor)
		}
	}
	visit(md.ParentFile())
	return out
}

// Describe makes descriptors from a ROS type and returns them as a serialized FileDescriptorSet,
// dependencies first, with the name of the message. Syntax is proto2, as in all of Apollo: its
// strings, like the strings of ROS, need not be valid UTF-8. There is one file for each type. The
// rules:
//
//	pkg/Type, pkg/msg/Type     message Type in package pkg.msg
//	fields                     the same names, numbered in their order
//	int32, uint32, int64 ...   sfixed32, fixed32, sfixed64, fixed64: lists of them are copies
//	int8, int16                sint32;  uint8, uint16, char, byte: uint32
//	float32, float64, bool     float, double, bool
//	string, wstring            string
//	lists of bytes             bytes
//	time, duration             google.protobuf.Timestamp, google.protobuf.Duration
//	other lists and arrays     repeated; packed if they are of numbers
//
// Constants, bounds and lengths of arrays are in the Origin alone, which origin
// returns for each message; it may be nil.
func Describe(m *schema.Message, origin func(*schema.Message) *Origin) (data []byte, name string, err error) {
	d := &describer{origin: origin, made: map[*schema.Message]*descriptorpb.FileDescriptorProto{},
		byFile: map[string]*schema.Message{}}
	root, err := d.message(m)
	if err != nil {
		return nil, "", err
	}
	data, err = proto.MarshalOptions{Deterministic: true}.Marshal(&descriptorpb.FileDescriptorSet{File: d.files})
	return data, root.GetPackage() + "." + root.MessageType[0].GetName(), err
}

type describer struct {
	origin func(*schema.Message) *Origin
	files  []*descriptorpb.FileDescriptorProto // dependencies first
	made   map[*schema.Message]*descriptorpb.FileDescriptorProto
	byFile map[string]*schema.Message // by file name
	known  map[string]bool            // files of google.protobuf that were added
}

func (d *describer) message(m *schema.Message) (*descriptorpb.FileDescriptorProto, error) {
	if f := d.made[m]; f != nil {
		return f, nil
	}
	dir, short := "", m.Name
	if i := strings.LastIndexByte(m.Name, '/'); i >= 0 {
		dir, short = m.Name[:i], m.Name[i+1:]
	}
	if !strings.Contains(dir, "/") {
		dir += "/msg"
	}
	pkg := strings.Trim(strings.ReplaceAll(dir, "/", "."), ".")
	if !protoreflect.FullName(pkg + "." + short).IsValid() {
		return nil, fmt.Errorf("%q is not a name that protobuf allows", m.Name)
	}
	name := strings.ReplaceAll(pkg, ".", "/") + "/" + short + ".proto"
	switch other := d.byFile[name]; {
	case other != nil && d.made[other] != nil && schema.Equal(other, m):
		d.made[m] = d.made[other]
		return d.made[m], nil
	case other != nil:
		return nil, fmt.Errorf("two types would both be %s", name)
	}
	d.byFile[name] = m
	f := &descriptorpb.FileDescriptorProto{Name: proto.String(name), Package: proto.String(pkg)}
	msg := &descriptorpb.DescriptorProto{Name: proto.String(short)}
	imports := map[string]bool{}
	number := int32(0)
	json := map[string]bool{}
	for _, fld := range m.Fields {
		if number++; number == 19000 { // reserved for implementations up to 19999
			number = 20000
		}
		p := &descriptorpb.FieldDescriptorProto{Name: proto.String(fld.Name), Number: proto.Int32(number),
			Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()}
		if !protoreflect.Name(fld.Name).IsValid() {
			return nil, fmt.Errorf("field %s of %s: no name that protobuf knows", fld.Name, m.Name)
		}
		if usual := jsonName(fld.Name); json[usual] {
			p.JsonName = proto.String(unique(json, fld.Name))
		} else {
			json[usual] = true
		}
		dep, err := d.field(p, fld.Type)
		if err != nil {
			return nil, fmt.Errorf("field %s of %s: %w", fld.Name, m.Name, err)
		}
		if dep != "" && !imports[dep] {
			imports[dep] = true
			f.Dependency = append(f.Dependency, dep)
		}
		msg.Field = append(msg.Field, p)
	}
	if d.origin != nil {
		msg.Options = d.origin(m).options()
	}
	f.MessageType = []*descriptorpb.DescriptorProto{msg}
	d.made[m] = f
	d.files = append(d.files, f)
	return f, nil
}

var protoKinds = map[schema.Kind]descriptorpb.FieldDescriptorProto_Type{
	schema.Bool:    descriptorpb.FieldDescriptorProto_TYPE_BOOL,
	schema.Int8:    descriptorpb.FieldDescriptorProto_TYPE_SINT32,
	schema.Int16:   descriptorpb.FieldDescriptorProto_TYPE_SINT32,
	schema.Uint8:   descriptorpb.FieldDescriptorProto_TYPE_UINT32,
	schema.Uint16:  descriptorpb.FieldDescriptorProto_TYPE_UINT32,
	schema.Byte:    descriptorpb.FieldDescriptorProto_TYPE_UINT32,
	schema.Char:    descriptorpb.FieldDescriptorProto_TYPE_UINT32,
	schema.IDLChar: descriptorpb.FieldDescriptorProto_TYPE_UINT32,
	schema.Int32:   descriptorpb.FieldDescriptorProto_TYPE_SFIXED32,
	schema.Enum:    descriptorpb.FieldDescriptorProto_TYPE_SFIXED32,
	schema.Uint32:  descriptorpb.FieldDescriptorProto_TYPE_FIXED32,
	schema.Int64:   descriptorpb.FieldDescriptorProto_TYPE_SFIXED64,
	schema.Uint64:  descriptorpb.FieldDescriptorProto_TYPE_FIXED64,
	schema.Float32: descriptorpb.FieldDescriptorProto_TYPE_FLOAT,
	schema.Float64: descriptorpb.FieldDescriptorProto_TYPE_DOUBLE,
	schema.String:  descriptorpb.FieldDescriptorProto_TYPE_STRING,
	schema.WString: descriptorpb.FieldDescriptorProto_TYPE_STRING,
}

// field fills in the type of p and returns the file to import for it.
func (d *describer) field(p *descriptorpb.FieldDescriptorProto, t schema.Type) (dep string, err error) {
	list := t.Array != schema.Single
	if list && isByte(t.Kind) {
		p.Type = descriptorpb.FieldDescriptorProto_TYPE_BYTES.Enum()
		return "", nil
	}
	if list {
		p.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
	}
	if kind, ok := protoKinds[t.Kind]; ok {
		p.Type = kind.Enum()
		if list && kind != descriptorpb.FieldDescriptorProto_TYPE_STRING {
			p.Options = &descriptorpb.FieldOptions{Packed: proto.Bool(true)}
		}
		return "", nil
	}
	p.Type = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum()
	switch timeOf(t) {
	case timestampName:
		p.TypeName = proto.String("." + timestampName)
		return d.wellKnown(timestamppb.File_google_protobuf_timestamp_proto), nil
	case durationName:
		p.TypeName = proto.String("." + durationName)
		return d.wellKnown(durationpb.File_google_protobuf_duration_proto), nil
	}
	if t.Kind != schema.Struct {
		return "", fmt.Errorf("a %s has no form in protobuf", t.Kind)
	}
	f, err := d.message(t.Message)
	if err != nil {
		return "", err
	}
	p.TypeName = proto.String("." + f.GetPackage() + "." + f.MessageType[0].GetName())
	return f.GetName(), nil
}

// jsonName returns the name that a field has in JSON if its descriptor names no other (protoc:
// without underscores, and what follows them in upper case). Readers refuse a message in which two
// fields have the same: a_b and aB.
func jsonName(name string) string {
	var b strings.Builder
	up := false
	for _, c := range []byte(name) {
		if c == '_' {
			up = true
			continue
		}
		if up && 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		b.WriteByte(c)
		up = false
	}
	return b.String()
}

// wellKnown adds one of protobuf's own files and returns its name.
func (d *describer) wellKnown(f protoreflect.FileDescriptor) string {
	if !d.known[f.Path()] {
		if d.known == nil {
			d.known = map[string]bool{}
		}
		d.known[f.Path()] = true
		d.files = append(d.files, protodesc.ToFileDescriptorProto(f))
	}
	return f.Path()
}

// The messages that times and durations become.
const (
	timestampName = "google.protobuf.Timestamp"
	durationName  = "google.protobuf.Duration"
)

// timeOf returns which of them a type becomes, "" for no time.
func timeOf(t schema.Type) string {
	switch {
	case t.Kind == schema.Time:
		return timestampName
	case t.Kind == schema.Duration:
		return durationName
	case t.Kind != schema.Struct || len(t.Message.Fields) != 2 ||
		t.Message.Fields[0].Type != schema.Type{Kind: schema.Int32} ||
		t.Message.Fields[1].Type != schema.Type{Kind: schema.Uint32}:
		return ""
	case t.Message.Name == "builtin_interfaces/msg/Time":
		return timestampName
	case t.Message.Name == "builtin_interfaces/msg/Duration":
		return durationName
	}
	return ""
}

func isByte(k schema.Kind) bool {
	return k == schema.Int8 || k == schema.Uint8 || k == schema.Byte || k == schema.Char || k == schema.IDLChar
}
