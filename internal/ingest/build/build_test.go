package build_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	_ "google.golang.org/protobuf/types/known/durationpb"
	_ "google.golang.org/protobuf/types/known/timestamppb"

	"github.com/bagconv/bagconv/internal/convert/render"
	"github.com/bagconv/bagconv/internal/export/columns"
	"github.com/bagconv/bagconv/internal/ingest/build"
	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/internal/testing/typetree"
)

// columnOf returns a column of an export as one that is read.
func columnOf(c *columns.Column) *build.Column {
	out := &build.Column{Name: c.Field.Name, Len: c.Len, Values: c.Values, Width: c.Field.Width(), Offsets: c.Offsets}
	if c.Valid != nil {
		out.Valid = make([]byte, c.Len/8+1)
		for i, v := range c.Valid {
			out.Valid[i/8] |= v << (i % 8)
		}
	}
	for _, child := range c.Children {
		out.Children = append(out.Children, columnOf(child))
	}
	switch k := c.Field.Kind; k {
	case columns.Bool:
		out.Kind, out.Values = build.Bool, make([]byte, c.Len/8+1)
		for i, v := range c.Values {
			out.Values[i/8] |= v << (i % 8)
		}
	case columns.Int8, columns.Int16, columns.Int32, columns.Int64:
		out.Kind = build.Signed
	case columns.Uint8, columns.Uint16, columns.Uint32, columns.Uint64:
		out.Kind = build.Unsigned
	case columns.Float32, columns.Float64:
		out.Kind = build.Float
	case columns.Time, columns.Duration:
		out.Kind, out.Unit = build.Time, 1
	case columns.Enum:
		texts := append(append([]string{}, c.Field.Texts...), c.Texts...)
		d := &build.Column{Kind: build.Bytes, Len: len(texts), Offsets: []int32{0}}
		for _, text := range texts {
			d.Values = append(d.Values, text...)
			d.Offsets = append(d.Offsets, int32(len(d.Values)))
		}
		out.Kind, out.Dictionary = build.Texts, d
	case columns.Text, columns.Binary, columns.FixedBinary:
		out.Kind = build.Bytes
	case columns.Struct:
		out.Kind = build.Struct
	case columns.List, columns.Map:
		out.Kind = build.List
	case columns.FixedList:
		out.Kind, out.Width = build.List, c.Field.Size
	}
	return out
}

// through makes columns of a message, and a message of these; exact is whether the columns have all of it.
func through(t *testing.T, typ *message.Type, data []byte, o columns.Options) (out []byte, exact bool) {
	t.Helper()
	p, err := columns.Compile(typ, o)
	if err != nil {
		t.Fatal(err)
	}
	b := p.NewBatch()
	for range 3 {
		if err := b.Append(data, 1, 2, 3); err != nil {
			t.Fatal(err)
		}
	}
	var list []*build.Column
	for _, c := range b.Columns() {
		list = append(list, columnOf(c))
	}
	doubts := b.Doubts()
	doubts.Enums = 0 // they are their digits
	back, err := build.Compile(typ)
	if err != nil {
		t.Fatal(err)
	}
	rows := back.Bind(list, "log_time", "publish_time", "_log_time", "_publish_time", "sequence", "_sequence")
	if len(rows.Missing)+len(rows.Unknown) > 0 || rows.Len() != 3 {
		t.Errorf("%s: missing %q, unknown %q, %d rows", typ.Name, rows.Missing, rows.Unknown, rows.Len())
	}
	var d build.Doubts
	if out, err = rows.Append([]byte("before"), 2, &d); err != nil {
		t.Errorf("%s: %v", typ.Name, err)
		return nil, false
	}
	return out[len("before"):], doubts == columns.Doubts{} && d == build.Doubts{}
}

// TestTrees: random messages of ROS become columns of every kind and JSON, and these the same messages.
func TestTrees(t *testing.T) {
	tried := 0
	for seed := range samples.Pick(300, 60, 20) {
		ros2 := seed%2 == 1 // wide strings, bounds, negative times
		w := typetree.New(uint64(seed), 6, typetree.Options{ROS2: ros2, Before1970: ros2})
		for _, m := range w.Roots {
			if tried += tree(t, w, m, true); !ros2 {
				tried += tree(t, w, m, false)
			}
		}
	}
	if tried < 300 {
		t.Errorf("only %d messages", tried)
	}
}

