package edit

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/bagconv/bagconv/internal/convert/where"
	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/internal/schema/serial"
	"github.com/bagconv/bagconv/internal/wire/ros"
)

const definition = `string a
uint8 small
float64 wide
string[] names
uint16[3] three
Item[] items
string last
================================================================================
MSG: test/Item
string frame_id
int8 n
float64 x
`

// rosType returns the type of the definition above.
func rosType(t testing.TB, e serial.Encoding) *message.Type {
	t.Helper()
	name, dialect := "test/Sample", rosmsg.ROS1
	if e == serial.CDR {
		name, dialect = "test/msg/Sample", rosmsg.ROS2
	}
	def, err := rosmsg.Parse(name, []byte(definition), dialect, nil)
	if err != nil {
		t.Fatal(err)
	}
	typ, err := message.ROS(def, e)
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

// sample is a message of the definition.
type sample struct {
	a     string
	small uint8
	wide  float64
	names []string
	three [3]uint16
	items []item
	last  string
}

type item struct {
	frame string
	n     int8
	x     float64
}

// bytes writes the message by hand, in ROS 1 or CDR.
func (s sample) bytes(cdr bool) []byte {
	w := ros.NewWriter(nil, cdr)
	w.String([]byte(s.a))
	w.U8(s.small)
	w.F64(s.wide)
	w.U32(uint32(len(s.names)))
	for _, n := range s.names {
		w.String([]byte(n))
	}
	for _, v := range s.three {
		w.U16(v)
	}
	w.U32(uint32(len(s.items)))
	for _, i := range s.items {
		w.String([]byte(i.frame))
		w.U8(uint8(i.n))
		w.F64(i.x)
	}
	w.String([]byte(s.last))
	return w.Buf
}

func example() sample {
	return sample{"abc", 200, 1.5, []string{"x", "yy"}, [3]uint16{1, 2, 3},
		[]item{{"/map", -3, 0.5}, {"", 4, 2}, {"odom", 5, 3}}, "end"}
}

// assignments reads edits; one without = is of --drop-field.
func assignments(t testing.TB, texts ...string) (list []*where.Assignment) {
	t.Helper()
	for _, text := range texts {
		parse := where.ParseAssignment
		if !strings.Contains(text, "=") {
			parse = where.ParseDrop
		}
		a, err := parse(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, a)
	}
	return list
}

// TestROS: edits of ROS 1 and CDR give the message that has the other values, written by hand; what stays keeps its
// value wherever padding comes to be.
func TestROS(t *testing.T) {
	for _, c := range []struct {
		edits  []string
		change func(*sample)
		values int64
	}{
		{[]string{`/t.a = "longer text"`}, func(s *sample) { s.a = "longer text" }, 1},
		{[]string{`/t.a = ""`, `/t.last = /t.a + "!"`}, func(s *sample) { s.a, s.last = "", "abc!" }, 2},
		{[]string{`/t.small = /t.small + 55`, `/t.wide = 2`}, func(s *sample) { s.small, s.wide = 255, 2 }, 2},
		{[]string{`/t.names[1] = "n"`}, func(s *sample) { s.names = []string{"x", "n"} }, 1},
		{[]string{`/t.names[] = upper(/t.names[])`}, func(s *sample) { s.names = []string{"X", "YY"} }, 2},
		{[]string{`/t.names = ["1", "22", "333"]`}, func(s *sample) { s.names = []string{"1", "22", "333"} }, 1},
		{[]string{`/t.three[2] = 65535`, `/t.three[0] = 9`}, func(s *sample) { s.three = [3]uint16{9, 2, 65535} }, 2},
		{[]string{`/t.three[] = /t.three[] * 2`}, func(s *sample) { s.three = [3]uint16{2, 4, 6} }, 3},
		{[]string{`/t.items[].x = /t.items[].x + /t.items[].n`}, func(s *sample) {
			s.items[0].x, s.items[1].x, s.items[2].x = -2.5, 6, 8
		}, 3},
		{[]string{`/t.items[2].n = -128`}, func(s *sample) { s.items[2].n = -128 }, 1},
		{[]string{`/t.items`, `/t.names`, `/t.three`}, func(s *sample) {
			s.items, s.names, s.three = nil, nil, [3]uint16{}
		}, 3},
		{[]string{`/t.items[].frame_id`}, func(s *sample) {
			s.items[0].frame, s.items[1].frame, s.items[2].frame = "", "", ""
		}, 2},
	} {
		for _, e := range []serial.Encoding{serial.ROS1, serial.CDR} {
			p, err := Compile(Rules{Set: assignments(t, c.edits...)}, rosType(t, e))
			if err != nil {
				t.Fatal(c.edits, err)
			}
			want := example()
			c.change(&want)
			out, err := p.Append([]byte("before"), example().bytes(e == serial.CDR))
			if err != nil || string(out[:6]) != "before" || !bytes.Equal(out[6:], want.bytes(e == serial.CDR)) {
				t.Errorf("%q: %v\n%swant\n%s", c.edits, err, hex.Dump(out), hex.Dump(want.bytes(e == serial.CDR)))
			}
			changes, messages := p.Changes()
			var values int64
			for _, x := range changes {
				values += x.Values
			}
			if values != c.values || messages != 1 {
				t.Errorf("%q: %d values and %d messages are counted", c.edits, values, messages)
			}
		}
	}
}

// TestFrames: slashes go first, then the first rule counts; an empty name stays.
func TestFrames(t *testing.T) {
	rules := Rules{Set: assignments(t, `/t.items[2].frame_id = "/tool"`), Frames: &Frames{Slashes: true,
		Renames: []string{"map:=world", "tool:=hand"}, Rename: func(name string) (string, int) {
			switch name {
			case "map":
				return "world", 0
			case "tool":
				return "hand", 1
			}
			return name, -1
		}}}
	p, err := Compile(rules, rosType(t, serial.CDR))
	if err != nil {
		t.Fatal(err)
	}
	want := example()
	want.items[0].frame, want.items[2].frame = "world", "hand"
	out, err := p.Append(nil, example().bytes(true))
	if err != nil || !bytes.Equal(out, want.bytes(true)) {
		t.Errorf("%v\n%s", err, hex.Dump(out))
	}
	changes, _ := p.Changes()
	if len(changes) != 4 || changes[0].Values != 1 || changes[1].Values != 2 || changes[2].Values != 1 ||
		changes[3].Values != 1 {
		t.Errorf("%v", changes)
	}
	if p.Reset(); len(p.Losses()) != 0 {
		t.Error("counts stay")
	}
}

// TestRefused: values that do not fit, or cannot be found, refuse the message; bytes that are no message are malformed.
func TestRefused(t *testing.T) {
	typ := rosType(t, serial.CDR)
	for _, text := range []string{
		`/t.small = /t.small + 56`, `/t.small = -1`, `/t.three[1] = 65536`, `/t.items[].n = 128`, `/t.names[2] = "x"`,
		`/t.items[3].n = 1`, `/t.wide = sqrt(0 - 1)`, `/t.wide = 1 / (/t.small - 200)`, `/t.wide = 1e308 * 10`,
		`/t.wide = 9007199254740993`, `/t.a = replace(/t.a, "", "x")`, `/t.a = "a\x00b"`, `/t.small = /t.small % 0`,
		`/t.small = int(/t.wide * 1e300)`, `/t.wide = /t.items[7].x`,
	} {
		p, err := Compile(Rules{Set: assignments(t, text)}, typ)
		if err != nil {
			t.Fatal(text, err)
		}
		out, err := p.Append([]byte{7}, example().bytes(true))
		if !errors.Is(err, ErrRefused) || len(out) != 1 {
			t.Errorf("%s: %d bytes, %v", text, len(out), err)
		}
	}
	p, err := Compile(Rules{Set: assignments(t, `/t.last = "x"`)}, typ)
	if err != nil {
		t.Fatal(err)
	}
	whole := example().bytes(true)
	for n := range whole {
		if out, err := p.Append(nil, whole[:n]); err == nil || errors.Is(err, ErrRefused) || out != nil {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if _, err := p.Append(nil, append(whole, 0, 0, 1)); !errors.Is(err, ErrRefused) {
		t.Errorf("trailing bytes: %v", err)
	}
	if _, err := p.Append(nil, append(whole[:len(whole):len(whole)], 0, 0, 0)); err != nil {
		t.Errorf("padding: %v", err)
	}
}

// TestCompile: what a type does not have, and edits that contradict each other, are errors.
func TestCompile(t *testing.T) {
	for _, c := range []struct{ edits, want string }{
		{`/t.b = 1`, `has no field "b"`}, {`/t.small = 1.5`, "write int"}, {`/t.small = "x"`, "text for small"},
		{`/t.names = "x"`, "is a list"}, {`/t.items = 1`, "is a struct"}, {`/t.items[0] = 1`, "is a struct"},
		{`/t.three = [1, 2]`, "2 values for three, which has 3"}, {`/t.three[3] = 1`, "has 3 elements"},
		{`/t.a[0] = 1`, "not a list"}, {`/t.a[] = "x"`, "not a list"}, {`/t.items.n = 1`, "is a list"},
		{`/t.a = /t.names[]`, "stands for many values"}, {`/t.items[].n = len(/t.names[])`, "in one function"},
		{`/t.items[]`, "all elements"}, {`/t.items[0]`, "one element"},
		{`/t.a = "x"|/t.a = "y"`, "two edits"}, {`/t.items|/t.items[].n = 1`, "two edits"},
		{`/t.items[0].n = 1|/t.items[].n = 2`, "two edits"}, {`/t.a = UNKNOWN`, "no constant"},
	} {
		_, err := Compile(Rules{Set: assignments(t, strings.Split(c.edits, "|")...)}, rosType(t, serial.CDR))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.edits, err)
		}
	}
	for _, text := range []string{"", "=", "/t = 1", "/t.a", "/t.a = ", "/t.a = /u.a", "/t.a = (1", "1 = 1",
		"/t.x[].y[] = 1", "/t.a == 1", strings.Repeat("/t.a = 1 + ", 1000)} {
		if a, err := where.ParseAssignment(text); err == nil {
			t.Errorf("%.40q is %v", text, a)
		}
	}
	if p, err := Compile(Rules{Frames: &Frames{}}, plainType(t)); p != nil || err != nil {
		t.Errorf("a type without frames: %v, %v", p, err)
	}
}

// plainType has no frames.
func plainType(t testing.TB) *message.Type {
	t.Helper()
	def, err := rosmsg.Parse("std_msgs/msg/String", []byte("string data\n"), rosmsg.ROS2, nil)
	if err != nil {
		t.Fatal(err)
	}
	typ, err := message.ROS(def, serial.CDR)
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

// descriptor returns the protobuf type of the other tests.
func descriptor(t testing.TB) protoreflect.MessageDescriptor {
	t.Helper()
	field := func(name string, number int32, kind descriptorpb.FieldDescriptorProto_Type,
		many bool) *descriptorpb.FieldDescriptorProto {
		label := descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL
		if many {
			label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED
		}
		f := &descriptorpb.FieldDescriptorProto{Name: &name, Number: &number, Type: &kind, Label: &label}
		if kind == descriptorpb.FieldDescriptorProto_TYPE_MESSAGE {
			f.TypeName = proto.String(".t.M")
		}
		return f
	}
	const text, integer = descriptorpb.FieldDescriptorProto_TYPE_STRING, descriptorpb.FieldDescriptorProto_TYPE_SINT32
	const double, inner = descriptorpb.FieldDescriptorProto_TYPE_DOUBLE, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{Name: proto.String("t.proto"),
		Package: proto.String("t"), MessageType: []*descriptorpb.DescriptorProto{{Name: proto.String("M"),
			Field: []*descriptorpb.FieldDescriptorProto{field("frame_id", 1, text, false), field("n", 2, integer, false),
				field("x", 3, double, false), field("list", 4, integer, true), field("words", 5, text, true),
				field("one", 6, inner, false), field("many", 7, inner, true)}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return file.Messages().Get(0)
}

// TestProto: edits of protobuf give the message that protobuf-go makes of the other values; unknown fields stay, and
// parts of a message become one.
func TestProto(t *testing.T) {
	md := descriptor(t)
	typ, err := message.Proto(md)
	if err != nil {
		t.Fatal(err)
	}
	fd := func(name string) protoreflect.FieldDescriptor { return md.Fields().ByName(protoreflect.Name(name)) }
	text := protoreflect.ValueOfString
	fill := func(m protoreflect.Message, depth int) {
		m.Set(fd("frame_id"), text("map"))
		m.Set(fd("n"), protoreflect.ValueOfInt32(-5))
		for i := range 3 {
			m.Mutable(fd("list")).List().Append(protoreflect.ValueOfInt32(int32(i - 1)))
			m.Mutable(fd("words")).List().Append(text(strings.Repeat("w", i)))
		}
		m.SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 99, protowire.VarintType), 7))
	}
	build := func() protoreflect.Message {
		m := dynamicpb.NewMessage(md)
		fill(m, 0)
		fill(m.Mutable(fd("one")).Message(), 1)
		for range 2 {
			fill(m.Mutable(fd("many")).List().AppendMutable().Message(), 1)
		}
		return m
	}
	element := func(m protoreflect.Message, i int) protoreflect.Message {
		return m.Mutable(fd("many")).List().Get(i).Message()
	}
	for _, c := range []struct {
		edit   string
		change func(m protoreflect.Message)
	}{
		{`/t.frame_id = "a longer frame"`, func(m protoreflect.Message) { m.Set(fd("frame_id"), text("a longer frame")) }},
		{`/t.n = /t.n * 2`, func(m protoreflect.Message) { m.Set(fd("n"), protoreflect.ValueOfInt32(-10)) }},
		{`/t.x = 0.5`, func(m protoreflect.Message) { m.Set(fd("x"), protoreflect.ValueOfFloat64(0.5)) }},
		{`/t.one.one.x = 2`, func(m protoreflect.Message) {
			m.Mutable(fd("one")).Message().Mutable(fd("one")).Message().Set(fd("x"), protoreflect.ValueOfFloat64(2))
		}},
		{`/t.list[1] = 300`, func(m protoreflect.Message) {
			m.Mutable(fd("list")).List().Set(1, protoreflect.ValueOfInt32(300))
		}},
		{`/t.list[] = -/t.list[]`, func(m protoreflect.Message) {
			for i := range 3 {
				m.Mutable(fd("list")).List().Set(i, protoreflect.ValueOfInt32(int32(1-i)))
			}
		}},
		{`/t.words = ["a", "b"]`, func(m protoreflect.Message) {
			l := m.Mutable(fd("words")).List()
			l.Truncate(0)
			l.Append(text("a"))
			l.Append(text("b"))
		}},
		{`/t.words[] = /t.words[] + "!"`, func(m protoreflect.Message) {
			for i := range 3 {
				m.Mutable(fd("words")).List().Set(i, text(strings.Repeat("w", i)+"!"))
			}
		}},
		{`/t.many[].frame_id = "f"`, func(m protoreflect.Message) {
			element(m, 0).Set(fd("frame_id"), text("f"))
			element(m, 1).Set(fd("frame_id"), text("f"))
		}},
		{`/t.many[1].n = 8`, func(m protoreflect.Message) { element(m, 1).Set(fd("n"), protoreflect.ValueOfInt32(8)) }},
		{`/t.one`, func(m protoreflect.Message) { m.Clear(fd("one")) }},
		{`/t.many[].list`, func(m protoreflect.Message) {
			element(m, 0).Clear(fd("list"))
			element(m, 1).Clear(fd("list"))
		}},
	} {
		p, err := Compile(Rules{Set: assignments(t, c.edit)}, typ)
		if err != nil {
			t.Fatal(c.edit, err)
		}
		want, got := build(), dynamicpb.NewMessage(md)
		c.change(want)
		src, err := proto.Marshal(build().Interface())
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.Append(nil, src)
		if err != nil || proto.Unmarshal(out, got) != nil || !proto.Equal(want.Interface(), got) {
			t.Errorf("%s: %v\n%v\nwant\n%v", c.edit, err, got, want.Interface())
		}
		for n := 1; n < len(src); n += 7 {
			if _, err := p.Append(nil, src[:n]); err != nil && errors.Is(err, ErrRefused) && !strings.Contains(c.edit, "[1]") {
				t.Errorf("%s of %d bytes: %v", c.edit, n, err)
			}
		}
	}
	// one comes in two parts, and a frame in each
	parts := protowire.AppendBytes(protowire.AppendTag(nil, 6, protowire.BytesType), []byte{0x0a, 1, 'a', 0x10, 2})
	parts = protowire.AppendBytes(protowire.AppendTag(parts, 6, protowire.BytesType), []byte{0x0a, 1, 'b'})
	p, err := Compile(Rules{Frames: &Frames{Renames: []string{"b:=c"}, Rename: func(name string) (string, int) {
		if name == "b" {
			return "c", 0
		}
		return name, -1
	}}}, typ)
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Append(nil, parts)
	if want := []byte{0x32, 5, 0x0a, 1, 'c', 0x10, 2}; err != nil || !bytes.Equal(out, want) {
		t.Errorf("% x, %v, want % x", out, err, want)
	}
}

// FuzzEdit: no bytes make an edit panic, and what comes out of one can be edited again.
func FuzzEdit(f *testing.F) {
	f.Add(example().bytes(true), true)
	f.Add(example().bytes(false), false)
	f.Add(append([]byte{0, 7, 0, 0}, example().bytes(true)[4:]...), true)
	edits := []string{`/t.a = /t.last + "x"`, `/t.names[] = upper(/t.names[])`, `/t.items[].x = /t.items[].n * 2`, `/t.three`}
	rules := Rules{Set: assignments(f, edits...), Frames: &Frames{Slashes: true}}
	rosPrograms := map[bool]*Program{}
	for _, e := range []serial.Encoding{serial.ROS1, serial.CDR} {
		p, err := Compile(rules, rosType(f, e))
		if err != nil {
			f.Fatal(err)
		}
		rosPrograms[e == serial.CDR] = p
	}
	typ, err := message.Proto(descriptor(f))
	if err != nil {
		f.Fatal(err)
	}
	protobuf, err := Compile(Rules{Set: assignments(f, `/t.one.frame_id = "x"`, `/t.list[] = 1`), Frames: &Frames{
		Slashes: true}}, typ)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte, cdr bool) {
		for _, p := range []*Program{rosPrograms[cdr], protobuf} {
			out, err := p.Append(nil, data)
			if err != nil {
				continue
			}
			again, err := p.Append(nil, out)
			if err != nil && !errors.Is(err, ErrRefused) {
				t.Errorf("% x became % x: %v", data, out, err)
			}
			_ = again
		}
	})
}

