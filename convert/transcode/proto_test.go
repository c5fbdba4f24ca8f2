package transcode

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/schema/protoschema"
)

// A protoGen makes random descriptors and messages.
type protoGen struct{ *rand.Rand }

var genTypes = []descriptorpb.FieldDescriptorProto_Type{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 11, 11, 12, 13, 14, 15, 16, 17, 18}

// file makes a file of a few messages; those with a higher index are used by
// those with a lower one, and now and then the other way round.
func (g *protoGen) file() *descriptorpb.FileDescriptorProto {
	f := &descriptorpb.FileDescriptorProto{Name: proto.String("t.proto"), Package: proto.String("a.b"), Syntax: proto.String("proto2")}
	if g.IntN(3) == 0 {
		f.Syntax = proto.String("proto3")
	}
	f.EnumType = []*descriptorpb.EnumDescriptorProto{{Name: proto.String("Color"), Value: []*descriptorpb.EnumValueDescriptorProto{
		{Name: proto.String("RED"), Number: proto.Int32(0)}, {Name: proto.String("BLUE"), Number: proto.Int32(7)}, {Name: proto.String("DARK"), Number: proto.Int32(-3)}}}}
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
			sub := &descriptorpb.DescriptorProto{Name: proto.String(fmt.Sprintf("F%d", i)), Field: []*descriptorpb.FieldDescriptorProto{
				{Name: proto.String("x"), Number: proto.Int32(2), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(), Type: descriptorpb.FieldDescriptorProto_TYPE_SINT64.Enum()}}}
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
				entry := &descriptorpb.DescriptorProto{Name: proto.String(fmt.Sprintf("F%dEntry", i)), Options: &descriptorpb.MessageOptions{MapEntry: proto.Bool(true)},
					Field: []*descriptorpb.FieldDescriptorProto{
						{Name: proto.String("key"), Number: proto.Int32(1), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(), Type: descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum()},
						{Name: proto.String("value"), Number: proto.Int32(2), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(), Type: descriptorpb.FieldDescriptorProto_TYPE_INT32.Enum()}}}
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
		defaults := map[descriptorpb.FieldDescriptorProto_Type]string{1: []string{"nan", "inf", "1.5"}[g.IntN(3)], 2: []string{"nan", "-inf", "0"}[g.IntN(3)],
			3: "-9", 4: "9", 5: "-7", 6: "8", 7: "6", 8: "true", 9: "text", 12: `\001b`, 13: "5", 14: "BLUE", 15: "-4", 16: "-3", 17: "-2", 18: "-1"}
		if v, ok := defaults[fd.GetType()]; ok {
			fd.DefaultValue = proto.String(v)
		}
	}
	if g.IntN(4) == 0 && fd.GetLabel() == descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL && fd.GetType() != descriptorpb.FieldDescriptorProto_TYPE_GROUP {
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
				m.Mutable(f).Map().Set(protoreflect.ValueOfString(fmt.Sprint(g.IntN(100))).MapKey(), protoreflect.ValueOfInt32(int32(g.Uint32())))
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

// TestProtoDifferential holds the programs against the reference on random types
// and messages, both ways, with fields in order, shuffled and repeated.
func TestProtoDifferential(t *testing.T) {
	count := 10_000
	if testing.Short() {
		count = 1_000
	}
	g := &protoGen{rand.New(rand.NewPCG(4, 4))}
	tried := 0
	for range count {
		md, gen := g.random(t)
		if md == nil {
			continue
		}
		tried++
		m := dynamicpb.NewMessage(md)
		g.fill(m, 0)
		src, err := proto.MarshalOptions{Deterministic: true, AllowPartial: true}.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		// What goes over the wire loses nothing but the presence of empty maps and lists.
		s, err := protoschema.Bind(md, gen)
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range []Wire{ROS1, CDR} {
			w := ros.NewWriter(nil, to == CDR)
			naive(&w, m, s)
			from, err := CompileFromProto(md, gen, to)
			if err != nil {
				t.Fatal(err)
			}
			got, err := from.Append(nil, src)
			if err != nil || !bytes.Equal(got, w.Buf) {
				t.Fatalf("%v\n%v\nsource %x\n   got %x\n  want %x\n%v", md, m, src, got, w.Buf, err)
			}
			mixed := g.shuffle(src)
			got, err = from.Append(nil, mixed)
			if err != nil || !bytes.Equal(got, w.Buf) {
				t.Fatalf("shuffled %x of %x\n   got %x\n  want %x\n%v", mixed, src, got, w.Buf, err)
			}
			if from.Unknown() != 0 {
				t.Fatalf("%d messages with unknown fields", from.Unknown())
			}
			back, err := CompileToProto(gen, to, md)
			if err != nil {
				t.Fatal(err)
			}
			wire, err := back.Append(nil, w.Buf)
			if err != nil {
				t.Fatal(err)
			}
			again := dynamicpb.NewMessage(md)
			if err := (proto.UnmarshalOptions{AllowPartial: true}).Unmarshal(wire, again); err != nil {
				t.Fatalf("protobuf does not read %x: %v", wire, err)
			}
			w2 := ros.NewWriter(nil, to == CDR)
			naive(&w2, again, s)
			if !bytes.Equal(w.Buf, w2.Buf) {
				t.Fatalf("%v\nthere %x\n back %x", m, w.Buf, w2.Buf)
			}
		}
	}
	if tried < count/2 {
		t.Errorf("only %d of %d random descriptors were valid", tried, count)
	}
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

// TestDescribed makes descriptors from random ROS types and goes there and back.
func TestDescribed(t *testing.T) {
	types := 10_000
	if testing.Short() {
		types = 1_000
	}
	for seed := range types {
		r := maker{rand.New(rand.NewPCG(uint64(seed), 5))}
		typ, _ := r.twins(0)
		data, name, err := protoschema.Describe(typ, func(m *schema.Message) *protoschema.Origin {
			return &protoschema.Origin{Dialect: "ros1msg", Name: m.Name, Text: "x"}
		})
		if err != nil {
			t.Fatal(seed, err)
		}
		set, err := protoschema.Parse(data)
		if err != nil {
			t.Fatal(seed, err)
		}
		md, err := set.Message(name)
		if err != nil {
			t.Fatal(seed, err)
		}
		if o := protoschema.Origins(md)[typ.Name]; o == nil || o.Text != "x" {
			t.Fatal(seed, "the origin is lost")
		}
		v := r.value(schema.Type{Kind: schema.Struct, Message: typ}, 0)
		for _, wire := range []Wire{ROS1, CDR} {
			there, err := CompileToProto(typ, wire, md)
			if err != nil {
				t.Fatal(seed, err)
			}
			back, err := CompileFromProto(md, typ, wire)
			if err != nil {
				t.Fatal(seed, err)
			}
			if a, b := there.Dropped(), back.Dropped(); len(a)+len(b) > 0 {
				t.Fatal(seed, a, b)
			}
			in := walkEncode(typ, v, wire, ros.PlainLE)
			pb, err := there.Append(nil, in)
			if err != nil {
				t.Fatal(seed, err)
			}
			if err := proto.Unmarshal(pb, dynamicpb.NewMessage(md)); err != nil {
				t.Fatal(seed, err)
			}
			out, err := back.Append(nil, pb)
			if err != nil || !bytes.Equal(in, out) {
				t.Fatalf("seed %d, wire %d: %v\n  in %x\n out %x\n  pb %x\n%v", seed, wire, err, in, out, pb, md)
			}
			for form := ros.PlainBE; wire == CDR && form < ros.Forms; form++ {
				if got, err := there.Append(nil, walkEncode(typ, v, CDR, form)); err != nil || !bytes.Equal(got, pb) {
					t.Fatalf("seed %d, form %d: %v", seed, form, err)
				}
			}
			for n := range in {
				if _, err := there.Append(nil, in[:n]); err == nil && wire == ROS1 {
					t.Fatalf("seed %d: cut at %d of %d goes unnoticed", seed, n, len(in))
				}
			}
		}
	}
}

// TestDuration: a duration is the same in protobuf whether it comes from ROS 1 or
// from CDR, in the form that protobuf demands, and comes back.
// See TestTimesOfProto for nanoseconds of 2^31 and more.
func TestDuration(t *testing.T) {
	ros1 := &schema.Message{Name: "p/T", Fields: []schema.Field{field("d", schema.Duration)}}
	ros2 := &schema.Message{Name: "p/msg/T", Fields: []schema.Field{strct("d", &schema.Message{Name: "builtin_interfaces/msg/Duration",
		Fields: []schema.Field{field("sec", schema.Int32), field("nanosec", schema.Uint32)}})}}
	for _, c := range []struct {
		sec, nsec int32 // in ROS
		seconds   int64 // in protobuf
		nanos     int32
	}{
		{0, 0, 0, 0},
		{1, 500_000_000, 1, 500_000_000},
		{-1, 0, -1, 0},
		{-1, 500_000_000, 0, -500_000_000},
		{-1, 999_999_999, 0, -1},
		{-2114, 1, -2113, -999_999_999},
		{math.MinInt32, 1, math.MinInt32 + 1, -999_999_999},
		{math.MaxInt32, 999_999_999, math.MaxInt32, 999_999_999},
		// Not as ROS writes them, but the sum stays what it is.
		{-1, -500_000_000, -2, 500_000_000},
		{0, -1, -1, 999_999_999},
		{math.MinInt32, -1, math.MinInt32 - 1, 999_999_999},
		{-3, 1_500_000_000, -3, 1_500_000_000},
		{3, -1_500_000_000, 3, -1_500_000_000},
	} {
		for wire, typ := range map[Wire]*schema.Message{ROS1: ros1, CDR: ros2} {
			if wire == CDR && c.nsec < 0 {
				continue // CDR has no such duration
			}
			data, name, err := protoschema.Describe(typ, nil)
			if err != nil {
				t.Fatal(err)
			}
			set, err := protoschema.Parse(data)
			if err != nil {
				t.Fatal(err)
			}
			md, err := set.Message(name)
			if err != nil {
				t.Fatal(err)
			}
			there, err := CompileToProto(typ, wire, md)
			if err != nil {
				t.Fatal(err)
			}
			back, err := CompileFromProto(md, typ, wire)
			if err != nil {
				t.Fatal(err)
			}
			w := ros.NewWriter(nil, wire == CDR)
			w.U32(uint32(c.sec))
			w.U32(uint32(c.nsec))
			pb, err := there.Append(nil, w.Buf)
			var got durationpb.Duration
			if d, n := protowire.ConsumeBytes(pb[min(1, len(pb)):]); n > 0 {
				err = errors.Join(err, proto.Unmarshal(d, &got))
			}
			if err != nil || got.Seconds != c.seconds || got.Nanos != c.nanos {
				t.Errorf("wire %d: %d s %d ns became %v, want %d s %d ns (%v)", wire, c.sec, c.nsec, &got, c.seconds, c.nanos, err)
			}
			if normal := c.nsec >= 0 && c.nsec < 1e9; normal && got.CheckValid() != nil {
				t.Errorf("%v is no duration for protobuf", &got)
			}
			if again, err := back.Append(nil, pb); err != nil || !bytes.Equal(again, w.Buf) {
				t.Errorf("wire %d: %x came back as %x (%v)", wire, w.Buf, again, err)
			}
		}
	}
}

// small is a type with one of several things, for tests by hand.
func small(t testing.TB) (protoreflect.MessageDescriptor, *schema.Message) {
	field := func(name string, num int32, typ descriptorpb.FieldDescriptorProto_Type, rep bool) *descriptorpb.FieldDescriptorProto {
		label := descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL
		if rep {
			label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED
		}
		return &descriptorpb.FieldDescriptorProto{Name: &name, Number: &num, Type: typ.Enum(), Label: label.Enum()}
	}
	sub := field("sub", 3, 11, false)
	sub.TypeName = proto.String(".p.S")
	a, b := field("a", 4, 5, false), field("b", 5, 9, false)
	a.OneofIndex, b.OneofIndex = proto.Int32(0), proto.Int32(0)
	f := &descriptorpb.FileDescriptorProto{Name: proto.String("p"), Package: proto.String("p"), MessageType: []*descriptorpb.DescriptorProto{
		{Name: proto.String("M"), Field: []*descriptorpb.FieldDescriptorProto{field("x", 1, 13, false), field("list", 2, 13, true), sub, a, b},
			OneofDecl: []*descriptorpb.OneofDescriptorProto{{Name: proto.String("o")}}},
		{Name: proto.String("S"), Field: []*descriptorpb.FieldDescriptorProto{field("y", 1, 13, false), field("z", 2, 13, false)}}}}
	data, _ := proto.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{f}})
	set, err := protoschema.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	md, err := set.Message("p.M")
	if err != nil {
		t.Fatal(err)
	}
	gen, err := protoschema.NewNamer(false).ROS(md)
	if err != nil {
		t.Fatal(err)
	}
	return md, gen
}

