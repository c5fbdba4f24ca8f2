package pb

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// sample is a type: 1 int32 and 2 string in a oneof, 3 sint32s, 4 a message of the same
// type, 300 bytes, and 5 messages.
var sample = NewType([]Field{
	{1, protoreflect.Int32Kind, protowire.VarintType, false, true, false, 0},
	{2, protoreflect.StringKind, protowire.BytesType, false, false, false, 0},
	{3, protoreflect.Sint32Kind, protowire.VarintType, true, true, false, -1},
	{4, protoreflect.MessageKind, protowire.BytesType, false, false, true, -1},
	{300, protoreflect.BytesKind, protowire.BytesType, false, false, false, -1},
	{5, protoreflect.MessageKind, protowire.BytesType, true, false, true, -1},
	{},
}, 1)

// describe writes what an Index finds in a message, by its fields in their order.
func describe(x *Index, message []byte) (string, *Error) {
	var v View
	if err := x.Open(&v, sample, message); err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "case %d", x.Case(&v, 0))
	for i := range sample.Fields {
		f := &sample.Fields[i]
		switch {
		case x.Count(&v, i) == 0:
		case !f.List && !f.Parts:
			begin, end, _ := x.Single(&v, i)
			fmt.Fprintf(&b, " %d:%x", f.Num, message[begin:end])
		case f.Packs:
			for o := x.First(&v, i); !o.None(); o = x.Next(&v, o) {
				fmt.Fprintf(&b, " %d:%x", f.Num, v.Numbers(f, &o))
			}
		case f.List:
			for o := x.First(&v, i); !o.None(); o = x.Next(&v, o) {
				inner, err := describe(x, v.Content(f, &o))
				if err != nil {
					return "", err
				}
				fmt.Fprintf(&b, " %d:{%s}", f.Num, inner)
			}
		default:
			content, _, err := x.Joined(&v, i)
			if err != nil {
				return "", err
			}
			inner, err := describe(x, content)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, " %d:{%s}", f.Num, inner)
		}
	}
	x.Close(&v)
	return b.String(), nil
}

func TestIndex(t *testing.T) {
	for _, c := range []struct {
		message, want string
		unknown       bool
	}{
		{"", "case -1", false},
		{"\x08\x05\x08\x07", "case 0 1:07", false},                              // the last counts
		{"\x08\x05\x12\x01a", "case 1 2:0161", false},                           // of a oneof too
		{"\x12\x01a\x08\x05", "case 0 1:05", false},                             //
		{"\x18\x02\x1a\x02\x04\x06\x18\x08", "case -1 3:02 3:0406 3:08", false}, // packed or not
		// a message in parts
		{"\x2a\x00\x22\x02\x08\x01\x2a\x02\x08\x02\x22\x02\x08\x03", "case -1 4:{case 0 1:03} 5:{case -1} 5:{case 0 1:02}",
			false},
		{"\xe2\x12\x01x", "case -1 300:0178", false},
		{"\x30\x01\x0a\x01a\x08\x01", "case 0 1:01", true}, // unknown, and on another wire type
		{"\x22\x04\x22\x02\x30\x01", "case -1 4:{case -1 4:{case -1}}", true},
	} {
		x, err := NewIndex([]byte(c.message))
		if err != nil {
			t.Fatal(err)
		}
		got, err := describe(x, []byte(c.message))
		if err != nil || got != c.want || x.Unknown != c.unknown {
			t.Errorf("%x: %q, unknown %t, want %q: %v", c.message, got, x.Unknown, c.want, err)
		}
		if len(x.slots)+len(x.values) > 0 {
			t.Errorf("%x: %d slots and %d values are left", c.message, len(x.slots), len(x.values))
		}
		x.Release()
	}
}

// TestIndexErrors: what is cut, and messages in parts at every depth, which would take
// time out of proportion.
func TestIndexErrors(t *testing.T) {
	deep := protowire.AppendBytes([]byte{0xe2, 0x12}, make([]byte, 1<<16))
	for range 60 {
		deep = protowire.AppendBytes([]byte{0x22, 0, 0x22}, deep)
	}
	for _, c := range []struct {
		message []byte
		at      int
		want    string
	}{
		{[]byte("\x08\x05\x12\x05a"), 2, "field 2 is cut"},
		{[]byte("\x08\x05\x80"), 2, "tag is cut"},
		{[]byte("\x22\x02\x2a\x02\x22\x02\x08\x08"), 1, "field 5 is cut"}, // both parts are one message together
		{deep, -1, "too many messages come in parts"},
	} {
		x, err := NewIndex(c.message)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = describe(x, c.message); err == nil || !strings.Contains(err.What, c.want) || c.at >= 0 && err.At != c.at {
			t.Errorf("%.20x: %v, want %q at %d", c.message, err, c.want, c.at)
		}
		x.Release()
	}
}

func TestAppendNumber(t *testing.T) {
	for kind := protoreflect.BoolKind; kind <= protoreflect.GroupKind; kind++ {
		if _, number := WireOf(kind); !number {
			continue
		}
		for _, p := range []string{"\x01\x00\x00\x00\x00\x00\x00\x00", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
			"\x85\x01\x00\x00\x00\x00\x00\x00"} {
			v, n := Number(kind, []byte(p))
			again := AppendNumber(nil, kind, v)
			if w, m := Number(kind, again); n < 0 || m != len(again) || w != v {
				t.Errorf("%s %x: %x becomes %x, %x", kind, p, v, again, w)
			}
			if !bytes.HasPrefix(AppendNumber([]byte("x"), kind, v), []byte("x")) {
				t.Errorf("%s: not appended", kind)
			}
		}
	}
}

func TestEndBytes(t *testing.T) {
	for _, n := range []int{0, 1, 127, 128, 20_000, 3 << 20} {
		content := bytes.Repeat([]byte("x"), n)
		got := EndBytes(append([]byte("before\x00"), content...), 6)
		if want := protowire.AppendBytes([]byte("before"), content); !bytes.Equal(got, want) {
			t.Errorf("%d bytes: %.20x, want %.20x", n, got, want)
		}
	}
}
