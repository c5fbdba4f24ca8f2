package values

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	_ "google.golang.org/protobuf/types/known/durationpb"
	_ "google.golang.org/protobuf/types/known/timestamppb"

	"github.com/bagconv/bagconv/internal/convert/mapping"
)

// everything is a message with a field of every kind, alone, in a list and in a oneof, and with itself;
// with times or without.
func everything(t testing.TB, syntax string, withTimes bool) protoreflect.MessageDescriptor {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "name: 't.proto' package: 'a' syntax: '%s' dependency: 'google/protobuf/timestamp.proto' "+
		"dependency: 'google/protobuf/duration.proto'\n", syntax)
	b.WriteString("enum_type { name: 'E' value { name: 'ZERO' number: 0 } value { name: 'LOW' number: -5 } value { " +
		"name: 'HIGH' number: 1000 } }\n")
	b.WriteString("message_type { name: 'M' oneof_decl { name: 'one' }\n")
	num := 0
	field := func(name, typ, rest string) {
		num += 1 + num/5
		fmt.Fprintf(&b, "field { name: '%s' number: %d type: TYPE_%s %s }\n", name, num, typ, rest)
	}
	types := []string{"DOUBLE", "FLOAT", "INT64", "UINT64", "INT32", "FIXED64", "FIXED32", "BOOL", "STRING", "BYTES",
		"UINT32", "SFIXED32", "SFIXED64", "SINT32", "SINT64"}
	for i, typ := range types {
		field(fmt.Sprintf("one_%d", i), typ, "label: LABEL_OPTIONAL")
		field(fmt.Sprintf("list_%d", i), typ, "label: LABEL_REPEATED")
	}
	for i := 0; i < len(types); i += 3 {
		field(fmt.Sprintf("member_%d", i), types[i], "label: LABEL_OPTIONAL oneof_index: 0")
	}
	others := [][2]string{{"enum", "ENUM type_name: '.a.E'"}, {"time", "MESSAGE type_name: '.google.protobuf.Timestamp'"},
		{"span", "MESSAGE type_name: '.google.protobuf.Duration'"}, {"self", "MESSAGE type_name: '.a.M'"}}
	for _, o := range others {
		name, typ := o[0], o[1]
		if withTimes || !strings.Contains(typ, "google") {
			field(name, typ, "label: LABEL_OPTIONAL")
			field(name+"s", typ, "label: LABEL_REPEATED")
		}
	}
	field("table", "MESSAGE type_name: '.a.M.TableEntry'", "label: LABEL_REPEATED")
	if syntax == "proto2" {
		field("needed", "SINT32", "label: LABEL_REQUIRED default_value: '-7'")
		field("given", "FLOAT", "label: LABEL_OPTIONAL default_value: '2.5'")
		field("word", "STRING", "label: LABEL_OPTIONAL default_value: 'x'")
		field("packed", "INT32", "label: LABEL_REPEATED options { packed: true }")
		field("group", "GROUP type_name: '.a.M.Group'", "label: LABEL_OPTIONAL")
		field("groups", "GROUP type_name: '.a.M.Groups'", "label: LABEL_REPEATED")
		for _, name := range []string{"Group", "Groups"} {
			fmt.Fprintf(&b, "nested_type { name: '%s' field { name: 'x' number: 2 type: TYPE_SINT64 label: LABEL_OPTIONAL } }\n",
				name)
		}
	} else {
		field("plain", "INT32", "label: LABEL_OPTIONAL proto3_optional: true oneof_index: 1")
		b.WriteString("oneof_decl { name: '_plain' }\n")
	}
	b.WriteString(`nested_type { name: 'TableEntry' options { map_entry: true } field { name: 'key' number: 1 type: TYPE_INT32 label: LABEL_OPTIONAL }
		field { name: 'value' number: 2 type: TYPE_MESSAGE type_name: '.a.M' label: LABEL_OPTIONAL } } }`)
	f := &descriptorpb.FileDescriptorProto{}
	if err := prototext.Unmarshal([]byte(b.String()), f); err != nil {
		t.Fatal(err)
	}
	fd, err := protodesc.NewFile(f, protoregistry.GlobalFiles)
	if err != nil {
		t.Fatal(err)
	}
	return fd.Messages().Get(0)
}