// TestProtoRules are the rules of protobuf's wire that random messages of a
// serializer do not show.
func TestProtoRules(t *testing.T) {
	md, gen := small(t)
	p, err := CompileFromProto(md, gen, ROS1)
	if err != nil {
		t.Fatal(err)
	}
	// x, count of list, list, y, z, case, a, length of b
	words := func(v ...uint32) []byte {
		var b []byte
		for _, w := range v {
			b = append(b, byte(w), byte(w>>8), byte(w>>16), byte(w>>24))
		}
		return b
	}
	for _, c := range []struct {
		name    string
		src     []byte
		want    []byte
		unknown int64
	}{
		{"nothing", nil, words(0, 0, 0, 0, 0, 0, 0), 0},
		{"the last one wins", []byte{8, 1, 8, 2}, words(2, 0, 0, 0, 0, 0, 0), 0},
		{"packed and not", []byte{16, 1, 18, 2, 2, 3, 16, 4}, words(0, 4, 1, 2, 3, 4, 0, 0, 0, 0, 0), 0},
		{"a list in pieces", []byte{16, 1, 8, 9, 18, 1, 2}, words(9, 2, 1, 2, 0, 0, 0, 0, 0), 0},
		{"messages merge", []byte{26, 2, 8, 1, 26, 4, 8, 3, 16, 2}, words(0, 0, 3, 2, 0, 0, 0), 0},
		{"oneof: the last member", []byte{32, 7, 42, 1, 'q'}, append(words(0, 0, 0, 0, 5, 0, 1), 'q'), 0},
		{"oneof: back again", []byte{42, 1, 'q', 32, 7}, words(0, 0, 0, 0, 4, 7, 0), 0},
		{"an unknown field", []byte{8, 1, 0x98, 6, 1}, words(1, 0, 0, 0, 0, 0, 0), 1},
		{"another wire type", []byte{13, 1, 0, 0, 0}, words(0, 0, 0, 0, 0, 0, 0), 1},
		{"an unknown group", []byte{0x9b, 6, 8, 1, 0x9c, 6}, words(0, 0, 0, 0, 0, 0, 0), 1},
		{"a negative enum-like number", append([]byte{32}, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1), words(0, 0, 0, 0, 4, math.MaxUint32, 0), 0},
	} {
		p.Reset()
		got, err := p.Append(nil, c.src)
		if err != nil || !bytes.Equal(got, c.want) || p.Unknown() != c.unknown {
			t.Errorf("%s: %v, %d unknown\n got %x\nwant %x", c.name, err, p.Unknown(), got, c.want)
		}
	}
	for _, src := range [][]byte{{8}, {18, 200, 1}, {18, 1, 0x80}, {26, 5, 1}, {0x98}, {0x9b, 6, 8, 1}, {7}} {
		if got, err := p.Append([]byte("kept"), src); err == nil || string(got) != "kept" {
			t.Errorf("% x is taken: %x %v", src, got, err)
		}
	}
}

