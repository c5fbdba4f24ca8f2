package verify

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/schema/rosmsg"
)

func parse(t testing.TB, text string, d rosmsg.Dialect) *schema.Message {
	t.Helper()
	name := "p/T"
	if d == rosmsg.ROS2 {
		name = "p/msg/T"
	}
	m, err := rosmsg.Parse(name, []byte(text), d, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const line = "\n================================================================================\n"

const header1 = line + "MSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n"

const header2 = line + "MSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n" +
	line + "MSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n" + line + "MSG: builtin_interfaces/Duration\nint32 sec\nuint32 nanosec\n"

// TestShapes: what has one shape in both dialects, and what has not.
func TestShapes(t *testing.T) {
	for _, c := range []struct {
		ros1, ros2 string
		seq, bare  bool // equal with Header.seq, and without
	}{
		{"int32 a\nstring b\n", "int32 a\nstring<=5 b\n", true, true},
		{"int32 A\n", "int32 a\n", true, true},
		{"string[] s\n", "wstring[<=3] s\n", true, true},
		{"byte a\nchar b\nuint8 c\n", "byte a\nchar b\nuint8 c\n", true, true},
		{"time t\nduration d\n", "builtin_interfaces/Time t\nbuiltin_interfaces/Duration d\n", true, true},
		{"std_msgs/Header h\nfloat64[9] m\n", "std_msgs/Header h\nfloat64[9] m\n", false, true},
		{"int32 X=5\nint32 a\n", "int32 Y=6\nint32 a 7\n", true, true},
		{"int32 a\n", "uint32 a\n", false, false},
		{"int8 a\n", "uint8 a\n", false, false},
		{"float64[3] a\n", "float64[] a\n", false, false},
		{"float64[3] a\n", "float64[4] a\n", false, false},
		{"int32 a\nint32 b\n", "int32 b\nint32 a\n", false, false},
		{"int32 a\n", "int32 a\nint32 b\n", false, false},
	} {
		a, b := parse(t, c.ros1+header1, rosmsg.ROS1), parse(t, c.ros2+header2, rosmsg.ROS2)
		for _, seq := range []bool{true, false} {
			want := c.bare
			if seq {
				want = c.seq
			}
			if got := shapeOf(canonical(a, seq)) == shapeOf(canonical(b, seq)); got != want {
				t.Errorf("%q and %q, with seq %v: %v", c.ros1, c.ros2, seq, got)
			}
		}
	}
}

// TestNormalizer: NaN and bools become one, wherever they stand; all else stays.
func TestNormalizer(t *testing.T) {
	m := canonical(parse(t, `int32 n
float32 a
bool b
string s
float64[] c
float32[3] d
bool[] e
uint8[] blob
P[] ps
P[2] pair
Empty[] nothing
Empty none
string[2] words
`+line+"MSG: p/P\nuint16 k\nfloat64 x\nbool ok\n"+line+"MSG: p/Empty\n", rosmsg.ROS1), false)
	write := func(nan32, nan64 uint64, yes byte) []byte {
		le := binary.LittleEndian
		f32 := func(b []byte) []byte { return le.AppendUint32(b, uint32(nan32)) }
		f64 := func(b []byte) []byte { return le.AppendUint64(b, nan64) }
		b := append(f32([]byte{1, 2, 3, 4}), yes)
		b = append(le.AppendUint32(b, 3), 0xff, 0xff, 0xff)
		b = f64(append(f64(le.AppendUint32(b, 3)), 0, 0, 0, 0, 0, 0, 0xf0, 0x7f)) // infinity between
		b = f32(f32(f32(b)))
		b = append(le.AppendUint32(b, 4), yes, 0, yes, 1)
		b = append(le.AppendUint32(b, 3), 0xff, 0xff, 0xff)
		b = le.AppendUint32(b, 2)
		for range 4 { // the list and the array
			b = append(f64(append(b, 0xff, 0xff)), yes)
		}
		b = le.AppendUint32(b, 9)
		b = append(le.AppendUint32(b, 1), 'x')
		return le.AppendUint32(b, 0)
	}
	n := newNormalizer(m)
	want := write(nan32, nan64, 1)
	for _, c := range []struct {
		nan32, nan64 uint64
		yes          byte
	}{{nan32, nan64, 1}, {0xffc00000, 0xfff8000000000000, 2}, {0x7f800001, 0x7ff0000000000001, 0xff}} {
		got := write(c.nan32, c.nan64, c.yes)
		if err := n.run(got); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%+v: %v\n%x\n%x", c, err, got, want)
		}
	}
	for _, keep := range []struct {
		nan32, nan64 uint64
		yes          byte
	}{{0x7f800000, 0xfff0000000000000, 0}, {0x80000000, 1 << 63, 1}, {0xff7fffff, math.Float64bits(1), 1}} {
		got, was := write(keep.nan32, keep.nan64, keep.yes), write(keep.nan32, keep.nan64, keep.yes)
		if err := n.run(got); err != nil || !bytes.Equal(got, was) {
			t.Errorf("%+v is changed: %v", keep, err)
		}
	}
	for i := range want { // cut anywhere
		if err := n.run(bytes.Clone(want[:i])); err == nil && i < len(want)-9 {
			t.Errorf("cut at %d: no error", i)
		}
	}
}

// TestDiffer finds the one field that was changed.
func TestDiffer(t *testing.T) {
	m := canonical(parse(t, "int8 a\nuint64 b\nP[] ps\nstring s\ntime t\nduration d\nbool[2] f\nfloat32 x\n"+line+"MSG: p/P\nstring name\nfloat64[2] v\n", rosmsg.ROS1), false)
	write := func(a byte, b uint64, name string, v float64, s string, sec, nsec uint32, f byte, x float32, ps uint32) []byte {
		le := binary.LittleEndian
		out := le.AppendUint32(le.AppendUint64([]byte{a}, b), ps)
		for range ps {
			out = append(le.AppendUint32(out, uint32(len(name))), name...)
			out = le.AppendUint64(le.AppendUint64(out, 0), math.Float64bits(v))
		}
		out = append(le.AppendUint32(out, uint32(len(s))), s...)
		out = le.AppendUint32(le.AppendUint32(out, sec), nsec)
		out = le.AppendUint32(le.AppendUint32(out, sec), nsec)
		return le.AppendUint32(append(out, 0, f), math.Float32bits(x))
	}
	base := write(1, 2, "n", 3, "text", 4, 5, 0, 6, 1)
	long := strings.Repeat("é", 100)
	for _, c := range []struct {
		other            []byte
		path, valA, valB string
	}{
		{write(0xff, 2, "n", 3, "text", 4, 5, 0, 6, 1), "a", "1", "-1"},
		{write(1, 1<<63, "n", 3, "text", 4, 5, 0, 6, 1), "b", "2", "9223372036854775808"},
		{write(1, 2, "m\n", 3, "text", 4, 5, 0, 6, 1), "ps[0].name", `"n"`, `"m\n"`},
		{write(1, 2, "n", 3.5, "text", 4, 5, 0, 6, 1), "ps[0].v[1]", "3", "3.5"},
		{write(1, 2, "n", 3, "text", 4, 5, 0, 6, 2), "ps", "1 elements", "2 elements"},
		{write(1, 2, "n", 3, "texts", 4, 5, 0, 6, 1), "s", `"text"`, `"texts"`},
		{write(1, 2, "n", 3, long, 4, 5, 0, 6, 1), "s", `"text"`, `"` + long[:60] + `"...`},
		{write(1, 2, "n", 3, "text", 4, 6, 0, 6, 1), "t", "4.000000005", "4.000000006"},
		{write(1, 2, "n", 3, "text", 4, 5, 1, 6, 1), "f[1]", "false", "true"},
		{write(1, 2, "n", 3, "text", 4, 5, 0, 0.1, 1), "x", "6", "0.1"},
	} {
		d := differ{a: base, b: c.other}
		if !d.message(m, "") || d.path != c.path || d.va != c.valA || d.vb != c.valB {
			t.Errorf("%s: %s, %s", d.path, d.va, d.vb)
		}
	}
	d := differ{a: base, b: base}
	if d.message(m, "") {
		t.Errorf("equal messages differ in %s", d.path)
	}
	if path, a, b := firstByte([]byte{1, 2}, []byte{1, 2, 3}); path != "byte 2" || a != "the end, at 2 bytes" || b != "03" {
		t.Errorf("%s, %s, %s", path, a, b)
	}
	for ns, want := range map[int64]string{0: "0.000000000", -1: "-0.000000001", math.MinInt64: "-9223372036.854775808", 1_700_000_000_000_000_001: "1700000000.000000001"} {
		if got := nsText(ns); got != want {
			t.Errorf("%d: %s", ns, got)
		}
	}
}

// FuzzNormalize: no bytes make the normalizer or the differ fall, whatever the
// type; and what was normalized stays as it is.
func FuzzNormalize(f *testing.F) {
	f.Add("float32 a\nbool[] b\n", []byte{0, 0, 0xc0, 0x7f, 2, 0, 0, 0, 1, 5})
	f.Add("string[] s\nfloat64[2] x\n", []byte{1, 0, 0, 0, 2, 0, 0, 0, 'a', 'b'})
	f.Add("P[] p\n"+line+"MSG: p/P\nfloat64[] x\nstring[3] y\n", bytes.Repeat([]byte{1, 0, 0, 0}, 20))
	f.Add("P[1000000] p\n"+line+"MSG: p/P\nQ[1000000] q\n"+line+"MSG: p/Q\nfloat64[1000000] x\n", []byte{})
	f.Fuzz(func(t *testing.T, text string, data []byte) {
		msg, err := rosmsg.Parse("p/T", []byte(text), rosmsg.ROS1, nil)
		if err != nil {
			t.Skip()
		}
		m := canonical(msg, false)
		n := newNormalizer(m)
		once := bytes.Clone(data)
		if n.run(once) != nil {
			return
		}
		again := bytes.Clone(once)
		if err := n.run(again); err != nil || !bytes.Equal(once, again) {
			t.Errorf("a second time gives something else: %v", err)
		}
		if len(data) > 0 && len(text) < 200 && !strings.Contains(text, "000") {
			d := differ{a: once, b: data}
			d.message(m, "")
		}
	})
}
