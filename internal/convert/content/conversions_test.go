package content_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/convert/content"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/render"
	"github.com/bagconv/bagconv/internal/convert/transcode"
	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/internal/testing/typetree"
	"github.com/bagconv/bagconv/schema"
)

// A reader is one that reads all of a message, and writes what it has found.
type reader interface {
	Append(dst, src []byte) ([]byte, error)
}

// sameReaders gives a message to the judge, to programs that re-encode it and to one that
// writes it as text. All read it, or none does; and in what they make the judge finds the
// content of the message. One difference is known: text does not know how many values an array has.
func sameReaders(t *testing.T, message []byte, judge *content.Program, text reader, programs map[string]reader,
	judges map[string]*content.Program) {
	t.Helper()
	want, got := content.NewWriter(true), content.NewWriter(true)
	err := judge.Within(serial.ROS1).Read(want, message)
	beyond := want.Beyond
	if err2 := judge.Within(serial.CDR).Read(want, message); beyond || want.Beyond || want.Replaced || limit(err) ||
		limit(err2) {
		return // what conversions report as a loss
	}
	_, proto := programs["CDR"].(*transcode.FromProto)
	length := proto && err != nil && strings.Contains(err.Error(), "an array of")
	if _, err2 := text.Append(nil, message); !limit(err2) && !length && (err == nil) != (err2 == nil) {
		t.Fatalf("% x: %v; as text: %v", message, err, err2)
	}
	for name, p := range programs {
		made, err2 := p.Append(nil, message)
		if limit(err2) {
			continue
		}
		if (err == nil) != (err2 == nil) {
			t.Fatalf("% x: %v; as %s: %v", message, err, name, err2)
		}
		if err != nil {
			continue
		}
		if err := judges[name].Read(got, made); err != nil || got.Rest || !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Fatalf("% x: %v; as %s it is % x\n got % x\nwant % x", message, err, name, made, got.Bytes(), want.Bytes())
		}
	}
}

// textOf returns the program that writes messages of a definition as text.
func textOf(d *mapping.Definition) (*render.Program, error) {
	t, err := d.Type()
	if err != nil {
		return nil, err
	}
	return render.Compile(t, render.Options{Bytes: true, Arrays: true})
}

// limit reports whether a reader refuses a message for its size, which each bounds by itself.
func limit(err error) bool {
	if err == nil {
		return false
	}
	for _, what := range []string{"too many", "out of proportion", "too large"} {
		if strings.Contains(err.Error(), what) {
			return true
		}
	}
	return false
}

const separator = "\n================================================================================\n"

// A type with arrays, messages of it in protobuf without their values, and one whose values are not
// together.
const arrays = "int16[3] a\nuint8[2] b\nstring[2] c\nP[2] p\ntime[1] t\nbool z\n" + separator +
	"MSG: p/P\nfloat32[2] x\n"

var protoArrays = []string{"", "\x0a\x00", "\x12\x00", "\x30\x01", "\x22\x00\x22\x00",
	"\x08\x02\x30\x01\x0a\x02\x04\x06"}

// TestArraysNotSet: the values of an array that is not set are zero, for conversions and for the judge.
// Any other length than that of the array is an error.
func TestArraysNotSet(t *testing.T) {
	msg, err := rosmsg.Parse("p/T", []byte(arrays), rosmsg.ROS1, nil)
	if err != nil {
		t.Fatal(err)
	}
	md := describe(t, msg)
	p, err := transcode.CompileFromProto(md, msg, serial.ROS1)
	if err != nil {
		t.Fatal(err)
	}
	canon := content.Canonical(msg, true)
	judge, err := content.FromProto(md, msg, false, canon, true)
	if err != nil {
		t.Fatal(err)
	}
	for i, message := range protoArrays {
		want := make([]byte, 6+2+8+16+8+1)
		want[len(want)-1] = map[int]byte{3: 1, 5: 1}[i]
		if i == 5 {
			copy(want, []byte{1, 0, 2, 0, 3, 0})
		}
		if out, err := p.Append(nil, []byte(message)); err != nil || !bytes.Equal(out, want) {
			t.Errorf("% x: % x, %v", message, out, err)
		}
		w := content.NewWriter(true)
		if err := judge.Read(w, []byte(message)); err != nil || !bytes.Equal(w.Bytes(), want) {
			t.Errorf("% x: % x, %v", message, w.Bytes(), err)
		}
	}
	for _, message := range []string{"\x08\x01", "\x0a\x01\x01", "\x12\x01\x01", "\x1a\x00", "\x22\x00",
		"\x22\x05\x0d\x00\x00\x00\x00\x22\x00"} {
		_, err := p.Append(nil, []byte(message))
		if err2 := judge.Read(content.NewWriter(true), []byte(message)); err == nil || err2 == nil {
			t.Errorf("% x: %v, %v", message, err, err2)
		}
	}
}

