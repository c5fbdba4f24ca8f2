package message_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/proto/apollo"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/schema/rosidl"
)

// That the cursor finds the values that packages values, render and content find is tested in
// convert/values/cursor_test.go.

var encodings = map[bool]serial.Encoding{false: serial.ROS1, true: serial.CDR}

func typeOf(t testing.TB, text string, cdr bool) *message.Type {
	t.Helper()
	dialect, name := rosmsg.ROS1, "p/T"
	if cdr {
		dialect, name = rosmsg.ROS2, "p/msg/T"
	}
	m, err := rosmsg.Parse(name, []byte(text), dialect, nil)
	if err != nil {
		t.Fatal(err)
	}
	typ, err := message.ROS(m, encodings[cdr])
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

// ExampleOpen reads a message as its definition says.
func ExampleOpen() {
	m, _ := rosmsg.Parse("p/T", []byte("string name\nfloat64[] ranges\n"), rosmsg.ROS1, nil)
	t, err := message.ROS(m, serial.ROS1)
	if err != nil {
		fmt.Println(err)
		return
	}
	c := message.Open(t, []byte("\x04\x00\x00\x00left\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\xf0\x3f"))
	defer c.Close()
	c.Fields(t, func(f *message.Field) {
		if f.Kind == message.Text {
			fmt.Printf("%s: %s\n", f.Name, c.Text(f))
			return
		}
		n := c.Count(f)
		fmt.Printf("%s: %d numbers, % x\n", f.Name, n, c.Numbers(f, n))
	})
	fmt.Println(c.End())
	// Output:
	// name: left
	// ranges: 1 numbers, 00 00 00 00 00 00 f0 3f
	// <nil>
}

// TestPath: what has no field, and what Seek finds.
func TestPath(t *testing.T) {
	typ := typeOf(t, "int8 a\nP[] ps\n"+strings.Repeat("=", 80)+"\nMSG: p/P\nstring s\nint16[] n\n", false)
	for path, want := range map[string]string{
		"b": `no field "b"`, "a.b": "a has no fields", "ps.s": "ps has no fields", "a[0]": "a is not a list",
		"ps[x]": "not an index",
		"ps[1":  "not an index", "ps[0].n[1].x": "n has no fields", "": "no field",
	} {
		if _, err := typ.Path(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", path, err, want)
		}
	}
	data := unhex(t, "07 02000000 01000000 61 00000000 02000000 6263 02000000 0500 feff")
	p, err := typ.Path("ps[1].n[1]")
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(data) + 1 {
		c := message.Open(typ, data[:n])
		if found := c.Seek(p) && int64(c.Bits(p.Field)) == -2; found != (n == len(data)) ||
			!found && !errors.Is(c.Err(), ros.ErrMalformed) {
			t.Errorf("%d bytes: %t, %v", n, found, c.Err())
		}
		c.Close()
	}
	if p, err = typ.Path("ps[2].s"); err != nil {
		t.Fatal(err)
	}
	c := message.Open(typ, data)
	defer c.Close()
	if c.Seek(p) || c.Err() != nil {
		t.Error("an element that the list does not have", c.Err())
	}
}

// TestSizes: XCDR2 has a size before an array of structs, also in a struct of nothing but numbers, and none before a
// time of ROS 1.
func TestSizes(t *testing.T) {
	parts := strings.Repeat("=", 80) + "\nMSG: p/P\nQ[1] a\nQ b\n" + strings.Repeat("=", 80) + "\nMSG: p/Q\nint32 x\n"
	ros1, err := rosmsg.Parse("p/T", []byte("time[1] t\nduration[] d\nuint8 v\n"), rosmsg.ROS1, nil)
	if err != nil {
		t.Fatal(err)
	}
	typ, err := message.ROS(ros1, serial.CDR)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		typ  *message.Type
		data string
	}{
		"array of structs": {typeOf(t, "P p\nuint8 v\n"+parts, true), "00070000 04000000 01000000 02000000 2a"},
		"times of ROS 1":   {typ, "00070000 01000000 02000000 01000000 03000000 04000000 2a"},
		"delimited":        {typ, "00090000 15000000 01000000 02000000 01000000 03000000 04000000 2a"},
	} {
		p, err := c.typ.Path("v")
		if err != nil {
			t.Fatal(err)
		}
		m := message.Open(c.typ, unhex(t, c.data))
		if !m.Seek(p) || m.Bits(p.Field) != 0x2a {
			t.Errorf("%s: %v", name, m.Err())
		}
		m.Close()
	}
}