func tree(t *testing.T, w *typetree.World, m *typetree.Message, cdr bool) (tried int) {
	dialect, text, wire := typetree.ROS1, rosmsg.ROS1, serial.ROS1
	if cdr {
		dialect, text, wire = typetree.ROS2, rosmsg.ROS2, serial.CDR
	}
	msg, err := rosmsg.Parse(m.TypeName(dialect), typetree.AppendText(nil, m, dialect), text, nil)
	if err != nil {
		t.Fatal(err)
	}
	typ, err := message.ROS(msg, wire)
	if err != nil {
		t.Fatal(err)
	}
	v := w.Value(m)
	data := typetree.AppendROS1(nil, m, v)
	if cdr {
		data = typetree.AppendCDR(nil, m, v)
	}
	for _, o := range []columns.Options{{}, {Flat: true}, {BinaryText: true}, {StructTimes: true},
		{Sequence: true, Flat: true, StructTimes: true}} {
		out, exact := through(t, typ, data, o)
		if exact && !bytes.Equal(out, data) {
			t.Fatalf("%s, %+v:\n%x\n%x", typetree.AppendText(nil, m, dialect), o, out, data)
		}
		if exact {
			tried++
		}
	}
	lines, err := render.Compile(typ, render.Options{Bytes: true, Arrays: true})
	if err != nil {
		t.Fatal(err)
	}
	json, err := lines.Append(nil, data)
	if err != nil {
		t.Fatal(err)
	}
	p, err := build.Compile(typ)
	if err != nil {
		t.Fatal(err)
	}
	var d build.Doubts
	out, err := p.JSON(nil, json, &d)
	if err != nil {
		t.Fatalf("%s: %v", json, err)
	}
	again, err := lines.Append(nil, out)
	if err != nil || !bytes.Equal(json, again) || len(out) != len(data) || d != (build.Doubts{}) {
		t.Fatalf("%v %+v\n%s\n%s", err, d, json, again)
	}
	if !bytes.Contains(json, []byte("NaN")) && !bytes.Contains(json, []byte(`\ufffd`)) && !bytes.Contains(json,
		[]byte("\ufffd")) && !bytes.Equal(out, data) {
		if again, _ := lines.Append(nil, data); !bytes.Contains(again, []byte("true")) { // a bool may be another number
			t.Fatalf("%s\n%x\n%x", json, out, data)
		}
	}
	return tried
}

// descriptor has all that protobuf has and ROS does not.
const descriptor = `{"name":"t.proto","package":"t","syntax":"proto2","dependency":["google/protobuf/timestamp.proto","google/protobuf/duration.proto"],
"messageType":[{"name":"M","field":[
{"name":"need","number":1,"type":"TYPE_INT32","label":"LABEL_REQUIRED"},
{"name":"may","number":2,"type":"TYPE_SINT64","label":"LABEL_OPTIONAL","defaultValue":"-7"},
{"name":"left","number":3,"type":"TYPE_STRING","label":"LABEL_OPTIONAL","oneofIndex":0},
{"name":"right","number":4,"type":"TYPE_MESSAGE","typeName":".t.M","label":"LABEL_OPTIONAL","oneofIndex":0},
{"name":"pack","number":5,"type":"TYPE_FIXED32","label":"LABEL_REPEATED","options":{"packed":true}},
{"name":"loose","number":6,"type":"TYPE_DOUBLE","label":"LABEL_REPEATED"},
{"name":"color","number":7,"type":"TYPE_ENUM","typeName":".t.Color","label":"LABEL_OPTIONAL"},
{"name":"colors","number":8,"type":"TYPE_ENUM","typeName":".t.Color","label":"LABEL_REPEATED"},
{"name":"at","number":9,"type":"TYPE_MESSAGE","typeName":".google.protobuf.Timestamp","label":"LABEL_OPTIONAL"},
{"name":"took","number":10,"type":"TYPE_MESSAGE","typeName":".google.protobuf.Duration","label":"LABEL_REPEATED"},
{"name":"map","number":11,"type":"TYPE_MESSAGE","typeName":".t.M.MapEntry","label":"LABEL_REPEATED"},
{"name":"blob","number":12,"type":"TYPE_BYTES","label":"LABEL_OPTIONAL"},
{"name":"group","number":13,"type":"TYPE_GROUP","typeName":".t.M.Group","label":"LABEL_OPTIONAL"},
{"name":"list","number":14,"type":"TYPE_MESSAGE","typeName":".t.M.Group","label":"LABEL_REPEATED"},
{"name":"none","number":15,"type":"TYPE_MESSAGE","typeName":".t.M.None","label":"LABEL_OPTIONAL"}],
"oneofDecl":[{"name":"side"}],
"nestedType":[{"name":"MapEntry","options":{"mapEntry":true},"field":[
{"name":"key","number":1,"type":"TYPE_STRING","label":"LABEL_OPTIONAL"},{"name":"value","number":2,"type":"TYPE_FLOAT","label":"LABEL_OPTIONAL"}]},
{"name":"Group","field":[{"name":"x","number":1,"type":"TYPE_BOOL","label":"LABEL_OPTIONAL"}]},{"name":"None"}]}],
"enumType":[{"name":"Color","value":[{"name":"RED","number":1},{"name":"BLUE","number":-2}]}]}`

