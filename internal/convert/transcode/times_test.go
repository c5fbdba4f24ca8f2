package transcode

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// words are the seconds and nanoseconds of a time, as the wire has them.
type words struct{ sec, nsec uint32 }

func bits(n int64) uint32 { return uint32(n) }

// twoWords are the values that ROS 1 and CDR write in other words, or cannot both
// hold.
var twoWords = []struct {
	kind      schema.Kind
	ros1, cdr words
	beyond    [2]bool         // towards CDR, towards ROS 1
	once      bool            // the words do not come back: one way is tested, and it is counted unless it is beyond
	from      serial.Encoding // which
}{
	{kind: schema.Time, ros1: words{0, 0}, cdr: words{0, 0}},
	{kind: schema.Time, ros1: words{math.MaxInt32, math.MaxUint32}, cdr: words{math.MaxInt32, math.MaxUint32}},
	{kind: schema.Time, ros1: words{1 << 31, 5}, cdr: words{1 << 31, 5}, beyond: [2]bool{true, true}},
	{kind: schema.Time, ros1: words{math.MaxUint32, 999_999_999}, cdr: words{math.MaxUint32, 999_999_999},
		beyond: [2]bool{true, true}},
	{kind: schema.Duration, ros1: words{bits(-1), 500_000_000}, cdr: words{bits(-1), 500_000_000}},
	{kind: schema.Duration, ros1: words{bits(math.MinInt32), math.MaxInt32}, cdr: words{bits(math.MinInt32),
		math.MaxInt32}},
	{kind: schema.Duration, ros1: words{0, bits(-1)}, cdr: words{bits(-1), 999_999_999}, once: true},
	{kind: schema.Duration, ros1: words{1, bits(-1_500_000_000)}, cdr: words{bits(-1), 500_000_000}, once: true},
	{kind: schema.Duration, ros1: words{bits(-3), bits(math.MinInt32)}, cdr: words{bits(-6), 852_516_352}, once: true},
	{kind: schema.Duration, ros1: words{bits(math.MinInt32), bits(-1)}, cdr: words{bits(math.MinInt32), math.MaxUint32},
		beyond: [2]bool{true, false}, once: true},
	{kind: schema.Duration, ros1: words{2, 147_483_648}, cdr: words{0, 1 << 31}, once: true, from: serial.CDR},
	{kind: schema.Duration, ros1: words{3, 294_967_295}, cdr: words{bits(-1), math.MaxUint32}, once: true,
		from: serial.CDR},
	{kind: schema.Duration, ros1: words{math.MaxInt32, 1 << 31}, cdr: words{math.MaxInt32, 1 << 31},
		beyond: [2]bool{false, true}, once: true, from: serial.CDR},
}

