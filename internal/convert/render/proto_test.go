package render

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// randomDescriptor makes a message that may hold others, and itself.
func (g maker) randomDescriptor(t testing.TB) protoreflect.MessageDescriptor {
	syntax := []string{"proto2", "proto2", "proto3"}[g.IntN(3)]
	f := &descriptorpb.FileDescriptorProto{Name: proto.String("t.proto"), Package: proto.String("a"), Syntax: &syntax,
		EnumType: []*descriptorpb.EnumDescriptorProto{{Name: proto.String("E"),
			Options: &descriptorpb.EnumOptions{AllowAlias: proto.Bool(true)},
			Value: []*descriptorpb.EnumValueDescriptorProto{
				{Name: proto.String("ZERO"), Number: proto.Int32(0)}, {Name: proto.String("NIL"), Number: proto.Int32(0)},
				{Name: proto.String("LOW"), Number: proto.Int32(-5)}, {Name: proto.String("HIGH"), Number: proto.Int32(1000)}}}}}
	n := 1 + g.IntN(4)
	for i := range n {
		m := &descriptorpb.DescriptorProto{Name: proto.String(fmt.Sprintf("M%d", i))}
		for k, num := range g.Perm(g.IntN(9)) {
			fd := &descriptorpb.FieldDescriptorProto{Name: proto.String(fmt.Sprintf("f%d", k)),
				Number: proto.Int32(int32(1 + num*num*num*2)),
				Label:  descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(), Type: descriptorpb.FieldDescriptorProto_Type(1 +
					g.IntN(18)).Enum()}
			if g.IntN(3) == 0 {
				fd.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
			}
			g.complete(m, fd, syntax, n)
			m.Field = append(m.Field, fd)
		}
		f.MessageType = append(f.MessageType, m)
	}
	fd, err := protodesc.NewFile(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	return fd.Messages().Get(0)
}

// complete adds what a field of that type needs, or may have.
func (g maker) complete(m *descriptorpb.DescriptorProto, fd *descriptorpb.FieldDescriptorProto, syntax string, n int) {
	repeated := fd.GetLabel() == descriptorpb.FieldDescriptorProto_LABEL_REPEATED
	sub := func(name string, entry bool, types ...descriptorpb.FieldDescriptorProto_Type) {
		d := &descriptorpb.DescriptorProto{Name: &name}
		for i, typ := range types {
			x := &descriptorpb.FieldDescriptorProto{Name: proto.String([]string{"key", "value"}[i]),
				Number: proto.Int32(int32(i + 1)),
				Label:  descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(), Type: typ.Enum()}
			if typ == descriptorpb.FieldDescriptorProto_TYPE_MESSAGE {
				x.TypeName = proto.String(".a.M0")
			}
			d.Field = append(d.Field, x)
		}
		if entry {
			d.Options = &descriptorpb.MessageOptions{MapEntry: proto.Bool(true)}
		}
		m.NestedType = append(m.NestedType, d)
		fd.TypeName = proto.String(".a." + m.GetName() + "." + name)
	}
	switch fd.GetType() {
	case descriptorpb.FieldDescriptorProto_TYPE_GROUP:
		if syntax == "proto3" {
			fd.Type = descriptorpb.FieldDescriptorProto_TYPE_DOUBLE.Enum()
			break
		}
		sub(strings.ToUpper(fd.GetName()), false, descriptorpb.FieldDescriptorProto_TYPE_SINT64)
	case descriptorpb.FieldDescriptorProto_TYPE_ENUM:
		fd.TypeName = proto.String(".a.E")
	case descriptorpb.FieldDescriptorProto_TYPE_MESSAGE:
		if fd.TypeName = proto.String(fmt.Sprintf(".a.M%d", g.IntN(n))); repeated && g.IntN(2) == 0 {
			value := []descriptorpb.FieldDescriptorProto_Type{descriptorpb.FieldDescriptorProto_TYPE_STRING,
				descriptorpb.FieldDescriptorProto_TYPE_MESSAGE}[g.IntN(2)]
			sub(strings.ToUpper(fd.GetName())+"Entry", true, descriptorpb.FieldDescriptorProto_TYPE_INT32, value)
			fd.Name = proto.String(strings.ToUpper(fd.GetName()))
		}
	}
	switch {
	case repeated:
		if fd.GetType() < 9 || fd.GetType() > 12 {
			fd.Options = &descriptorpb.FieldOptions{Packed: proto.Bool(g.IntN(2) == 0)}
		}
	case g.IntN(2) == 0 && fd.GetType() != descriptorpb.FieldDescriptorProto_TYPE_GROUP &&
		(len(m.OneofDecl) == 0 || m.Field[len(m.Field)-1].OneofIndex != nil):
		if len(m.OneofDecl) == 0 {
			m.OneofDecl = []*descriptorpb.OneofDescriptorProto{{Name: proto.String("o")}}
		}
		fd.OneofIndex = proto.Int32(0)
	case syntax == "proto2" && g.IntN(2) == 0:
		if v := map[descriptorpb.FieldDescriptorProto_Type]string{1: "nan", 2: "-inf", 3: "-9", 4: "9", 5: "-7", 8: "true",
			9: "a,b", 12: `\001b`, 13: "4000000000", 14: "HIGH"}[fd.GetType()]; v != "" {
			fd.DefaultValue = &v
		}
	}
}

// fill sets fields at random.
func (g maker) fill(m protoreflect.Message, depth int, long bool) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if g.IntN(3) == 0 || depth > 4 {
			continue
		}
		switch {
		case f.IsMap():
			mp := m.Mutable(f).Map()
			v := mp.NewValue()
			if f.MapValue().Message() == nil {
				v = g.scalar(f.MapValue())
			} else {
				g.fill(v.Message(), depth+1, false)
			}
			mp.Set(protoreflect.ValueOfInt32(int32(g.IntN(9))).MapKey(), v)
		case f.IsList():
			n := g.IntN(4)
			if long && f.Message() == nil {
				n = LongList - 1 + g.IntN(3)
			}
			for range n {
				if l := m.Mutable(f).List(); f.Message() != nil {
					g.fill(l.AppendMutable().Message(), depth+1, false)
				} else {
					l.Append(g.scalar(f))
				}
			}
		case f.Message() != nil:
			g.fill(m.Mutable(f).Message(), depth+1, false)
		default:
			m.Set(f, g.scalar(f))
		}
	}
}

