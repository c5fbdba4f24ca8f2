package content

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/schema"
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
	line + "MSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n" + line +
	"MSG: builtin_interfaces/Duration\nint32 sec\nuint32 nanosec\n"

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
			if got := ShapeOf(Canonical(a, seq)) == ShapeOf(Canonical(b, seq)); got != want {
				t.Errorf("%q and %q, with seq %v: %v", c.ros1, c.ros2, seq, got)
			}
		}
	}
}

// TestNormal: NaN and bools become one, wherever they stand; all else stays.
func TestNormal(t *testing.T) {
	msg := parse(t, `int32 n
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
`+line+"MSG: p/P\nuint16 k\nfloat64 x\nbool ok\n"+line+"MSG: p/Empty\n", rosmsg.ROS1)
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
	p, err := FromROS(msg, serial.ROS1, Canonical(msg, false), true)
	if err != nil {
		t.Fatal(err)
	}
	w := NewWriter(true)
	want := write(nan32, nan64, 1)
	for _, c := range []struct {
		nan32, nan64 uint64
		yes          byte
	}{{nan32, nan64, 1}, {0xffc00000, 0xfff8000000000000, 2}, {0x7f800001, 0x7ff0000000000001, 0xff}} {
		if err := p.Read(w, write(c.nan32, c.nan64, c.yes)); err != nil || !bytes.Equal(w.Bytes(), want) {
			t.Errorf("%+v: %v\n%x\n%x", c, err, w.Bytes(), want)
		}
	}
	for _, keep := range []struct {
		nan32, nan64 uint64
		yes          byte
	}{{0x7f800000, 0xfff0000000000000, 0}, {0x80000000, 1 << 63, 1}, {0xff7fffff, math.Float64bits(1), 1}} {
		was := write(keep.nan32, keep.nan64, keep.yes)
		if err := p.Read(w, was); err != nil || !bytes.Equal(w.Bytes(), was) {
			t.Errorf("%+v is changed: %v", keep, err)
		}
	}
	for i := range want { // cut anywhere
		if err := p.Read(w, want[:i]); !errors.Is(err, ErrMalformed) {
			t.Errorf("cut at %d: %v", i, err)
		}
	}
}