func FuzzFromProto(f *testing.F) {
	md, gen := small(f)
	p, err := CompileFromProto(md, gen, CDR)
	if err != nil {
		f.Fatal(err)
	}
	back, err := CompileToProto(gen, CDR, md)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{8, 1, 16, 1, 18, 2, 2, 3, 26, 2, 8, 1, 32, 7})
	f.Add([]byte{42, 1, 'q', 32, 7, 8, 1})
	f.Fuzz(func(t *testing.T, src []byte) {
		out, err := p.Append(nil, src)
		m := dynamicpb.NewMessage(md)
		if refErr := (proto.UnmarshalOptions{}).Unmarshal(src, m); refErr == nil && err != nil {
			t.Fatalf("protobuf reads it, we do not: %v", err)
		}
		if err != nil {
			return
		}
		wire, err := back.Append(nil, out)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := p.Append(nil, wire); err != nil || !bytes.Equal(again, out) {
			t.Fatalf("there and back: %x becomes %x, %v", out, again, err)
		}
	})
}

func FuzzToProto(f *testing.F) {
	md, gen := small(f)
	plans := map[Wire]*ToProto{}
	for _, w := range []Wire{ROS1, CDR} {
		p, err := CompileToProto(gen, w, md)
		if err != nil {
			f.Fatal(err)
		}
		plans[w] = p
	}
	f.Add(make([]byte, 28), false)
	f.Add(append([]byte{0, 1, 0, 0}, make([]byte, 40)...), true)
	f.Add(append([]byte{0, 0, 0, 0}, make([]byte, 40)...), true)
	f.Fuzz(func(t *testing.T, src []byte, cdr bool) {
		w := ROS1
		if cdr {
			w = CDR
		}
		out, err := plans[w].Append(nil, src)
		if err == nil {
			if err := proto.Unmarshal(out, dynamicpb.NewMessage(md)); err != nil {
				t.Fatalf("protobuf does not read %x: %v", out, err)
			}
		}
	})
}