// TestTimes: a time or duration is the same length of time in the other encoding,
// or keeps its bits and is counted: in a field, a list, an array, a message of its
// own, and in all forms of CDR.
func TestTimes(t *testing.T) {
	struct2 := map[schema.Kind]*schema.Message{schema.Time: testTime,
		schema.Duration: {Name: "builtin_interfaces/msg/Duration", Fields: testTime.Fields}}
	value := func(w words) any {
		w4 := func(v uint32) num { return num{[]byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)}} }
		return &strc{names: []string{"sec", "nanosec"}, vals: []any{w4(w.sec), w4(w.nsec)}}
	}
	for _, c := range twoWords {
		one, two := field("x", c.kind), strct("x", struct2[c.kind])
		for _, place := range []string{"field", "two", "list", "array", "root"} {
			a, b := &schema.Message{Name: "p/T", Fields: []schema.Field{one}}, &schema.Message{Name: "p/msg/T",
				Fields: []schema.Field{two}}
			make := func(v any) any { return &strc{names: []string{"x"}, vals: []any{v}} }
			switch place {
			case "two":
				y1, y2 := one, two
				y1.Name, y2.Name = "y", "y"
				a.Fields, b.Fields = append(a.Fields, y1), append(b.Fields, y2)
				make = func(v any) any { return &strc{names: []string{"x", "y"}, vals: []any{v, v}} }
			case "list":
				a.Fields[0], b.Fields[0] = many(one, schema.Unbounded, 0), many(two, schema.Unbounded, 0)
				make = func(v any) any { return &strc{names: []string{"x"}, vals: []any{list{v, v, v}}} }
			case "array":
				a.Fields[0], b.Fields[0] = many(one, schema.Fixed, 2), many(two, schema.Fixed, 2)
				make = func(v any) any { return &strc{names: []string{"x"}, vals: []any{list{v, v}}} }
			}
			ofROS1, ofCDR := make(value(c.ros1)), make(value(c.cdr))
			if place == "root" {
				b, ofCDR = struct2[c.kind], value(c.cdr)
			}
			for form := ros.PlainLE; form < ros.Forms; form++ {
				for _, from := range []serial.Encoding{serial.ROS1, serial.CDR} {
					if from == serial.ROS1 && form != ros.PlainLE || c.once && from != c.from {
						continue
					}
					o, src, dst := Options{From: serial.ROS1, To: serial.CDR}, a, b
					in, want := walkEncode(a, ofROS1, serial.ROS1, ros.PlainLE), walkEncode(b, ofCDR, serial.CDR, ros.PlainLE)
					if from == serial.CDR {
						o, src, dst = Options{From: serial.CDR, To: serial.ROS1}, b, a
						in, want = walkEncode(b, ofCDR, serial.CDR, form), walkEncode(a, ofROS1, serial.ROS1, ros.PlainLE)
					}
					name := fmt.Sprintf("%s in a %s, %v and %v, from wire %d form %d", c.kind, place, c.ros1, c.cdr, from, form)
					p, err := Compile(src, dst, o)
					if err != nil {
						t.Fatal(name, err)
					}
					if out, err := p.Append(nil, in); err != nil || !bytes.Equal(out, want) {
						t.Errorf("%s: %x, want %x (%v)", name, out, want, err)
					}
					if l := codesOf(p.Losses()); l != wantedCode(c.beyond[from], c.once && !c.beyond[from]) {
						t.Errorf("%s: losses are %q", name, l)
					}
					if p.Reset(); len(p.Losses()) > 0 {
						t.Errorf("%s: losses after Reset", name)
					}
				}
			}
		}
	}
}

// codesOf returns what was counted of one message.
func codesOf(losses []Loss) (codes string) {
	for _, l := range losses {
		codes += fmt.Sprintf("%s %d %v ", l.Code, l.Messages, l.Kept)
	}
	return codes
}

func wantedCode(beyond, normalized bool) string {
	switch {
	case beyond:
		return "time-wrapped 1 false "
	case normalized:
		return "time-normalized 1 true "
	}
	return ""
}

// protoTime makes the programs between a message of one time and protobuf.
func protoTime(t *testing.T, kind schema.Kind, wire serial.Encoding) (there *ToProto, back *FromProto) {
	t.Helper()
	typ := &schema.Message{Name: "p/T", Fields: []schema.Field{field("x", kind)}}
	if wire == serial.CDR {
		name := map[schema.Kind]string{schema.Time: "Time", schema.Duration: "Duration"}[kind]
		typ = &schema.Message{Name: "p/msg/T",
			Fields: []schema.Field{strct("x", &schema.Message{Name: "builtin_interfaces/msg/" + name, Fields: testTime.Fields})}}
	}
	data, name, err := protoschema.Describe(typ, nil)
	var set *protoschema.Set
	if err == nil {
		set, err = protoschema.Parse(data)
	}
	var md protoreflect.MessageDescriptor
	if err == nil {
		md, err = set.Message(name)
	}
	if err == nil {
		there, err = CompileToProto(typ, wire, md)
	}
	if err == nil {
		back, err = CompileFromProto(md, typ, wire)
	}
	if err != nil {
		t.Fatal(err)
	}
	return there, back
}

func protoStamp(sec, nsec int64) []byte {
	var v []byte
	if sec != 0 {
		v = protowire.AppendVarint(append(v, 1<<3), uint64(sec))
	}
	if nsec != 0 {
		v = protowire.AppendVarint(append(v, 2<<3), uint64(nsec))
	}
	return append(append([]byte(nil), 1<<3|2, byte(len(v))), v...)
}