func (g maker) scalar(f protoreflect.FieldDescriptor) protoreflect.Value {
	w := &writer{maker: g}
	bits := g.Uint64() >> g.IntN(64)
	switch f.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(bits&1 == 0)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum([]protoreflect.EnumNumber{0, -5, 1000, 7, -1}[g.IntN(5)])
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(int32(bits))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(uint32(bits))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(int64(bits))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(bits)
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(float32(w.float()))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(w.float())
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(w.text())
	}
	return protoreflect.ValueOfBytes([]byte(w.text()))
}

// tree is the message as a tree of values, by reflection.
func tree(m protoreflect.Message) any {
	o := &object{}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		o.names = append(o.names, string(f.Name()))
		var v any
		switch {
		case f.IsMap():
			list := []any{}
			for k := range int32(9) { // in order of the keys, as on the wire
				if key := protoreflect.ValueOfInt32(k).MapKey(); m.Get(f).Map().Has(key) {
					list = append(list, &object{[]string{"key", "value"}, []any{leaf(f.MapKey(), key.Value()),
						leaf(f.MapValue(), m.Get(f).Map().Get(key))}})
				}
			}
			v = list
		case f.IsList():
			list := []any{}
			for k := range m.Get(f).List().Len() {
				list = append(list, leaf(f, m.Get(f).List().Get(k)))
			}
			v = list
		case !m.Has(f) && (f.Message() != nil || f.ContainingOneof() != nil):
		default:
			v = leaf(f, m.Get(f))
		}
		o.vals = append(o.vals, v)
	}
	return o
}

func leaf(f protoreflect.FieldDescriptor, v protoreflect.Value) any {
	switch x := v.Interface().(type) {
	case protoreflect.EnumNumber:
		if d := f.Enum().Values().ByNumber(x); d != nil {
			return string(d.Name())
		}
		return int64(x)
	case int64:
		return strconv.Quote(strconv.FormatInt(x, 10)) + "i"
	case uint64:
		return strconv.Quote(strconv.FormatUint(x, 10)) + "i"
	case []byte:
		return blob(x)
	case protoreflect.Message:
		return tree(x)
	default:
		return x
	}
}

