package content

import (
	"bytes"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/schema/rosmsg"
)

// TestSizes: XCDR2 has a size before each list and array of what is not a number, also
// one of a single value, and delimited before each struct, also a time; what a struct
// has after its fields is skipped.
func TestSizes(t *testing.T) {
	for name, c := range map[string]struct {
		text, data, want string
		rest             bool
	}{
		"array of one": {"string[1] s\nuint8 x\n", "\x00\x07\x00\x00" + "\x06\x00\x00\x00" + "\x02\x00\x00\x00a\x00" + "\x09",
			"\x01\x00\x00\x00a\x09", false},
		"array of numbers": {"uint8[1] s\nuint8 x\n", "\x00\x07\x00\x00" + "\x06\x09", "\x06\x09", false},
		"longer time": {"builtin_interfaces/Time t\nuint8 x\n" + line +
			"MSG: builtin_interfaces/msg/Time\nint32 sec\nuint32 nanosec\n",
			"\x00\x09\x00\x00" + "\x11\x00\x00\x00" + "\x0c\x00\x00\x00" + "\x01\x00\x00\x00\x02\x00\x00\x00" + "more" + "\x09",
			"\x02\xca\x9a\x3b\x00\x00\x00\x00\x09", true},
		"longer struct": {"P p\nuint8 x\n" + line + "MSG: p/P\nuint8 y\n", "\x00\x08\x00\x00" + "\x00\x00\x00\x07" +
			"\x00\x00\x00\x02" + "\x05\x06" + "\x09",
			"\x05\x09", true},
	} {
		msg := parse(t, c.text, rosmsg.ROS2)
		p, err := FromROS(msg, serial.CDR, Canonical(msg, false), true)
		if err != nil {
			t.Fatal(name, err)
		}
		w := NewWriter(true)
		if err := p.Read(w, []byte(c.data)); err != nil || !bytes.Equal(w.Bytes(), []byte(c.want)) || w.Rest != c.rest {
			t.Errorf("%s: %v: %x, %v", name, err, w.Bytes(), w.Rest)
		}
	}
}

// TestTopicOfTimes: a message that is a time has one size in delimited CDR, and what follows its fields is left over.
func TestTopicOfTimes(t *testing.T) {
	msg, err := rosmsg.Parse("builtin_interfaces/msg/Duration", []byte("int32 sec\nuint32 nanosec\n"), rosmsg.ROS2, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := FromROS(msg, serial.CDR, Canonical(msg, false), true)
	if err != nil {
		t.Fatal(err)
	}
	want := []byte("\x02\xca\x9a\x3b\x00\x00\x00\x00")
	for data, rest := range map[string]bool{
		"\x00\x01\x00\x00" + "\x01\x00\x00\x00\x02\x00\x00\x00":                               false,
		"\x00\x07\x00\x00" + "\x01\x00\x00\x00\x02\x00\x00\x00" + "12345678":                  true,
		"\x00\x09\x00\x00" + "\x08\x00\x00\x00" + "\x01\x00\x00\x00\x02\x00\x00\x00":          false,
		"\x00\x09\x00\x00" + "\x0c\x00\x00\x00" + "\x01\x00\x00\x00\x02\x00\x00\x00" + "more": true,
	} {
		w := NewWriter(true)
		if err := p.Read(w, []byte(data)); err != nil || !bytes.Equal(w.Bytes(), want) || w.Rest != rest {
			t.Errorf("% x: %v: %x, %v", data, err, w.Bytes(), w.Rest)
		}
	}
}