// TestForms: messages in big endian and in XCDR2 become plain CDR with the same values, and the other ones.
func TestForms(t *testing.T) {
	def, err := rosmsg.Parse("test/msg/Form", []byte("string a\nfloat64 wide\nuint16[] some\nstring[] names\nuint8 last\n"),
		rosmsg.ROS2, nil)
	if err != nil {
		t.Fatal(err)
	}
	typ, err := message.ROS(def, serial.CDR)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Compile(Rules{Set: assignments(t, `/t.a = "longer"`)}, typ)
	if err != nil {
		t.Fatal(err)
	}
	form := func(head byte, order binary.ByteOrder, most int, sizes bool, a string) []byte {
		b := []byte{0, head, 0, 0}
		align := func(n int) {
			for (len(b)-4)%min(n, most) != 0 {
				b = append(b, 0)
			}
		}
		u32 := func(v uint32) {
			align(4)
			b = append(b, 0, 0, 0, 0)
			order.PutUint32(b[len(b)-4:], v)
		}
		text := func(s string) {
			u32(uint32(len(s) + 1))
			b = append(append(b, s...), 0)
		}
		text(a)
		align(8)
		b = append(b, 0, 0, 0, 0, 0, 0, 0, 0)
		order.PutUint64(b[len(b)-8:], math.Float64bits(-1.25))
		u32(3)
		for _, v := range []uint16{1, 2, 0xfffe} {
			b = append(b, 0, 0)
			order.PutUint16(b[len(b)-2:], v)
		}
		if sizes {
			u32(0)
		}
		head32 := len(b)
		u32(2)
		text("x")
		text("yyyy")
		if sizes {
			order.PutUint32(b[head32-4:], uint32(len(b)-head32))
		}
		return append(b, 9)
	}
	want := form(1, binary.LittleEndian, 8, false, "longer")
	for _, src := range [][]byte{
		form(1, binary.LittleEndian, 8, false, "abc"), form(0, binary.BigEndian, 8, false, "abc"),
		form(7, binary.LittleEndian, 4, true, "abc"), form(6, binary.BigEndian, 4, true, "abc"),
	} {
		if out, err := p.Append(nil, src); err != nil || !bytes.Equal(out, want) {
			t.Errorf("form %d: %v\n%swant\n%s", src[1], err, hex.Dump(out), hex.Dump(want))
		}
	}
}

