package transcode

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

var genTypes = []descriptorpb.FieldDescriptorProto_Type{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 11, 11, 12, 13, 14, 15, 16,
	17, 18}

// TestProtoDifferential compares the programs with the reference on random types
// and messages, both ways, with fields in order, shuffled and repeated: 4,000, and 10,000 with BAGCONV_EXHAUSTIVE=1.
func TestProtoDifferential(t *testing.T) {
	count := samples.Pick(10_000, 4_000, 1_000)
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
		for _, to := range []serial.Encoding{serial.ROS1, serial.CDR} {
			w := ros.NewWriter(nil, to == serial.CDR)
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
			w2 := ros.NewWriter(nil, to == serial.CDR)
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

// TestDescribed makes descriptors from random ROS types and goes there and back: 3,000 types, and 10,000
// with BAGCONV_EXHAUSTIVE=1.
func TestDescribed(t *testing.T) {
	for seed := range samples.Pick(10_000, 3_000, 1_000) {
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
		for _, wire := range []serial.Encoding{serial.ROS1, serial.CDR} {
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
			for form := ros.PlainBE; wire == serial.CDR && form < ros.Forms; form++ {
				if got, err := there.Append(nil, walkEncode(typ, v, serial.CDR, form)); err != nil || !bytes.Equal(got, pb) {
					t.Fatalf("seed %d, form %d: %v", seed, form, err)
				}
			}
			for n := range in {
				if _, err := there.Append(nil, in[:n]); err == nil && wire == serial.ROS1 {
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
	ros2 := &schema.Message{Name: "p/msg/T",
		Fields: []schema.Field{strct("d", &schema.Message{Name: "builtin_interfaces/msg/Duration",
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
		for wire, typ := range map[serial.Encoding]*schema.Message{serial.ROS1: ros1, serial.CDR: ros2} {
			if wire == serial.CDR && c.nsec < 0 {
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
			w := ros.NewWriter(nil, wire == serial.CDR)
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
	field := func(name string, num int32, typ descriptorpb.FieldDescriptorProto_Type,
		rep bool) *descriptorpb.FieldDescriptorProto {
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
	f := &descriptorpb.FileDescriptorProto{Name: proto.String("p"), Package: proto.String("p"),
		MessageType: []*descriptorpb.DescriptorProto{
			{Name: proto.String("M"), Field: []*descriptorpb.FieldDescriptorProto{field("x", 1, 13, false),
				field("list", 2, 13, true), sub, a, b},
				OneofDecl: []*descriptorpb.OneofDescriptorProto{{Name: proto.String("o")}}},
			{Name: proto.String("S"), Field: []*descriptorpb.FieldDescriptorProto{field("y", 1, 13, false),
				field("z", 2, 13, false)}}}}
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
	p, err := CompileFromProto(md, gen, serial.ROS1)
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
		{"a negative enum-like number", append([]byte{32}, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1),
			words(0, 0, 0, 0, 4, math.MaxUint32, 0), 0},
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
	p, err := CompileFromProto(md, gen, serial.CDR)
	if err != nil {
		f.Fatal(err)
	}
	back, err := CompileToProto(gen, serial.CDR, md)
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
	plans := map[serial.Encoding]*ToProto{}
	for _, w := range []serial.Encoding{serial.ROS1, serial.CDR} {
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
		w := serial.ROS1
		if cdr {
			w = serial.CDR
		}
		out, err := plans[w].Append(nil, src)
		if err == nil {
			if err := proto.Unmarshal(out, dynamicpb.NewMessage(md)); err != nil {
				t.Fatalf("protobuf does not read %x: %v", out, err)
			}
		}
	})
}