// TestProto: what only protobuf has comes back from columns and from JSON.
func TestProto(t *testing.T) {
	var file descriptorpb.FileDescriptorProto
	if err := protojson.Unmarshal([]byte(descriptor), &file); err != nil {
		t.Fatal(err)
	}
	fd, err := protodesc.NewFile(&file, protoFiles{})
	if err != nil {
		t.Fatal(err)
	}
	md := fd.Messages().Get(0)
	typ, err := message.Proto(md)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		`{"need":1}`,
		`{"need":0,"left":""}`,
		`{"need":5,"may":"12","pack":[1,2,300],"loose":[0.5,-1],"color":"BLUE","colors":["RED","BLUE","RED"],"at":"2020-01-01T00:00:01.5Z","took":["-1.500s","3s"]}`,
		`{"need":5,"right":{"need":7,"right":{"need":8,"left":"inner"}},"map":{"a":1.5},"blob":"AAEC","group":{"x":true},"list":[{},{"x":true}],"none":{}}`,
	} {
		m := dynamicpb.NewMessage(md)
		if err := protojson.Unmarshal([]byte(text), m); err != nil {
			t.Fatal(err)
		}
		data, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		same := func(how string, out []byte) {
			t.Helper()
			got := dynamicpb.NewMessage(md)
			if err := proto.Unmarshal(out, got); err != nil || !proto.Equal(m, got) {
				t.Errorf("%s of %s: %v %v", how, text, got, err)
			}
		}
		for _, o := range []columns.Options{{}, {StructTimes: true}} {
			out, _ := through(t, typ, data, o)
			same(fmt.Sprintf("%+v", o), out)
		}
		lines, err := render.Compile(typ, render.Options{Bytes: true, Arrays: true})
		if err != nil {
			t.Fatal(err)
		}
		json, err := lines.Append(nil, data)
		if err != nil {
			t.Fatal(err)
		}
		p, err := build.Compile(typ)
		if err != nil {
			t.Fatal(err)
		}
		var d build.Doubts
		out, err := p.JSON(nil, json, &d)
		if err != nil {
			t.Errorf("%s: %v", json, err)
		}
		same("JSON "+string(json), out)
	}
}

// protoFiles finds the well-known types.
type protoFiles struct{}

func (protoFiles) FindFileByPath(path string) (protoreflect.FileDescriptor, error) {
	return protoregistry.GlobalFiles.FindFileByPath(path)
}

func (protoFiles) FindDescriptorByName(name protoreflect.FullName) (protoreflect.Descriptor, error) {
	return protoregistry.GlobalFiles.FindDescriptorByName(name)
}