// FuzzConversions: whatever the type and the bytes, all programs read the same message.
func FuzzConversions(f *testing.F) {
	const nested = "P[] p\nP[2] q\nstring s\nE e\nE[] es\n" + separator +
		"MSG: p/P\nuint8 a\nfloat64[] x\nstring[3] y\nbool b\n" + separator + "MSG: p/E\n"
	forms := [][]byte{nil, {0, 1, 0, 0}, {0, 0, 0, 0}, {0, 7, 0, 0}, {0, 6, 0, 0}, {0, 9, 0, 0}, {0, 8, 0, 0}}
	for i, form := range forms {
		message := func(b ...byte) []byte { return append(bytes.Clone(form), b...) }
		f.Add(byte(i), nested, message(bytes.Repeat([]byte{1, 0, 0, 0}, 30)...))
		f.Add(byte(i), "uint8 a\nfloat64 b\nint16[3] c\nbool[] d\nchar e\nint64 f\n",
			message(bytes.Repeat([]byte{2, 0, 0, 0, 0}, 12)...))
		f.Add(byte(i), "time t\nduration[] d\nbyte[] w\n", message(bytes.Repeat([]byte{2, 0, 0, 0, 0, 0, 0, 0}, 5)...))
		f.Add(byte(i), "string[] s\nfloat32[2] x\n", message(2, 0, 0, 0, 2, 0, 0, 0, 'a', 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0,
			0, 0x80, 0x3f, 0, 0, 0xc0, 0x7f))
	}
	for seed := range uint64(12) {
		w := typetree.New(seed, 3, typetree.Options{})
		for _, m := range w.Roots {
			v := w.Value(m)
			f.Add(byte(0), string(typetree.AppendText(nil, m, typetree.ROS1)), typetree.AppendROS1(nil, m, v))
			f.Add(byte(1), string(typetree.AppendText(nil, m, typetree.ROS2)), typetree.AppendCDR(nil, m, v))
		}
	}
	f.Add(byte(7), nested,
		[]byte("\x0a\x0b\x08\x01\x12\x01\x00\x1a\x01a\x1a\x00\x1a\x00\x12\x06\x1a\x00\x1a\x00\x1a\x00\x12\x06\x1a\x00\x1a\x00\x1a\x00\x1a\x01x"))
	f.Add(byte(7), "uint8 a\nfloat64 b\nint16[3] c\nbool[] d\nchar e\nint64 f\n",
		[]byte("\x08\x05\x1a\x03\x01\x02\x03\x22\x02\x00\x01\x28\x07\x30\x05"))
	for _, message := range protoArrays {
		f.Add(byte(7), arrays, []byte(message))
	}
	f.Fuzz(func(t *testing.T, form byte, text string, message []byte) {
		if len(message) > 4<<10 || len(text) > 4<<10 {
			return
		}
		dialect, wire, from := rosmsg.ROS2, serial.CDR, serial.CDR
		if form == 0 {
			dialect, wire, from = rosmsg.ROS1, serial.ROS1, serial.ROS1
		}
		msg, err := rosmsg.Parse("p/T", []byte(text), dialect, nil)
		if err != nil || !plain(msg, 0) {
			return
		}
		canon := content.Canonical(msg, true)
		types := map[string]*schema.Message{"ROS 1": withTimes(msg), "CDR": msg}
		judges := map[string]*content.Program{}
		if judges["ROS 1"], err = content.FromROS(types["ROS 1"], serial.ROS1, canon, true); err != nil {
			return
		}
		if judges["CDR"], err = content.FromROS(msg, serial.CDR, canon, true); err != nil {
			return
		}
		md := describe(t, msg)
		if md != nil {
			if judges["protobuf"], err = content.FromProto(md, msg, false, canon, true); err != nil {
				return
			}
		}
		programs := map[string]reader{}
		if form == 7 {
			if md == nil {
				return
			}
			for name, to := range map[string]serial.Encoding{"ROS 1": serial.ROS1, "CDR": serial.CDR} {
				if programs[name], err = transcode.CompileFromProto(md, types[name], to); err != nil {
					return
				}
			}
			as, err := textOf(&mapping.Definition{Proto: md})
			if err != nil {
				return
			}
			sameReaders(t, message, judges["protobuf"], as, programs, judges)
			return
		}
		for name, to := range map[string]serial.Encoding{"ROS 1": serial.ROS1, "CDR": serial.CDR} {
			if programs[name], err = transcode.Compile(msg, types[name], transcode.Options{From: from, To: to}); err != nil {
				return
			}
		}
		if md != nil {
			if programs["protobuf"], err = transcode.CompileToProto(msg, from, md); err != nil {
				return
			}
		}
		as, err := textOf(&mapping.Definition{ROS: msg, Wire: from})
		if err != nil {
			return
		}
		judge, err := content.FromROS(msg, wire, canon, true)
		if err != nil {
			return
		}
		sameReaders(t, message, judge, as, programs, judges)
	})
}

// withTimes returns a type with ROS 1's own times and durations instead of messages of them.
func withTimes(m *schema.Message) *schema.Message {
	out := &schema.Message{Name: m.Name}
	for _, f := range m.Fields {
		if f.Type.Message != nil {
			switch f.Type.Message.Name {
			case "builtin_interfaces/Time", "builtin_interfaces/msg/Time":
				f.Type.Kind, f.Type.Message = schema.Time, nil
			case "builtin_interfaces/Duration", "builtin_interfaces/msg/Duration":
				f.Type.Kind, f.Type.Message = schema.Duration, nil
			default:
				f.Type.Message = withTimes(f.Type.Message)
			}
		}
		out.Fields = append(out.Fields, f)
	}
	return out
}

// describe returns the protobuf type of a ROS type, nil if it has none.
func describe(t *testing.T, msg *schema.Message) protoreflect.MessageDescriptor {
	data, name, err := protoschema.Describe(msg, nil)
	if err != nil {
		return nil
	}
	set, err := protoschema.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	md, err := set.Message(name)
	if err != nil {
		t.Fatal(err)
	}
	return md
}

// plain reports whether a type is small: large arrays of structs take no bytes of a message.
func plain(m *schema.Message, depth int) bool {
	for _, f := range m.Fields {
		if f.Type.Len > 16 || depth > 8 || f.Type.Message != nil && !plain(f.Type.Message, depth+1) {
			return false
		}
	}
	return true
}
