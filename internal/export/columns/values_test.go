package columns_test

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/bagconv/bagconv/internal/export/columns"
	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/internal/schema/protosource"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema/rosidl"
)

// show writes value i of a column.
func show(c *columns.Column, i int) string {
	w := c.Field.Width()
	var b [8]byte
	if w > 0 && w <= 8 {
		copy(b[:], c.Values[i*w:(i+1)*w])
	}
	bits := binary.LittleEndian.Uint64(b[:])
	var parts []string
	switch k := c.Field.Kind; {
	case c.Null(i):
		return "null"
	case k == columns.Text:
		return fmt.Sprintf("%q", c.Values[c.Offsets[i]:c.Offsets[i+1]])
	case k == columns.Binary:
		return fmt.Sprintf("<%x>", c.Values[c.Offsets[i]:c.Offsets[i+1]])
	case k == columns.FixedBinary:
		return fmt.Sprintf("<%x>", c.Values[i*w:(i+1)*w])
	case k == columns.Enum && int(bits) < len(c.Field.Texts):
		return c.Field.Texts[bits]
	case k == columns.Enum:
		return c.Texts[int(bits)-len(c.Field.Texts)]
	case k == columns.Struct:
		for _, child := range c.Children {
			parts = append(parts, child.Field.Name+":"+show(child, i))
		}
		return "{" + strings.Join(parts, " ") + "}"
	case len(c.Children) > 0:
		from, to := i*c.Field.Size, (i+1)*c.Field.Size
		if c.Offsets != nil {
			from, to = int(c.Offsets[i]), int(c.Offsets[i+1])
		}
		for ; from < to; from++ {
			parts = append(parts, show(c.Children[0], from))
		}
		return "[" + strings.Join(parts, " ") + "]"
	case k == columns.Float64:
		return fmt.Sprint(math.Float64frombits(bits))
	case k == columns.Float32:
		return fmt.Sprint(math.Float32frombits(uint32(bits)))
	case k >= columns.Uint8 && k <= columns.Uint64 || k == columns.Bool:
		return fmt.Sprint(bits)
	}
	return fmt.Sprint(int64(bits<<(64-8*w)) >> (64 - 8*w))
}

// rows writes all rows of a batch.
func rows(b *columns.Batch) string {
	var lines []string
	cols := b.Columns()
	for i := range b.Len() {
		var cells []string
		for _, c := range cols {
			cells = append(cells, c.Field.Name+"="+show(c, i))
		}
		lines = append(lines, strings.Join(cells, " "))
	}
	return strings.Join(lines, "\n")
}