// typeOf returns a type of ROS 1.
func typeOf(t *testing.T, text string) *message.Type {
	t.Helper()
	msg, err := rosmsg.Parse("t/M", []byte(text), rosmsg.ROS1, nil)
	if err != nil {
		t.Fatal(err)
	}
	typ, err := message.ROS(msg, serial.ROS1)
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

// TestValues: other forms of a value are it, too, and what is none is refused by the name of its field.
func TestValues(t *testing.T) {
	p, err := build.Compile(typeOf(t,
		"uint8 n\nfloat32 f\nbool b\nint64 big\nstring s\ntime at\nuint8[] data\nint16[2] pair\nstring[] names\n"))
	if err != nil {
		t.Fatal(err)
	}
	const all = `{"n":7,"f":0.1,"b":true,"big":"-9007199254740993","s":"a\udcff","at":{"sec":1,"nanosec":2},"data":"AQI=","pair":[1,-2],"names":["x",""]}`
	var d build.Doubts
	want, err := p.JSON(nil, []byte(all), &d)
	if err != nil || d != (build.Doubts{}) {
		t.Fatal(err, d)
	}
	for _, text := range []string{
		strings.Replace(all, `"n":7`, `"n":7.0`, 1), strings.Replace(all, `"n":7`, `"n":"7"`, 1),
		strings.Replace(all, `"b":true`, `"b":1`, 1),
		strings.Replace(all, `"AQI="`, `[1,2]`, 1), strings.Replace(all, `{"sec":1,"nanosec":2}`, `1000000002`, 1),
		strings.Replace(all, `{"sec":1,"nanosec":2}`, `"1000000002"`, 1), strings.Replace(all, `"b":true`, `"b":"1"`, 1),
	} {
		got, err := p.JSON(nil, []byte(text), &d)
		if err != nil || !bytes.Equal(got, want) || d != (build.Doubts{}) {
			t.Errorf("%s: %x %v %+v", text, got, err, d)
		}
	}
	if got, err := p.JSON(nil, []byte(`{"n":null,"what":1}`), &d); err != nil ||
		d != (build.Doubts{Null: 1, Unknown: 1}) || len(got) != 1+4+1+8+4+8+4+4+4 {
		t.Errorf("%x %v %+v", got, err, d)
	}
	for text, path := range map[string]string{
		`{"n":256}`: "n", `{"n":-1}`: "n", `{"n":1.5}`: "n", `{"n":"x"}`: "n", `{"n":[]}`: "n", `{"f":"x"}`: "f",
		`{"b":2}`: "b", `{"s":1}`: "s",
		`{"at":{"sec":-1}}`: "at.sec", `{"at":-1}`: "at", `{"at":"x"}`: "at", `{"data":{"$bytes":3}}`: "data",
		`{"data":"?"}`:     "data",
		`{"data":[1,256]}`: "data[1]", `{"pair":[1]}`: "pair", `{"pair":{"$length":2}}`: "pair",
		`{"names":["x",1]}`: "names[1]", `[]`: "", `{`: "",
	} {
		_, err := p.JSON(nil, []byte(text), &d)
		if !errors.Is(err, build.ErrValue) || path != "" && !strings.HasPrefix(err.Error(), "field "+path+":") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestColumns: columns of other kinds than those of an export, as other programs write them, and what does not fit.
func TestColumns(t *testing.T) {
	p, err := build.Compile(typeOf(t, "uint8 n\nfloat32 f\ntime at\nuint8[] data\n"))
	if err != nil {
		t.Fatal(err)
	}
	floats := func(v ...float64) *build.Column {
		c := &build.Column{Kind: build.Float, Width: 8, Len: len(v)}
		for _, x := range v {
			b := math.Float64bits(x)
			for k := range 8 {
				c.Values = append(c.Values, byte(b>>(8*k)))
			}
		}
		return c
	}
	named := func(name string, c *build.Column) *build.Column { c.Name = name; return c }
	bytesOf := &build.Column{Kind: build.Unsigned, Width: 1, Len: 3, Values: []byte{1, 2, 3}}
	list := []*build.Column{
		named("n", floats(1, 2, 300)), named("f", floats(0.5, 0.1, 1)), {Name: "extra", Kind: build.Nothing, Len: 3},
		{Name: "at", Kind: build.Time, Width: 4, Unit: 1e9, Len: 3, Values: []byte{5, 0, 0, 0, 6, 0, 0, 0, 7, 0, 0, 0},
			Valid: []byte{1}},
		{Name: "data", Kind: build.List, Len: 3, Offsets: []int32{0, 2, 3, 3}, Children: []*build.Column{bytesOf}},
	}
	rows := p.Bind(list)
	if fmt.Sprint(rows.Missing, rows.Unknown) != "[] [extra]" {
		t.Error(rows.Missing, rows.Unknown)
	}
	var d build.Doubts
	got, err := rows.Append(nil, 0, &d)
	if want := []byte{1, 0, 0, 0, 0x3f, 5, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 2}; err != nil || !bytes.Equal(got, want) ||
		d != (build.Doubts{Unknown: 1}) {
		t.Errorf("%x %v %+v", got, err, d)
	}
	if _, err = rows.Append(nil, 1, &d); err != nil || d != (build.Doubts{Unknown: 2, Rounded: 1, Null: 1}) {
		t.Errorf("%v %+v", err, d)
	}
	if _, err = rows.Append(nil, 2, &d); !errors.Is(err, build.ErrValue) {
		t.Error(err)
	}
}