// FuzzAssignment: no text makes the parser or the compiler panic, and what compiles gives a message or an error.
func FuzzAssignment(f *testing.F) {
	for _, text := range []string{`/t.a = "x"`, `/t.names[] = replace(/t.names[], "a", "bc") + /t.a`, `/t.three = [1, 2, 3]`,
		`/t.items[0].n = -/t.items[1].n % 7`, `/t.wide = /t.wide > 1 ? 2 ** 0.5 : sum(/t.items[].x)`, `topic("/t").a = 'y'`,
		`/t.items[].frame_id`, "/t.a = `=` + lower(\"\\x00\")", `/t.a[ = (1`, `/t.names[9999999999999999999] = 1`} {
		f.Add(text)
	}
	typ := rosType(f, serial.CDR)
	data := example().bytes(true)
	f.Fuzz(func(t *testing.T, text string) {
		a, err := where.ParseAssignment(text)
		if err != nil {
			if a, err = where.ParseDrop(text); err != nil {
				return
			}
		}
		p, err := Compile(Rules{Set: []*where.Assignment{a}}, typ)
		if err != nil {
			return
		}
		out, err := p.Append(nil, data)
		if err != nil {
			return
		}
		c := message.Open(typ, out)
		defer c.Close()
		if c.Fields(typ, c.Skip); c.End() != nil || len(c.Rest()) > 0 {
			t.Errorf("%s: %v, %d bytes are left", text, c.End(), len(c.Rest()))
		}
	})
}
