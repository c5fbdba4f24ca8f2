package columns_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/bagconv/bagconv/internal/export/columns"
	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/internal/testing/typetree"
)

// A form is a way in which messages are written.
type form struct {
	name             string
	header           []byte
	align            int
	big              bool
	sizes, delimited bool
	proto            bool
}

var forms = []form{
	{name: "ROS 1", align: 1},
	{name: "CDR", header: []byte{0, 1, 0, 0}, align: 8},
	{name: "CDR big endian", header: []byte{0, 0, 0, 0}, align: 8, big: true},
	{name: "XCDR2", header: []byte{0, 7, 0, 0}, align: 4, sizes: true},
	{name: "XCDR2 big endian", header: []byte{0, 6, 0, 0}, align: 4, sizes: true, big: true},
	{name: "delimited", header: []byte{0, 9, 0, 0}, align: 4, sizes: true, delimited: true},
	{name: "delimited big endian", header: []byte{0, 8, 0, 0}, align: 4, sizes: true, delimited: true, big: true},
	{name: "protobuf", proto: true},
}

func (f *form) ros1() bool { return f.header == nil && !f.proto }

func (f *form) dialect() typetree.Dialect {
	if f.ros1() {
		return typetree.ROS1
	}
	return typetree.ROS2
}

// typeOf returns the type of the messages that a form has of a type of the tree, and its descriptor.
func (f *form) typeOf(t testing.TB, m *typetree.Message) (*message.Type, protoreflect.MessageDescriptor) {
	t.Helper()
	dialect, e := rosmsg.ROS2, serial.CDR
	if f.ros1() {
		dialect, e = rosmsg.ROS1, serial.ROS1
	}
	msg, err := rosmsg.Parse(m.TypeName(f.dialect()), typetree.AppendText(nil, m, f.dialect()), dialect, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !f.proto {
		typ, err := message.ROS(msg, e)
		if err != nil {
			t.Fatal(err)
		}
		return typ, nil
	}
	set, name, err := protoschema.Describe(msg, nil)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := protoschema.Parse(set)
	if err != nil {
		t.Fatal(err)
	}
	md, err := parsed.Message(name)
	if err != nil {
		t.Fatal(err)
	}
	typ, err := message.Proto(md)
	if err != nil {
		t.Fatal(err)
	}
	return typ, md
}

// encode writes a message.
func (f *form) encode(t testing.TB, m *typetree.Message, v []typetree.Value, md protoreflect.MessageDescriptor) []byte {
	if f.proto {
		out, err := proto.MarshalOptions{Deterministic: true}.Marshal(protoOf(md, m, v))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	e := encoder{form: *f}
	e.message(m, v)
	return append(append([]byte{}, f.header...), e.out...)
}

// protoOf makes a message of protobuf.
func protoOf(md protoreflect.MessageDescriptor, m *typetree.Message, v []typetree.Value) protoreflect.ProtoMessage {
	out := dynamicpb.NewMessage(md)
	next := 0
	for i := range m.Fields {
		f := &m.Fields[i]
		if f.OnlyROS1 {
			continue
		}
		fd := md.Fields().Get(next)
		next++
		if !fd.IsList() {
			if list, many := v[i].([]typetree.Value); many && fd.Kind() == protoreflect.BytesKind {
				b := []byte{}
				for _, x := range list {
					b = append(b, byteOf(x))
				}
				out.Set(fd, protoreflect.ValueOfBytes(b))
			} else {
				out.Set(fd, protoValue(fd, f, v[i]))
			}
			continue
		}
		list := out.Mutable(fd).List()
		for _, x := range v[i].([]typetree.Value) {
			list.Append(protoValue(fd, f, x))
		}
	}
	return out
}

func protoValue(fd protoreflect.FieldDescriptor, f *typetree.Field, v typetree.Value) protoreflect.Value {
	switch x := v.(type) {
	case []typetree.Value:
		return protoreflect.ValueOfMessage(protoOf(fd.Message(), f.Message, x).ProtoReflect())
	case time.Duration:
		m := dynamicpb.NewMessage(fd.Message())
		sec, nsec := int64(x/time.Second), int64(x%time.Second)
		if nsec < 0 && f.Kind == typetree.Time {
			sec, nsec = sec-1, nsec+1e9
		}
		m.Set(fd.Message().Fields().ByNumber(1), protoreflect.ValueOfInt64(sec))
		m.Set(fd.Message().Fields().ByNumber(2), protoreflect.ValueOfInt32(int32(nsec)))
		return protoreflect.ValueOfMessage(m)
	case float64:
		if fd.Kind() == protoreflect.FloatKind {
			return protoreflect.ValueOfFloat32(float32(x))
		}
	case int64:
		if k := fd.Kind(); k == protoreflect.Int32Kind || k == protoreflect.Sint32Kind || k == protoreflect.Sfixed32Kind {
			return protoreflect.ValueOfInt32(int32(x))
		}
	case uint64:
		if k := fd.Kind(); k == protoreflect.Uint32Kind || k == protoreflect.Fixed32Kind {
			return protoreflect.ValueOfUint32(uint32(x))
		}
	}
	return protoreflect.ValueOf(v)
}

// An encoder writes the values of a tree in any form of ROS, plainly.
type encoder struct {
	form
	out []byte
}

func (e *encoder) number(size int, v uint64) {
	for len(e.out)%min(size, e.align) != 0 {
		e.out = append(e.out, 0)
	}
	if e.big {
		e.out = append(e.out, binary.BigEndian.AppendUint64(nil, v)[8-size:]...)
	} else {
		e.out = append(e.out, binary.LittleEndian.AppendUint64(nil, v)[:size]...)
	}
}

// sized writes what f writes, after its size.
func (e *encoder) sized(on bool, f func()) {
	if !on {
		f()
		return
	}
	e.number(4, 0)
	at := len(e.out)
	f()
	size := encoder{form: e.form}
	size.number(4, uint64(len(e.out)-at))
	copy(e.out[at-4:], size.out)
}

func (e *encoder) message(m *typetree.Message, v []typetree.Value) {
	e.sized(e.delimited, func() {
		empty := true
		for i := range m.Fields {
			f := &m.Fields[i]
			if f.OnlyROS1 && !e.ros1() {
				continue
			}
			empty = false
			if f.Array == typetree.One {
				e.single(f, v[i])
				continue
			}
			list := v[i].([]typetree.Value)
			e.sized(e.sizes && (f.Kind == typetree.Bool || sizes[f.Kind] == 0) && f.Kind != typetree.Bool, func() {
				if f.Array != typetree.Fixed {
					e.number(4, uint64(len(list)))
				}
				for _, x := range list {
					e.single(f, x)
				}
			})
		}
		if empty && !e.ros1() {
			e.out = append(e.out, 0)
		}
	})
}

var sizes = map[typetree.Kind]int{"int8": 1, "uint8": 1, "byte": 1, "char": 1, "int16": 2, "uint16": 2, "int32": 4,
	"uint32": 4, "int64": 8, "uint64": 8, "float32": 4, "float64": 8}

func (e *encoder) single(f *typetree.Field, v typetree.Value) {
	switch x := v.(type) {
	case []typetree.Value:
		e.message(f.Message, x)
	case bool:
		e.number(1, map[bool]uint64{true: 1}[x])
	case int64:
		e.number(sizes[f.Kind], uint64(x))
	case uint64:
		e.number(sizes[f.Kind], x)
	case float64:
		if f.Kind == "float32" {
			e.number(4, uint64(math.Float32bits(float32(x))))
		} else {
			e.number(8, math.Float64bits(x))
		}
	case time.Duration:
		e.sized(e.delimited, func() {
			sec := int64(x / time.Second)
			if x%time.Second < 0 {
				sec--
			}
			e.number(4, uint64(sec))
			e.number(4, uint64(int64(x)-sec*1e9))
		})
	case string:
		e.text(f, x)
	}
}

func (e *encoder) text(f *typetree.Field, x string) {
	switch {
	case f.Kind == typetree.Wide:
		units, width, count := utf16.Encode([]rune(x)), 4, 1
		if e.sizes {
			width, count = 2, 2
		}
		e.number(4, uint64(len(units)*count))
		for _, u := range units {
			e.number(width, uint64(u))
		}
	case e.ros1():
		e.number(4, uint64(len(x)))
		e.out = append(e.out, x...)
	default:
		e.number(4, uint64(len(x)+1))
		e.out = append(append(e.out, x...), 0)
	}
}

// same compares value i of the columns of a struct with a message of the tree, and returns where they differ.
func same(cols []*columns.Column, m *typetree.Message, v []typetree.Value, i int, ros1 bool) string {
	for k := range m.Fields {
		f := &m.Fields[k]
		if f.OnlyROS1 && !ros1 {
			continue
		}
		c := find(cols, f.Name)
		if c == nil {
			return f.Name + " is missing"
		}
		one := *f
		one.Array = typetree.One
		if d := sameField(c, f, v[k], i, ros1); d != "" {
			return f.Name + ": " + d
		}
	}
	return ""
}

func find(cols []*columns.Column, name string) *columns.Column {
	for _, c := range cols {
		if c.Field.Name == name {
			return c
		}
	}
	return nil
}

func sameField(c *columns.Column, f *typetree.Field, v typetree.Value, i int, ros1 bool) string {
	if c.Null(i) {
		return "null"
	}
	if f.Array == typetree.One {
		return sameValue(c, f, v, i, ros1)
	}
	list := v.([]typetree.Value)
	from, to := i*c.Field.Size, (i+1)*c.Field.Size
	if c.Offsets != nil {
		from, to = int(c.Offsets[i]), int(c.Offsets[i+1])
	}
	if to-from != len(list) {
		return fmt.Sprintf("%d values, not %d", to-from, len(list))
	}
	for k, x := range list {
		if len(c.Children) == 0 {
			if got, want := c.Values[from+k], byteOf(x); got != want {
				return fmt.Sprintf("[%d]: %d, not %d", k, got, want)
			}
		} else if d := sameValue(c.Children[0], f, x, from+k, ros1); d != "" {
			return fmt.Sprintf("[%d]: %s", k, d)
		}
	}
	return ""
}

func byteOf(v typetree.Value) byte {
	if x, signed := v.(int64); signed {
		return byte(x)
	}
	return byte(v.(uint64))
}

// sameValue compares one value.
func sameValue(c *columns.Column, f *typetree.Field, v typetree.Value, i int, ros1 bool) string {
	w := c.Field.Width()
	var bits uint64
	if w > 0 && w <= 8 {
		b := [8]byte{}
		copy(b[:], c.Values[i*w:(i+1)*w])
		bits = binary.LittleEndian.Uint64(b[:])
	}
	signed := int64(bits) << (64 - 8*max(w, 1)) >> (64 - 8*max(w, 1))
	var got any
	switch x := v.(type) {
	case []typetree.Value:
		if c.Field.Kind == columns.Bool {
			got, v = bits, uint64(1)
			break
		}
		return same(c.Children, f.Message, x, i, ros1)
	case bool:
		got = bits == 1
	case string:
		got = string(c.Values[c.Offsets[i]:c.Offsets[i+1]])
	case time.Duration:
		got, v = signed, int64(x)
	case int64:
		got = signed
	case uint64:
		got = bits
	case float64:
		if got, v = bits, math.Float64bits(x); w == 4 {
			v = uint64(math.Float32bits(float32(x)))
		}
	}
	if got != v {
		return fmt.Sprintf("%v, not %v", got, v)
	}
	return ""
}

// dump writes all of some columns, to compare batches.
func dump(cols []*columns.Column) string {
	var s strings.Builder
	for _, c := range cols {
		fmt.Fprintf(&s, "%s %d %x %v %x %d %q (%s)\n", c.Field.Name, c.Len, c.Values, c.Offsets, c.Valid, c.Nulls, c.Texts,
			dump(c.Children))
	}
	return s.String()
}