// shuffle puts the fields of a message in another order, those of one number
// among themselves as they were, and takes apart what is packed; it doubles
// single scalars, and cuts single messages in two.
func (g maker) shuffle(md protoreflect.MessageDescriptor, b []byte) []byte {
	var parts [][]byte
	for len(b) > 0 {
		num, wire, k := protowire.ConsumeTag(b)
		n := k + protowire.ConsumeFieldValue(num, wire, b[k:])
		f := md.Fields().ByNumber(num)
		switch whole := b[:n:n]; {
		case f.Message() != nil && !f.IsList() && !f.IsMap() && wire == protowire.BytesType && g.IntN(3) == 0:
			v, _ := protowire.ConsumeBytes(b[k:])
			cut := 0
			for cut < len(v) && g.IntN(2) == 0 {
				_, _, size := protowire.ConsumeField(v[cut:])
				cut += size
			}
			one := func(p []byte) []byte { return protowire.AppendBytes(protowire.AppendTag(nil, num, wire), p) }
			parts = append(parts, one(v[:cut]), one(v[cut:]))
		case f.Message() == nil && !f.IsList() && g.IntN(4) == 0:
			parts = append(parts, whole, whole)
		default:
			parts = append(parts, whole)
		}
		b = b[n:]
	}
	number := func(p []byte) protowire.Number { n, _, _ := protowire.ConsumeTag(p); return n }
	for range 4 * len(parts) {
		i := g.IntN(len(parts))
		if i+1 < len(parts) && number(parts[i]) != number(parts[i+1]) {
			parts[i], parts[i+1] = parts[i+1], parts[i]
		}
	}
	return bytes.Join(parts, nil)
}

// TestProtoDifferential compares the programs with reflection, on random types
// and messages, with fields in order and shuffled, whole and in parts.
func TestProtoDifferential(t *testing.T) {
	count := 4000
	if testing.Short() {
		count = 400
	}
	g := maker{rand.New(rand.NewPCG(8, 1))}
	for i := range count {
		md := g.randomDescriptor(t)
		m := dynamicpb.NewMessage(md)
		g.fill(m, 0, i%4 == 0)
		src, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Bytes: g.IntN(2) == 0, Arrays: g.IntN(2) == 0}
		// Maps are written in the order of the wire, which is that of their keys.
		read := dynamicpb.NewMessage(md)
		if err := proto.Unmarshal(src, read); err != nil {
			t.Fatal(err)
		}
		want := naive(tree(read), o)
		for _, msg := range [][]byte{src, g.shuffle(md, src)} {
			texts := map[Style]string{}
			for _, o.Style = range []Style{JSON, YAML, CSV} {
				p, err := compileProto(md, o)
				if err != nil {
					t.Fatal(err)
				}
				out, err := p.Append([]byte("old"), msg)
				if err != nil || string(out[:3]) != "old" || p.Unknown() != 0 {
					t.Fatalf("%v\n%s\n%x", err, out, msg)
				}
				texts[o.Style] = string(out[3:])
				if o.Style == CSV {
					checkCells(t, p, texts[CSV], cellsOf(md, read, o, map[protoreflect.FullName]bool{}))
					if o.Bytes && o.Arrays && len(p.Columns()) > 0 {
						checkPaths(t, md, p.Columns(), msg, texts[CSV])
					}
				}
			}
			if texts[JSON] != want {
				t.Fatalf("%v\n got %s\nwant %s", md, texts[JSON], want)
			}
			same(t, texts[YAML], texts[JSON])
		}
	}
}

// cellsOf is the message as cells of CSV, by reflection; all are empty without one.
func cellsOf(md protoreflect.MessageDescriptor, m protoreflect.Message, o Options,
	open map[protoreflect.FullName]bool) (cells []string) {
	open[md.FullName()] = true
	defer delete(open, md.FullName())
	for i := range md.Fields().Len() {
		f := md.Fields().Get(i)
		single := f.Message() != nil && f.Cardinality() != protoreflect.Repeated
		switch {
		case single && !open[f.Message().FullName()]:
			var sub protoreflect.Message
			if m != nil && m.Has(f) {
				sub = m.Get(f).Message()
			}
			cells = append(cells, cellsOf(f.Message(), sub, o, open)...)
		case m == nil:
			cells = append(cells, "")
		default:
			v := tree(m).(*object).vals[i]
			if v == nil {
				cells = append(cells, "")
			} else {
				cells = append(cells, naiveCell(v, o))
			}
		}
	}
	return cells
}

// checkPaths: the names of the columns select the same values when each is used by itself.
func checkPaths(t *testing.T, md protoreflect.MessageDescriptor, names []string, msg []byte, want string) {
	t.Helper()
	p, err := compileProto(md, Options{Style: CSV, Bytes: true, Arrays: true, Paths: names})
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Append(nil, msg)
	if err != nil || string(got) != want {
		t.Fatalf("%v\n got %s\nwant %s", err, got, want)
	}
}