// TestLimits: messages that ask for more than their bytes pay for, and types that do.
func TestLimits(t *testing.T) {
	empty := typeOf(t, "E[] es\n"+strings.Repeat("=", 80)+"\nMSG: p/E\n", false)
	c := message.Open(empty, unhex(t, "ffffff7f"))
	visited := 0
	c.Fields(empty, func(f *message.Field) { c.Elements(f, c.Count(f), func(int) { visited++ }) })
	if err := c.End(); visited > 0 || !errors.Is(err, ros.ErrMalformed) {
		t.Errorf("%d structs without bytes: %v", visited, err)
	}
	c.Close()
	m := &schema.Message{Name: "p/T", Fields: []schema.Field{{Name: "v", Type: schema.Type{Kind: schema.LongDouble}}}}
	if _, err := message.ROS(m, serial.CDR); err == nil || !strings.Contains(err.Error(),
		"field v of p/T: a long double") {
		t.Error(err)
	}
	for range 200 {
		m = &schema.Message{Name: "p/T",
			Fields: []schema.Field{{Name: "v", Type: schema.Type{Kind: schema.Struct, Message: m}}}}
	}
	if _, err := message.ROS(m, serial.CDR); err == nil {
		t.Error("a type nested 200 deep")
	}
}

// TestStrays: fields of protobuf that the descriptor does not have, or has on another wire type.
func TestStrays(t *testing.T) {
	typ, err := message.Proto(apollo.Message("apollo.drivers.gnss.Imu"))
	if err != nil {
		t.Fatal(err)
	}
	for data, want := range map[string][2]string{
		"":       {"", ""},
		"f87f01": {"field 2047, which apollo.drivers.gnss.Imu does not have", ""},
		"0801 f87f01": {"field 2047, which apollo.drivers.gnss.Imu does not have",
			"apollo.drivers.gnss.Imu.header has wire type 0, and the descriptor says 2"},
		"0a02 0801": {"", "apollo.common.Header.timestamp_sec has wire type 0, and the descriptor says 1"},
	} {
		c := message.Open(typ, unhex(t, data))
		c.Fields(typ, c.Check)
		if unknown, mistyped := c.Strays(); unknown != want[0] || mistyped != want[1] || c.End() != nil {
			t.Errorf("%s: %q, %q, %v", data, unknown, mistyped, c.Err())
		}
		c.Close()
	}
}

// TestInPlace: values of types that only IDL has are found in the message itself, up to the first that a plain
// message does not have.
func TestInPlace(t *testing.T) {
	m, err := rosidl.Parse("p/msg/T", []byte("module p { module msg { struct H { long a; }; @appendable struct T { H h; "+
		"@optional long b; long c; }; }; };"))
	if err != nil {
		t.Fatal(err)
	}
	typ, err := message.ROS(m, serial.CDR)
	if err != nil {
		t.Fatal(err)
	}
	data := unhex(t, "00090000 14000000 04000000 2a000000 01000000 2b000000 2c000000")
	for path, want := range map[string]uint64{"h.a": 0x2a, "c": 0x2c} {
		p, err := typ.Path(path)
		if err != nil {
			t.Fatal(err)
		}
		c := message.Open(typ, data)
		if !c.Seek(p) || c.Bits(p.Field) != want {
			t.Errorf("%s: %v", path, c.Err())
		}
		c.Close()
		c = message.OpenInPlace(typ, data)
		found := c.Seek(p)
		if found != (path == "h.a") {
			t.Errorf("%s in place: %t", path, found)
		} else if found {
			if b := c.Numbers(p.Field, 1); &b[0] != &data[12] {
				t.Error("other bytes than those of the message")
			}
		}
		c.Close()
	}
}

// BenchmarkNumbers reads a list of a million numbers; it must cost no more than to look for them.
func BenchmarkNumbers(b *testing.B) {
	typ := typeOf(b, "float32[] v\n", false)
	data := append([]byte{0, 0, 16, 0}, make([]byte, 4<<20)...)
	b.ReportAllocs()
	for b.Loop() {
		c := message.Open(typ, data)
		c.Fields(typ, func(f *message.Field) { c.Numbers(f, c.Count(f)) })
		if err := c.End(); err != nil {
			b.Fatal(err)
		}
		c.Close()
	}
}
