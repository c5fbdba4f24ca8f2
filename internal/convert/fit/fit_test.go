package fit

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/proto/apollo"
	"github.com/bagconv/bagconv/schema"
)

var encodings = map[bool]serial.Encoding{false: serial.ROS1, true: serial.CDR}

func parse(t testing.TB, text string, d rosmsg.Dialect) *schema.Message {
	t.Helper()
	name := "p/msg/T"
	if d == rosmsg.ROS1 {
		name = "p/T"
	}
	msg, err := rosmsg.Parse(name, []byte(strings.ReplaceAll(text, "|", "\n")), d, func(name string) (string, bool) {
		text, ok := map[string]string{
			"p/msg/Empty": "", "p/Empty": "", "p/msg/Pair": "int8 a\nfloat64 b\n", "p/Pair": "int8 a\nfloat64 b\n",
			"builtin_interfaces/msg/Time": "int32 sec\nuint32 nanosec\n",
		}[name]
		return text, ok
	})
	if err != nil {
		t.Fatal(err)
	}
	return msg
}

func typeOf(t testing.TB, msg *schema.Message, cdr bool) *message.Type {
	t.Helper()
	typ, err := message.ROS(msg, encodings[cdr])
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

// TestTest: messages that fit, that do not, and that are odd.
func TestTest(t *testing.T) {
	for _, c := range []struct {
		name, text, data string // in CDR behind its header, if the name does not begin with ROS 1
		err, doubt       string
	}{
		{"exact", "int32 a|uint8 b", "01000000 02", "", ""},
		{"padded to 4", "int32 a|uint8 b", "01000000 02000000", "", ""},
		{"padded to 8", "int32 a|uint8 b|uint8 c", "01000000 0203 0000", "", ""},
		{"padded oddly", "int32 a", "01000000 00", "", "1 bytes behind the last field"},
		{"tail", "int32 a", "01000000 05", "1 bytes are left over at byte 8", ""},
		{"tail of an empty list", "float64[] a|int32 b", "00000000 01000000 aabbcc", "", "3 bytes behind"},
		{"long tail", "float64[] a|int32 b", "00000000 01000000 aabbccddeeff0011", "8 bytes are left over", ""},
		{"cut", "int32 a|int32 b", "01000000 0200", "the message ends", ""},
		{"bool", "bool a|bool b", "0102", "a bool is 2", ""},
		{"bools", "bool[] a", "03000000 000103", "a bool is 3 at byte 10", ""},
		{"text", "string a", "03000000 616200", "", ""},
		{"empty text", "string a", "00000000", "", ""},
		{"no NUL", "string a", "02000000 6162", "", "text without NUL"},
		{"NUL within", "string a", "04000000 61006200", "", "NUL within text"},
		{"not UTF-8", "string a", "03000000 61ff00", "", "not UTF-8"},
		{"bound", "string<=2 a", "04000000 61626300", "text of 3 bytes, and the definition allows 2", ""},
		{"list bound", "int8[<=2] a", "03000000 010203", "a list of 3 elements", ""},
		{"huge list", "int32[] a", "ffffff7f 00", "a list of 2147483647 elements", ""},
		{"huge array", "int32[1000000] a", "00000000", "a list of 1000000 elements", ""},
		{"padding", "int8 a|int32 b", "01ffffff 02000000", "", "padding that is not zero at byte 5"},
		{"empty struct", "Empty a|int8 b", "0005", "", ""},
		{"structs", "Pair[] a", "02000000 01000000 0000000000000000 02000000 00000000 0000000000000000", "", ""},
		{"time", "builtin_interfaces/Time a", "01000000 00ca9a3b", "", "1000000000 nanoseconds"},
		{"wide", "wstring a", "01000000 61000000", "", ""},
		{"no wide", "wstring a", "01000000 000011 00", "", "not Unicode"},
		{"ROS 1", "int8 a|float64 b|string c", "01 0000000000000000 02000000 6161", "", ""},
		{"ROS 1 tail", "int8 a", "0100", "1 bytes are left over", ""},
		{"ROS 1 time", "time a|duration b", "01000000 00ca9a3b ffffffff 00000000", "", "1000000000 nanoseconds"},
		{"ROS 1 without bytes", "Empty[] a", "ffffff7f", "too many values that take no bytes", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			data, err := hex.DecodeString(strings.ReplaceAll(c.data, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			d, cdr := rosmsg.ROS2, !strings.HasPrefix(c.name, "ROS 1")
			if cdr {
				data = append([]byte{0, 1, 0, 0}, data...)
			} else {
				d = rosmsg.ROS1
			}
			doubt, err := Test(typeOf(t, parse(t, c.text, d), cdr), data)
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, want %q", err, c.err)
			}
			if err == nil && ((doubt == "") != (c.doubt == "") || !strings.Contains(doubt, c.doubt)) {
				t.Errorf("doubt %q, want %q", doubt, c.doubt)
			}
		})
	}
}

// TestForms: other forms of CDR are read, and no message of an unknown form is.
func TestForms(t *testing.T) {
	msg := parse(t, "int8 a|float64 b|Pair[] c", rosmsg.ROS2)
	for name, c := range map[string]struct {
		data string
		ok   bool
	}{
		"XCDR1 big endian":    {"00000000 01000000 00000000 3ff0000000000000 00000000", true},
		"XCDR2":               {"00070000 01000000 000000000000f03f 04000000 00000000", true},
		"XCDR2 delimited":     {"00090000 14000000 01000000 000000000000f03f 04000000 00000000", true},
		"more in a delimiter": {"00090000 18000000 01000000 000000000000f03f 04000000 00000000 01020304", false},
		"parameter list":      {"00030000 01000000", false},
		"header":              {"000100", false},
	} {
		data, err := hex.DecodeString(strings.ReplaceAll(c.data, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if doubt, err := Test(typeOf(t, msg, true), data); (err == nil) != c.ok || doubt != "" {
			t.Errorf("%s: %v, %q", name, err, doubt)
		}
	}
}

// FuzzTest: no bytes and no definition make it panic or hang.
func FuzzTest(f *testing.F) {
	f.Add("int8 a\nstring[<=3] b\nEmpty[] c\nPair[] d\n", []byte{0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0}, true)
	f.Add("Empty[] c\ntime t\nwstring w\n", []byte{255, 255, 255, 0}, false)
	f.Fuzz(func(t *testing.T, text string, data []byte, cdr bool) {
		d, name := rosmsg.ROS2, "p/msg/T"
		if !cdr {
			d, name = rosmsg.ROS1, "p/T"
		}
		msg, err := rosmsg.Parse(name, []byte(text), d, func(string) (string, bool) { return "", true })
		if err != nil {
			return
		}
		typ, err := message.ROS(msg, encodings[cdr])
		if err != nil {
			return
		}
		if _, err := Test(typ, data); err != nil && !strings.Contains(err.Error(), "of the message") &&
			!strings.Contains(err.Error(), "CDR") {
			t.Errorf("no place in %v", err)
		}
	})
}

// TestProto: fields of other wire types do not fit, unknown ones are a doubt.
func TestProto(t *testing.T) {
	imu, err := message.Proto(apollo.Message("apollo.drivers.gnss.Imu"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ data, err, doubt string }{
		"empty":        {"", "", ""},
		"header":       {"0a09 09 0000000000000040", "", ""},
		"wire type":    {"0801", "has wire type 0, and the descriptor says 2", ""},
		"within":       {"0a02 0801", "has wire type 0, and the descriptor says 1", ""},
		"cut":          {"0a05 08", "cut or wrong", ""},
		"unknown":      {"f87f01", "", "field 2047, which apollo.drivers.gnss.Imu does not have"},
		"not UTF-8":    {"0a03 1201ff", "", "not UTF-8"},
		"cut in field": {"0a02 09 00", "cut or wrong", ""},
	} {
		data, err := hex.DecodeString(strings.ReplaceAll(c.data, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		doubt, err := Test(imu, data)
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: error %v, want %q", name, err, c.err)
		}
		if err == nil && ((doubt == "") != (c.doubt == "") || !strings.Contains(doubt, c.doubt)) {
			t.Errorf("%s: doubt %q, want %q", name, doubt, c.doubt)
		}
	}
}

// FuzzProto: no bytes make it panic or hang.
func FuzzProto(f *testing.F) {
	imu, err := message.Proto(apollo.Message("apollo.drivers.gnss.Imu"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{0x0a, 9, 9, 0, 0, 0, 0, 0, 0, 0, 0x40})
	f.Add([]byte{0xf8, 0x7f, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		if doubt, err := Test(imu, data); err == nil && doubt == "" && len(data) == 1 {
			t.Errorf("one byte is a message: % x", data)
		}
	})
}