// program compiles a definition in the text of ROS 1.
func program(t testing.TB, text string, o columns.Options) *columns.Program {
	t.Helper()
	p, err := columns.Compile(typeOf(t, text), o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func typeOf(t testing.TB, text string) *message.Type {
	t.Helper()
	m, err := rosmsg.Parse("p/T", []byte(text), rosmsg.ROS1, nil)
	if err != nil {
		t.Fatal(err)
	}
	typ, err := message.ROS(m, serial.ROS1)
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const line = "\n================\nMSG: p/"

// TestOptions: which columns there are, and of which kinds.
func TestOptions(t *testing.T) {
	const text = "uint8 log_time\nH header\nP[] ps\nuint8[2] id\nint16[2] two\nstring[] names\nE e" +
		line + "H\ntime stamp\nstring frame" + line + "P\nint8 x\nduration d\nE[] es" + line + "E"
	data := unhex(t, "07 01000000 02000000 01000000 61 02000000 fb ffffffff 00000000 01000000 06 00000000 01000000 "+
		"00000000 0102 0300 fcff 01000000 01000000 62")
	const header, ps, rest = "{stamp:1000000002 frame:\"a\"}", "[{x:-5 d:-1000000000 es:[1]} {x:6 d:1 es:[]}]",
		`two=[3 -4] names=["b"] e=1`
	for _, c := range []struct {
		o    columns.Options
		want string
	}{
		{columns.Options{}, "_log_time=8 publish_time=9 log_time=7 header=" + header + " ps=" + ps + " id=<0102> " + rest},
		{columns.Options{Sequence: true, Columns: []string{}}, "_log_time=8 publish_time=9 sequence=10"},
		{columns.Options{Columns: []string{"ps.x", "two", "header.frame", "header"}}, "_log_time=8 publish_time=9 header=" +
			header + " ps=[{x:-5} {x:6}] two=[3 -4]"},
		{columns.Options{Columns: []string{"e", "ps.es"}}, "_log_time=8 publish_time=9 ps=[{es:[1]} {es:[]}] e=1"},
		{columns.Options{Flat: true, Columns: []string{"header", "ps"}},
			`_log_time=8 publish_time=9 header.stamp=1000000002 header.frame="a" ps=` + ps},
		{columns.Options{StructTimes: true, Columns: []string{"header.stamp", "ps.d"}},
			"_log_time=8 publish_time=9 header={stamp:{sec:1 nanosec:2}} ps=[{d:{sec:-1 nanosec:0}} {d:{sec:0 nanosec:1}}]"},
		{columns.Options{BinaryText: true, Columns: []string{"names", "header.frame"}},
			"_log_time=8 publish_time=9 header={frame:<61>} names=[<62>]"},
		{columns.Options{Explode: "ps", Columns: []string{"ps", "names", "header"}}, "_log_time=8 publish_time=9 header=" +
			header + ` ps={x:-5 d:-1000000000 es:[1]} names=["b"]` + "\n" +
			"_log_time=8 publish_time=9 header=" + header + ` ps={x:6 d:1 es:[]} names=["b"]`},
		{columns.Options{Explode: "ps", Flat: true, Columns: []string{"ps", "id"}},
			"_log_time=8 publish_time=9 ps.x=-5 ps.d=-1000000000 ps.es=[1] id=<0102>\n" +
				"_log_time=8 publish_time=9 ps.x=6 ps.d=1 ps.es=[] id=<0102>"},
		{columns.Options{Explode: "two", Columns: []string{"two", "names"}},
			"_log_time=8 publish_time=9 two=3 names=[\"b\"]\n_log_time=8 publish_time=9 two=-4 names=[\"b\"]"},
		{columns.Options{Explode: "names", Columns: []string{"names"}}, `_log_time=8 publish_time=9 names="b"`},
	} {
		b := program(t, text, c.o).NewBatch()
		if err := b.Append(data, 8, 9, 10); err != nil || rows(b) != c.want {
			t.Errorf("%+v: %v\n got %s\nwant %s", c.o, err, rows(b), c.want)
		}
		for n := range data {
			before := dump(b.Columns())
			if err := b.Append(data[:n], 1, 1, 1); !errors.Is(err, ros.ErrMalformed) || dump(b.Columns()) != before {
				t.Errorf("%+v: %d bytes: %v", c.o, n, err)
			}
		}
	}
}

// TestPaths: what cannot be a column.
func TestPaths(t *testing.T) {
	typ := typeOf(t, "P[] ps\nint8 x\nuint8[] data"+line+"P\nint8 y")
	for _, c := range []struct {
		o    columns.Options
		want string
	}{
		{columns.Options{Columns: []string{"q"}}, `path "q": p/T has no field "q"`},
		{columns.Options{Columns: []string{"ps.q"}}, `path "ps.q": p/P has no field "q"`},
		{columns.Options{Columns: []string{"x.y"}}, `path "x.y": x has no fields`},
		{columns.Options{Columns: []string{"ps[0].y"}},
			`path "ps[0].y": a column has all elements of a list; name it without an index`},
		{columns.Options{Explode: "x"}, `path "x": only a list of the message itself can be exploded, by its name`},
		{columns.Options{Explode: "ps.y"}, `path "ps.y": only a list of the message itself can be exploded, by its name`},
		{columns.Options{Explode: "q"}, `path "q": p/T has no field "q"`},
		{columns.Options{Explode: "ps", Columns: []string{"x"}},
			`path "ps": it is exploded, but not among the columns; name it there, too`},
		{columns.Options{Explode: "data"}, "data is binary, and no list whose elements can be rows"},
	} {
		if _, err := columns.Compile(typ, c.o); err == nil || err.Error() != c.want {
			t.Errorf("%+v: %v, want %s", c.o, err, c.want)
		}
	}
	var e *message.PathError
	if _, err := columns.Compile(typ, columns.Options{Columns: []string{"q"}}); !errors.As(err, &e) ||
		strings.Join(e.Known, " ") != "ps x data" {
		t.Error(err)
	}
}

// TestExplodeNone: a message without elements makes no row.
func TestExplodeNone(t *testing.T) {
	b := program(t, "string s\nint8[] list", columns.Options{Explode: "list"}).NewBatch()
	for _, m := range []string{"01000000 61 00000000", "01000000 62 02000000 0102", "00000000 00000000"} {
		if err := b.Append(unhex(t, m), 1, 2, 0); err != nil {
			t.Fatal(err)
		}
	}
	if want := "log_time=1 publish_time=2 s=\"b\" list=1\nlog_time=1 publish_time=2 s=\"b\" list=2"; rows(b) != want {
		t.Error(rows(b))
	}
}

// TestDoubts: each value that is otherwise in the columns is counted, and none of a message that is refused.
func TestDoubts(t *testing.T) {
	b := program(t, "time t\nduration d\nbool[2] f\nstring s", columns.Options{}).NewBatch()
	good := "01000000 00000000 ffffffff 01000000 0001 01000000 61"
	bad := "01000000 00ca9a3b ffffffff ffffffff 0203 03000000 61ff62"
	for _, m := range []string{good, bad} {
		if err := b.Append(unhex(t, m), 0, 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	want := "log_time=0 publish_time=0 t=1000000000 d=-999999999 f=[0 1] s=\"a\"\nlog_time=0 publish_time=0 " +
		"t=2000000000 d=-1000000001 f=[1 1] s=\"a\ufffdb\""
	d := columns.Doubts{Times: 2, Bools: 2, Text: 1}
	if rows(b) != want || b.Doubts() != d {
		t.Errorf("%s\n%+v", rows(b), b.Doubts())
	}
	if err := b.Append(unhex(t, bad+"00"), 0, 0, 0); !errors.Is(err, ros.ErrMalformed) || b.Doubts() != d {
		t.Errorf("%v, %+v", err, b.Doubts())
	}
	if b.Reset(); b.Doubts() != (columns.Doubts{}) || b.Len() != 0 || rows(b) != "" {
		t.Error("not reset")
	}
	if got := d.Sum(d); got != (columns.Doubts{Times: 4, Bools: 4, Text: 2}) {
		t.Errorf("%+v", got)
	}
}

// TestIDL: members of unions and optional ones are null if they are absent, and strings have doubts.
func TestIDL(t *testing.T) {
	m, err := rosidl.Parse("p/msg/T", []byte(`module p { module msg {
		struct P { short x, y; };
		union U switch (long) { case 1: long a; case 2: P p; };
		struct T { U u; @optional P o; @optional long n; wstring w; }; }; };`))
	if err != nil {
		t.Fatal(err)
	}
	typ, err := message.ROS(m, serial.CDR)
	if err != nil {
		t.Fatal(err)
	}
	flat, err := columns.Compile(typ, columns.Options{Flat: true})
	if err != nil {
		t.Fatal(err)
	}
	nested, err := columns.Compile(typ, columns.Options{})
	if err != nil {
		t.Fatal(err)
	}
	first := unhex(t, "00070000 01000000 05000000 01 00 0600 0700 01 00 09000000 00000000")
	second := unhex(t, "00070000 02000000 0100 0200 00 00 0000 02000000 00d8")
	for _, c := range []struct {
		p    *columns.Program
		want string
	}{
		{nested, `u={u1:1 a:5 p:null} o={x:6 y:7} n=9 w="" | u={u1:2 a:null p:{x:1 y:2}} o=null n=null w="�"`},
		{flat, `u.u1=1 u.a=5 u.p.x=null u.p.y=null o.x=6 o.y=7 n=9 w="" | u.u1=2 u.a=null u.p.x=1 u.p.y=2 o.x=null o.y=null n=null w="�"`},
	} {
		b := c.p.NewBatch()
		for _, m := range [][]byte{first, second} {
			if err := b.Append(m, 0, 0, 0); err != nil {
				t.Fatal(err)
			}
		}
		got := strings.ReplaceAll(strings.ReplaceAll(rows(b), "log_time=0 publish_time=0 ", ""), "\n", " | ")
		name := typ.Fields[0].Type.Fields[0].Name
		if want := strings.ReplaceAll(c.want, "u1", name); got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
		if d := b.Doubts(); d != (columns.Doubts{Wide: 1}) {
			t.Errorf("%+v", d)
		}
	}
}

const protoText = `syntax = "proto3"; package p;
import "google/protobuf/timestamp.proto"; import "google/protobuf/duration.proto";
message T {
  enum E { Z = 0; ONE = 1; BIG = 1000; }
  message S { int32 x = 1; repeated E es = 2; google.protobuf.Duration d = 3; }
  E e = 1; S s = 2; map<string, S> m = 3; google.protobuf.Timestamp at = 4; T self = 5; repeated T list = 6;
  oneof o { float f = 7; S os = 8; E oe = 9; } optional int64 i = 10; bytes b = 11; repeated sint32 r = 12; repeated bytes bs = 13;
  message Empty {} Empty none = 14; repeated Empty nones = 15; bool t = 16; uint64 u = 17; string text = 18;
}`

func protoType(t testing.TB, text, name string) (*message.Type, protoreflect.MessageDescriptor) {
	t.Helper()
	sets, problems := protosource.Compile([]*protosource.File{{Path: "t.proto", Text: text}},
		func(*protosource.File, string) *protosource.File { return nil })
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	set, err := protoschema.Parse(sets[0])
	if err != nil {
		t.Fatal(err)
	}
	md, err := set.Message(name)
	if err != nil {
		t.Fatal(err)
	}
	typ, err := message.Proto(md)
	if err != nil {
		t.Fatal(err)
	}
	return typ, md
}

// TestProto: what protobuf alone has.
func TestProto(t *testing.T) {
	typ, md := protoType(t, protoText, "p.T")
	p, err := columns.Compile(typ, columns.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := p.NewBatch()
	for _, c := range []struct{ text, want string }{
		{``, `e=Z s=null m=[] at=null self=null list=[] f=null os=null oe=null i=0 b=<> r=[] bs=[] none=null nones=[] t=0 u=0 text=""`},
		{`e: ONE s {x: -1 es: [ONE, BIG] d {seconds: -1 nanos: -5}} m {key: "k" value {x: 2}} at {seconds: 1 nanos: 2} self {i: 5} list {} list {i: 5} f: 0
		  i: 7 b: "\001\002" r: [1, -2] bs: ["a", ""] none {} nones {} nones {} t: true u: 18446744073709551615 text: "x"`,
			`e=ONE s={x:-1 es:[ONE BIG] d:-1000000005} m=[{key:"k" value:{x:2 es:[] d:null}}] at=1000000002 self=<5005> list=[<> <5005>] f=0 os=null oe=null ` +
				`i=7 b=<0102> r=[1 -2] bs=[<61> <>] none=1 nones=[1 1] t=1 u=18446744073709551615 text="x"`},
		{`e: 77 os {es: [5, 77, 5]} at {seconds: 99999999999}`,
			`e=77 s=null m=[] at=9223372036854775807 self=null list=[] f=null os={x:0 es:[5 77 5] d:null} oe=null i=0 b=<> r=[] bs=[] none=null nones=[] t=0 u=0 text=""`},
		{`oe: 3 at {seconds: -99999999999} s {d {seconds: 1 nanos: -1}}`,
			`e=Z s={x:0 es:[] d:999999999} m=[] at=-9223372036854775808 self=null list=[] f=null os=null oe=3 i=0 b=<> r=[] bs=[] none=null nones=[] t=0 u=0 text=""`},
	} {
		m := dynamicpb.NewMessage(md)
		if err := prototext.Unmarshal([]byte(c.text), m); err != nil {
			t.Fatal(err)
		}
		data, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		before := dump(b.Columns())
		if err := b.Append(append(data, 0x0a), 0, 0, 0); !errors.Is(err, ros.ErrMalformed) || dump(b.Columns()) != before {
			t.Fatalf("%v\n%s\n%s", err, before, dump(b.Columns()))
		}
		if err := b.Append(data, 0, 0, 0); err != nil {
			t.Fatal(err)
		}
		all := strings.Split(rows(b), "\n")
		if got := strings.TrimPrefix(all[len(all)-1], "log_time=0 publish_time=0 "); got != c.want {
			t.Errorf("\n got %s\nwant %s", got, c.want)
		}
	}
	for _, n := range []int{3, 40} { // keys that come again
		var data []byte
		for i := range n {
			data = append(data, 0x1a, 9, 0x0a, 1, 'a'+byte(i%2), 0x12, 4, 8, byte(i), 0x12, 0)
		}
		if err := b.Append(data, 0, 0, 0); err != nil {
			t.Fatal(err)
		}
		all := strings.Split(rows(b), "\n")
		want := fmt.Sprintf(` m=[{key:"%c" value:{x:%d es:[] d:null}} {key:"%c" value:{x:%d es:[] d:null}}] at=`, 'a'+n%2,
			n-2, 'a'+(n+1)%2, n-1)
		if got := all[len(all)-1]; !strings.Contains(got, want) {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
	texts := dump(b.Columns()) // a number that only a message has that is refused leaves no text
	if err := b.Append(unhex(t, "0863 1202 0a05"), 0, 0, 0); !errors.Is(err, ros.ErrMalformed) ||
		dump(b.Columns()) != texts {
		t.Errorf("%v\n%s\n%s", err, dump(b.Columns()), texts)
	}
	if err := b.Append(unhex(t, "9a063200"), 0, 0, 0); err == nil {
		t.Error("a field that is cut was read")
	}
	if err := b.Append(unhex(t, "980601"), 0, 0, 0); err != nil {
		t.Error(err)
	}
	if d := b.Doubts(); d != (columns.Doubts{Enums: 5, Beyond: 2, Times: 1, Keys: 39, Unknown: 1}) {
		t.Errorf("%+v", d)
	}
}

// TestExplodeKinds: the elements of every kind of list can be rows.
func TestExplodeKinds(t *testing.T) {
	times := program(t, "int8 a\ntime[2] ts\nstring s", columns.Options{Explode: "ts"}).NewBatch()
	if err := times.Append(unhex(t, "05 01000000 02000000 03000000 04000000 01000000 78"), 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	if want := "log_time=0 publish_time=0 a=5 ts=1000000002 s=\"x\"\nlog_time=0 publish_time=0 a=5 ts=3000000004 s=\"x\""; rows(times) != want {
		t.Error(rows(times))
	}
	typ, _ := protoType(t, protoText, "p.T")
	data := unhex(t, "1a05 0a0161 1200 1a07 0a0162 1202 0807 1a07 0a0161 1202 0809 620178")
	for _, c := range []struct {
		o    columns.Options
		want string
	}{
		{columns.Options{Explode: "m", Columns: []string{"m"}},
			`m={key:"b" value:{x:7 es:[] d:null}} | m={key:"a" value:{x:9 es:[] d:null}}`},
		{columns.Options{Explode: "r", Columns: []string{"r", "b"}}, `b=<> r=60`},
	} {
		p, err := columns.Compile(typ, c.o)
		if err != nil {
			t.Fatal(err)
		}
		b := p.NewBatch()
		if err := b.Append(data, 0, 0, 0); err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(strings.ReplaceAll(rows(b), "log_time=0 publish_time=0 ", ""), "\n",
			" | "); got != c.want {
			t.Errorf("\n got %s\nwant %s", got, c.want)
		}
	}
}

// TestFarTimes: the times at both ends of 64 bits of ns, and beyond.
func TestFarTimes(t *testing.T) {
	typ, md := protoType(t, `syntax = "proto3"; package p; import "google/protobuf/timestamp.proto";
		message T { google.protobuf.Timestamp at = 1; }`, "p.T")
	p, err := columns.Compile(typ, columns.Options{Columns: []string{"at"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		sec    int64
		nsec   int32
		want   int64
		beyond int
	}{
		{9223372036, 854775807, math.MaxInt64, 0}, {9223372036, 854775808, math.MaxInt64, 1}, {9223372035, 999999999,
			9223372035999999999, 0},
		{9223372037, 0, math.MaxInt64, 1}, {math.MaxInt64, 0, math.MaxInt64, 1}, {9223372036, 0, 9223372036000000000, 0},
		{-9223372037, 145224192, math.MinInt64, 0}, {-9223372037, 145224191, math.MinInt64, 1}, {-9223372037, 999999999,
			-9223372036000000001, 0},
		{-9223372036, 0, -9223372036000000000, 0}, {math.MinInt64, 0, math.MinInt64, 1}, {-9223372038, 999999999,
			math.MinInt64, 1},
		{-9223372036, -1, -9223372036000000001, 0}, {9223372037, -999999999, 9223372036000000001, 0},
	} {
		m := dynamicpb.NewMessage(md)
		if err := prototext.Unmarshal(fmt.Appendf(nil, "at {seconds: %d nanos: %d}", c.sec, c.nsec), m); err != nil {
			t.Fatal(err)
		}
		data, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		b := p.NewBatch()
		if err := b.Append(data, 0, 0, 0); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("log_time=0 publish_time=0 at=%d", c.want)
		if d := b.Doubts(); rows(b) != want || d.Beyond != c.beyond || (d.Times > 0) != (c.nsec < 0) {
			t.Errorf("%d, %d: %s, %+v", c.sec, c.nsec, rows(b), d)
		}
	}
}