// fill sets fields at random.
func (g drafter) fill(m protoreflect.Message, depth int) {
	for i := range m.Descriptor().Fields().Len() {
		f := m.Descriptor().Fields().Get(i)
		switch {
		case f.Cardinality() != protoreflect.Required && (g.IntN(3) == 0 || f.Message() != nil && depth > 2):
		case m.Descriptor().FullName().Parent() == "google.protobuf":
			m.Set(f, protoreflect.ValueOf(map[string]any{"seconds": g.Int64N(1 << 32),
				"nanos": g.Int32N(1e9)}[string(f.Name())]))
		case f.IsMap(): // one entry: more have no order
			v := m.Mutable(f).Map().NewValue()
			g.fill(v.Message(), depth+1)
			m.Mutable(f).Map().Set(protoreflect.ValueOfInt32(int32(g.IntN(9))).MapKey(), v)
		case f.IsList():
			for range g.IntN(4) {
				if l := m.Mutable(f).List(); f.Message() != nil {
					g.fill(l.AppendMutable().Message(), depth+1)
				} else {
					l.Append(g.scalar(f))
				}
			}
		case f.Message() != nil:
			g.fill(m.Mutable(f).Message(), depth+1)
		default:
			m.Set(f, g.scalar(f))
		}
	}
}

func (g drafter) scalar(f protoreflect.FieldDescriptor) protoreflect.Value {
	bits := g.Uint64() >> g.IntN(64)
	switch f.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(bits&1 == 1)
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(strings.Repeat("é", g.IntN(4)))
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(bytes.Repeat([]byte{0xff}, g.IntN(3)))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(math.Float64frombits(bits))
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(float32(g.NormFloat64()))
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(int32(bits)))
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(int32(bits))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(uint32(bits))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(bits)
	}
	return protoreflect.ValueOfInt64(int64(bits))
}

// tree returns a message as a map, as the protobuf library has it.
func tree(m protoreflect.Message) any {
	switch m.Descriptor().FullName() {
	case "google.protobuf.Timestamp":
		return time.Unix(m.Get(m.Descriptor().Fields().Get(0)).Int(), m.Get(m.Descriptor().Fields().Get(1)).Int()).UTC()
	case "google.protobuf.Duration":
		return time.Duration(m.Get(m.Descriptor().Fields().Get(0)).Int()*1e9 + m.Get(m.Descriptor().Fields().Get(1)).Int())
	}
	out := map[string]any{}
	for i := range m.Descriptor().Fields().Len() {
		f := m.Descriptor().Fields().Get(i)
		switch {
		case f.IsMap():
			list := []any{}
			m.Get(f).Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
				list = append(list, map[string]any{"key": k.Interface(), "value": tree(v.Message())})
				return true
			})
			out[string(f.Name())] = list
		case f.IsList():
			list := []any{}
			for k := range m.Get(f).List().Len() {
				list = append(list, leaf(f, m.Get(f).List().Get(k)))
			}
			out[string(f.Name())] = list
		case !f.HasPresence() || m.Has(f):
			out[string(f.Name())] = leaf(f, m.Get(f))
		}
	}
	return out
}

func leaf(f protoreflect.FieldDescriptor, v protoreflect.Value) any {
	if f.Message() != nil {
		return tree(v.Message())
	}
	if f.Kind() == protoreflect.EnumKind {
		return int32(v.Enum())
	}
	return v.Interface()
}

// text writes a tree and what Decode makes alike.
func treeText(v any) string {
	g := reflect.ValueOf(v)
	if b, ok := v.([]byte); ok {
		return fmt.Sprintf("%x", b)
	}
	if g.Kind() == reflect.Slice {
		var out []string
		for i := range g.Len() {
			out = append(out, treeText(g.Index(i).Interface()))
		}
		return "[" + strings.Join(out, " ") + "]"
	}
	if m, ok := v.(map[string]any); ok {
		out := map[string]string{}
		for k, v := range m {
			out[k] = treeText(v)
		}
		return fmt.Sprint(out)
	}
	return fmt.Sprintf("%T %v", v, v)
}

// TestProtobuf: random messages as maps are what the protobuf library finds, and are written as
// messages that it finds equal.
func TestProtobuf(t *testing.T) {
	for _, syntax := range []string{"proto2", "proto3"} {
		md := everything(t, syntax, true)
		codec, err := compileFor[map[string]any](&mapping.Definition{Proto: md})
		if err != nil {
			t.Fatal(err)
		}
		g := drafter{rand.New(rand.NewPCG(1, 2))}
		for range 200 {
			m := dynamicpb.NewMessage(md)
			g.fill(m, 0)
			src, err := proto.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			var v map[string]any
			if err := codec.Decode(src, &v); err != nil {
				t.Fatal(err)
			}
			if got, want := treeText(v), treeText(tree(m)); got != want {
				t.Fatalf("\n got %s\nwant %s", got, want)
			}
			out, err := codec.Append([]byte("x"), &v)
			if err != nil {
				t.Fatal(err)
			}
			back := dynamicpb.NewMessage(md)
			if err := proto.Unmarshal(out[1:], back); err != nil || !proto.Equal(back, m) {
				t.Fatalf("%v\n got %v\nwant %v", err, back, m)
			}
			for range 10 {
				b := bytes.Clone(src)
				for range min(len(b), g.IntN(3)) {
					b[g.IntN(len(b))] = byte(g.Uint32())
				}
				b = b[:g.IntN(len(b)+1)]
				if err := codec.Decode(b, &v); err != nil && !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrRange) {
					t.Fatal(err)
				}
			}
		}
	}
}