// TestTimesOfProto: protobuf has more seconds and fewer nanoseconds than ROS.
func TestTimesOfProto(t *testing.T) {
	for _, c := range []struct {
		kind      schema.Kind
		wire      serial.Encoding
		w         words
		sec, nsec int64
		to, from  bool // the ways that are tested
		beyond    bool // from protobuf
		normal    bool // the words do not come back
	}{
		{kind: schema.Time, wire: serial.ROS1, w: words{math.MaxUint32, 1}, sec: math.MaxUint32, nsec: 1, to: true,
			from: true},
		{kind: schema.Time, wire: serial.CDR, w: words{bits(-1), 1}, sec: -1, nsec: 1, to: true, from: true},
		{kind: schema.Time, wire: serial.ROS1, w: words{1, 3_000_000_000}, sec: 4, to: true, normal: true},
		{kind: schema.Time, wire: serial.CDR, w: words{bits(-1), math.MaxUint32}, sec: 3, nsec: 294_967_295, to: true,
			normal: true},
		{kind: schema.Duration, wire: serial.CDR, w: words{bits(-9), math.MaxUint32}, sec: -4, nsec: -705_032_705, to: true,
			normal: true},
		{kind: schema.Duration, wire: serial.CDR, w: words{math.MaxInt32, math.MaxUint32}, sec: math.MaxInt32 + 4,
			nsec: 294_967_295, to: true, normal: true},
		{kind: schema.Time, wire: serial.ROS1, w: words{bits(-1), 1}, sec: -1, nsec: 1, from: true, beyond: true},
		{kind: schema.Time, wire: serial.CDR, w: words{1 << 31, 1}, sec: 1 << 31, nsec: 1, from: true, beyond: true},
		{kind: schema.Time, wire: serial.CDR, w: words{0, 999_999_999}, sec: 1, nsec: -1, from: true, normal: true},
		{kind: schema.Duration, wire: serial.CDR, w: words{1, 500_000_000}, sec: 3, nsec: -1_500_000_000, from: true,
			normal: true},
		{kind: schema.Duration, wire: serial.CDR, w: words{bits(-1), 500_000_000}, sec: 0, nsec: -500_000_000, from: true,
			to: true},
		{kind: schema.Duration, wire: serial.CDR, w: words{bits(-1), 1}, sec: -1, nsec: 1, from: true, normal: true},
		{kind: schema.Duration, wire: serial.ROS1, w: words{0, bits(-999_999_999)}, sec: -1, nsec: 1, from: true, to: true},
		{kind: schema.Time, wire: serial.CDR, w: words{620, 1_500_000_000}, sec: 620, nsec: 1_500_000_000, from: true,
			to: true},
		{kind: schema.Duration, wire: serial.ROS1, w: words{bits(math.MinInt32), bits(-1)}, sec: math.MinInt32, nsec: -1,
			from: true, normal: true},
		{kind: schema.Duration, wire: serial.ROS1, w: words{math.MaxInt32, 1}, sec: math.MaxInt32 + 1, nsec: -999_999_999,
			from: true, normal: true},
		{kind: schema.Duration, wire: serial.ROS1, w: words{3, bits(-1_500_000_000)}, sec: 3, nsec: -1_500_000_000,
			from: true, to: true},
	} {
		there, back := protoTime(t, c.kind, c.wire)
		w := ros.NewWriter(nil, c.wire == serial.CDR)
		w.U32(c.w.sec)
		w.U32(c.w.nsec)
		pb := protoStamp(c.sec, c.nsec)
		if c.to {
			if got, err := there.Append(nil, w.Buf); err != nil || !bytes.Equal(got, pb) ||
				codesOf(there.Losses()) != wantedCode(false, c.normal) {
				t.Errorf("%s %v of wire %d: %x, want %x (%v, %v)", c.kind, c.w, c.wire, got, pb, err, there.Losses())
			}
		}
		if c.from {
			got, err := back.Append(nil, pb)
			l := codesOf(back.Losses())
			if err != nil || !bytes.Equal(got, w.Buf) || l != wantedCode(c.beyond, c.normal) {
				t.Errorf("%s of %d s %d ns to wire %d: %x, want %x (%v, %q)", c.kind, c.sec, c.nsec, c.wire, got, w.Buf, err, l)
			}
			if back.Reset(); len(back.Losses()) > 0 {
				t.Error("losses after Reset")
			}
		}
	}
	for _, sec := range []int64{1 << 32, math.MinInt32 - 1} {
		for _, wire := range []serial.Encoding{serial.ROS1, serial.CDR} {
			for _, kind := range []schema.Kind{schema.Time, schema.Duration} {
				_, back := protoTime(t, kind, wire)
				if _, err := back.Append(nil, protoStamp(sec, 0)); err == nil {
					t.Errorf("%d seconds of a %s go into 32 bits of wire %d", sec, kind, wire)
				}
			}
		}
	}
}