// A self is the message of everything, in part.
type self struct {
	One0   float64 `bag:"one_0"`
	One4   *int64  `bag:"one_4"`
	List4  []int
	List8  []string
	List9  [][]byte
	List0  [2]float64
	Enum   int16
	Time   time.Time
	Times  []int64
	Span   *time.Duration
	Self   *self
	Selfs  []self
	Needed int8
	Given  float32
	Word   any
	Packed []uint8
	Group  *struct{ X int }
	Groups []struct{ X *int }
	Table  []struct {
		Key   int
		Value *self
	}
	Member0 *float64
	Other   int `bag:"-"`
}

// TestProtobufStruct: what is and is not set is in pointers, and what T does not have is left out.
func TestProtobufStruct(t *testing.T) {
	md := everything(t, "proto2", true)
	codec, err := compileFor[self](&mapping.Definition{Proto: md})
	if err != nil {
		t.Fatal(err)
	}
	if len(codec.Unset()) != 0 || len(codec.Unread()) < 20 {
		t.Fatal(codec.Unset(), codec.Unread())
	}
	four, span, x, nought := int64(4), time.Second, 5, 0.0
	in := self{One0: 1.5, One4: &four, List4: []int{-1, 2}, List8: []string{"a", ""}, List9: [][]byte{{1}},
		List0: [2]float64{1, 2}, Enum: -5, Time: time.Unix(5, 6).UTC(),
		Times: []int64{-1}, Span: &span, Self: &self{Given: 1}, Selfs: []self{{}, {One0: 2}}, Needed: 3, Word: "y",
		Packed: []uint8{200}, Group: &struct{ X int }{7},
		Groups: []struct{ X *int }{{&x}, {}}, Member0: &nought}
	in.Table = append(in.Table, struct {
		Key   int
		Value *self
	}{1, &self{One0: 9, Given: 2.5}})
	out, err := codec.Append(nil, &in)
	if err != nil {
		t.Fatal(err)
	}
	m := dynamicpb.NewMessage(md)
	if err := proto.Unmarshal(out, m); err != nil {
		t.Fatal(err)
	}
	again, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var back self
	for range 2 {
		if err := codec.Decode(again, &back); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := codec.Append(nil, &back); err != nil || !bytes.Equal(have, out) {
		t.Fatalf("%v\n got % x\nwant % x", err, have, out)
	}
	if back.One4 == nil || *back.One4 != 4 || back.Self.Self != nil || back.Selfs[1].One0 != 2 ||
		back.Selfs[0].Given != 0 || back.Table[0].Value.Given != 2.5 || *back.Groups[0].X != 5 ||
		back.Groups[1].X != nil || back.Table[0].Value.One0 != 9 || back.Word != "y" || !back.Time.Equal(in.Time) ||
		*back.Span != span || *back.Member0 != 0 {
		t.Fatalf("%+v", back)
	}
}

// FuzzProtobuf: what the protobuf library reads of any bytes, the codec reads, too. Times are left out: those
// with a second or more of nanoseconds become others of the same length.
func FuzzProtobuf(f *testing.F) {
	var types [2]protoreflect.MessageDescriptor
	var codecs [2]*Codec[map[string]any]
	g := drafter{rand.New(rand.NewPCG(3, 4))}
	for i, syntax := range []string{"proto2", "proto3"} {
		types[i] = everything(f, syntax, false)
		var err error
		if codecs[i], err = compileFor[map[string]any](&mapping.Definition{Proto: types[i]}); err != nil {
			f.Fatal(err)
		}
		for range 10 {
			m := dynamicpb.NewMessage(types[i])
			g.fill(m, 1)
			src, err := proto.Marshal(m)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(i == 1, src)
		}
	}
	f.Fuzz(func(t *testing.T, three bool, src []byte) {
		i := map[bool]int{true: 1}[three]
		m, back := dynamicpb.NewMessage(types[i]), dynamicpb.NewMessage(types[i])
		o := proto.UnmarshalOptions{AllowPartial: true, DiscardUnknown: true}
		want := o.Unmarshal(src, m)
		var v map[string]any
		err := codecs[i].Decode(src, &v)
		switch {
		case want != nil || len(src) > 1<<12 || err != nil && strings.Contains(err.Error(), "deep"):
			return
		case err != nil:
			t.Fatalf("% x: %v", src, err)
		case proto.CheckInitialized(m) != nil: // required fields are written in any case
			return
		}
		out, err := codecs[i].Append(nil, &v)
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Unmarshal(out, back); err != nil || !proto.Equal(m, back) {
			t.Fatalf("%v\n got %v\nwant %v", err, back, m)
		}
	})
}
