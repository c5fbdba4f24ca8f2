package mapping

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/facts"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/bagconv/bagconv/internal/convert/render"
	"github.com/bagconv/bagconv/internal/convert/transcode"
	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/schema/defset"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/internal/testing/typetree"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
)

// setOf returns a Set with one definition.
func setOf(t testing.TB, place string, msg *schema.Message) *defset.Set {
	t.Helper()
	set := defset.New(place)
	if err := set.AddText(msg.Name, "ros2msg", rosmsg.Format(msg, rosmsg.ROS2), "x"); err != nil {
		t.Fatal(err)
	}
	return set
}

// proved returns what a Mapper finds for a topic of these messages.
func proved(t *testing.T, o Options, topic *storage.Topic, messages [][]byte) (*Definition, error) {
	t.Helper()
	o.Evidence = NewEvidence(o.Definitions, o.SourceDistro)
	if o.Evidence.Doubts(topic) {
		for i, m := range messages {
			o.Evidence.Add(topic, &storage.Message{Data: m, LogTime: int64(i)})
		}
	}
	return New(o).lib.ros2Definition(topic, o.SourceDistro)
}

func codes(d *Definition) (list string) {
	for _, r := range d.Remarks {
		list += r.Code + " "
	}
	return strings.TrimSpace(list)
}

// marker returns a message of Marker as a distribution has it, with text in its last field but for those of Humble.
func marker(t *testing.T, distro, text string) []byte {
	t.Helper()
	l := newLibrary(nil)
	src := parseROS1(t, "string ns\nstring text\nstring mesh_resource\n")
	plan, err := transcode.Compile(src, l.ros2(distro, "visualization_msgs/msg/Marker"),
		transcode.Options{From: serial.ROS1, To: serial.CDR})
	if err != nil {
		t.Fatal(err)
	}
	var data []byte
	for _, s := range []string{"a", text, "file"} {
		data = append(data, byte(len(s)), 0, 0, 0)
		data = append(data, s...)
	}
	out, err := plan.Append(nil, data)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func parseROS1(t *testing.T, text string) *schema.Message {
	t.Helper()
	msg, err := rosmsg.Parse("p/T", []byte(text), rosmsg.ROS1, nil)
	if err != nil {
		t.Fatal(err)
	}
	return msg
}

// TestMarker: a standard type that changed between distributions is that of the messages, whatever
// distribution is named and whatever definitions the user has.
func TestMarker(t *testing.T) {
	const name = "visualization_msgs/msg/Marker"
	l := newLibrary(nil)
	old, now := l.ros2("foxy", name), l.ros2("humble", name)
	other := setOf(t, "other", &schema.Message{Name: name, Fields: old.Fields[:4]})
	placeholder := storage.Schema{Encoding: "ros2msg", Data: []byte("int8 a\n")}
	for _, c := range []struct {
		name, messages string // of which distribution they are
		asked          string
		sets           []*defset.Set
		schema         storage.Schema
		want           *schema.Message
		origin, codes  string
	}{
		{"right", "humble", "humble", nil, storage.Schema{}, now, "builtin humble", "definition-builtin"},
		{"older", "foxy", "humble", nil, storage.Schema{}, old, "builtin foxy", "definition-builtin"},
		{"newer", "jazzy", "galactic", nil, storage.Schema{}, now, "builtin humble", "definition-builtin"},
		{"place-holder", "foxy", "humble", nil, placeholder, old, "builtin foxy", "definition-builtin"},
		{"wrong one of the user", "humble", "humble", []*defset.Set{setOf(t, "foxy_ws", old)}, storage.Schema{}, now,
			"builtin humble", "definition-builtin definition-misfit"},
		{"right one of the user", "foxy", "humble", []*defset.Set{other, setOf(t, "foxy_ws", old)}, storage.Schema{}, old,
			"given foxy_ws", "definition-given definition-misfit"},
	} {
		topic := &storage.Topic{Name: "/m", Type: name, Encoding: "cdr", Schema: c.schema}
		d, err := proved(t, Options{Definitions: c.sets, SourceDistro: c.asked}, topic, [][]byte{marker(t, c.messages, ""),
			marker(t, c.messages, "hello")})
		if err != nil || !schema.Equal(d.ROS, c.want) || d.Origin != c.origin || codes(d) != c.codes {
			t.Errorf("%s: %v, %+v", c.name, err, d)
		}
	}
	topic := &storage.Topic{Name: "/m", Type: name, Encoding: "cdr"}
	_, err := proved(t, Options{SourceDistro: "humble", Definitions: []*defset.Set{other}}, topic,
		[][]byte{{0, 1, 0, 0, 1, 2, 3}})
	if err == nil || !strings.Contains(err.Error(), "the definition of other: the message ends too early: 4 bytes "+
		"needed, 3 left "+
		"at byte 4 of the message logged at 1970-01-01T00:00:00.000000000Z") {
		t.Errorf("none fits: %v", err)
	}
}

// TestChoice: several layouts that fit are a choice, which is reported; a few damaged messages do
// not change what the others show; a type hash leaves no choice.
func TestChoice(t *testing.T) {
	typ := func(place, text string) *defset.Set {
		msg, err := rosmsg.Parse("p/msg/T", []byte(text), rosmsg.ROS2, nil)
		if err != nil {
			t.Fatal(err)
		}
		return setOf(t, place, msg)
	}
	number, real, names, text := typ("number", "int32 a"), typ("real", "float32 a"), typ("names", "int32 b"), typ("text",
		"string a")
	topic := &storage.Topic{Name: "/m", Type: "p/msg/T", Encoding: "cdr"}
	value := []byte{0, 1, 0, 0, 2, 0, 0, 0}
	many := bytes.Repeat([]byte{1}, 20)
	for _, c := range []struct {
		name          string
		sets          []*defset.Set
		bad           int
		origin, codes string
	}{
		{"alone", []*defset.Set{number}, 0, "given number", "definition-given"},
		{"two", []*defset.Set{text, number, real}, 0, "given number", "definition-choice definition-misfit"},
		{"other order", []*defset.Set{real, number}, 0, "given real", "definition-choice"},
		{"names", []*defset.Set{number, names}, 0, "given number", "definition-choice"},
		{"twice", []*defset.Set{number, number}, 0, "given number", "definition-given"},
		{"damaged", []*defset.Set{text, number}, 2, "given number", "definition-given definition-doubtful definition-misfit"},
		{"too damaged", []*defset.Set{text, number}, 3, "", ""},
	} {
		var messages [][]byte
		for i := range many {
			messages = append(messages, value)
			if i < c.bad {
				messages[i] = many
			}
		}
		d, err := proved(t, Options{Definitions: c.sets, SourceDistro: "humble"}, topic, messages)
		if c.origin == "" {
			if err == nil {
				t.Errorf("%s: %+v", c.name, d)
			}
			continue
		}
		if err != nil || d.Origin != c.origin || codes(d) != c.codes {
			t.Errorf("%s: %v, %+v", c.name, err, d)
		}
	}
	hashed := *topic
	msg, _ := real.Message("p/msg/T", rosmsg.ROS2, nil)
	hashed.Metadata = map[string]string{storage.MetaTypeHash: hashOf(msg)}
	if d, err := proved(t, Options{Definitions: []*defset.Set{number, real}, SourceDistro: "humble"}, &hashed,
		[][]byte{value}); err != nil || d.Origin != "given real" {
		t.Errorf("hash: %v, %+v", err, d)
	}
	standard := storage.Topic{Name: "/m", Type: "std_msgs/msg/Int32", Encoding: "cdr", Metadata: hashed.Metadata}
	if d, err := proved(t, Options{SourceDistro: "humble"}, &standard, [][]byte{value}); err == nil {
		t.Errorf("a standard type with another hash: %+v", d)
	}
}

// TestROS1Header: a definition of ROS 1 that the user has is used for CDR with the Header of ROS 2,
// although a short message with an empty frame_id also fits it as it is.
func TestROS1Header(t *testing.T) {
	set := defset.New("pack")
	text := "Header header\nstring name\n================\nMSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n"
	if err := set.AddText("p/T", "ros1msg", []byte(text), "x"); err != nil {
		t.Fatal(err)
	}
	topic := &storage.Topic{Name: "/m", Type: "p/msg/T", Encoding: "cdr"}
	message := []byte{0, 1, 0, 0, 1, 0, 0, 0, 248, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}
	d, err := proved(t, Options{Definitions: []*defset.Set{set}, SourceDistro: "humble"}, topic, [][]byte{message})
	if err != nil || hasCounter(d.ROS) || codes(d) != "definition-given" {
		t.Errorf("%v, %+v", err, d)
	}
	// Without messages, and without evidence.
	if d, err := proved(t, Options{Definitions: []*defset.Set{set}, SourceDistro: "humble"}, topic, nil); err != nil ||
		hasCounter(d.ROS) {
		t.Errorf("no messages: %v, %+v", err, d)
	}
	if d, err := New(Options{Definitions: []*defset.Set{set}, SourceDistro: "humble"}).Define(topic); err != nil ||
		hasCounter(d.ROS) {
		t.Errorf("no evidence: %v, %+v", err, d)
	}
	// A message that fits nothing else is read with it, and that is a warning.
	seq := []byte{0, 1, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 'a', 0, 0, 0, 2, 0, 0, 0, 'b', 0}
	d, err = proved(t, Options{Definitions: []*defset.Set{set}, SourceDistro: "humble"}, topic, [][]byte{seq})
	if err != nil || !hasCounter(d.ROS) || codes(d) != "definition-given definition-doubtful" || !d.Remarks[1].Warning {
		t.Errorf("with seq: %v, %+v", err, d)
	}
}

// wrong changes one field somewhere in a type, so that its messages have another layout.
func wrong(r *rand.Rand, msg *schema.Message) *schema.Message {
	var all []*schema.Message
	made := map[*schema.Message]*schema.Message{}
	var clone func(m *schema.Message) *schema.Message
	clone = func(m *schema.Message) *schema.Message {
		if made[m] == nil {
			c := &schema.Message{Name: m.Name, Constants: m.Constants}
			made[m] = c
			for _, f := range m.Fields {
				if f.Type.Message != nil {
					f.Type.Message = clone(f.Type.Message)
				}
				c.Fields = append(c.Fields, f)
			}
			if c.Name != ros2Time.Name && c.Name != ros2Duration.Name {
				all = append(all, c)
			}
		}
		return made[m]
	}
	out := clone(msg)
	m := all[r.IntN(len(all))]
	i := r.IntN(len(m.Fields) + 1)
	kind := []schema.Kind{schema.Bool, schema.Uint8, schema.Int16, schema.Uint32, schema.Float64, schema.String}[r.IntN(6)]
	switch change := r.IntN(4); {
	case change == 0 || i == len(m.Fields):
		m.Fields = append(m.Fields[:i:i],
			append([]schema.Field{{Name: fmt.Sprint("added_", r.IntN(1000)), Type: schema.Type{Kind: kind}}},
				m.Fields[i:]...)...)
	case change == 1:
		m.Fields = append(m.Fields[:i:i], m.Fields[i+1:]...)
	case change == 2 && m.Fields[i].Type.Kind.Size() != kind.Size(): // numbers of one size cannot be told apart
		m.Fields[i].Type = schema.Type{Kind: kind}
	default:
		t := &m.Fields[i].Type
		if t.Array == schema.Single {
			t.Array = schema.Unbounded
		} else {
			t.Array, t.Len = schema.Single, 0
		}
	}
	return out
}

// asType re-encodes messages, by the names of fields.
func asType(t *testing.T, from, to *schema.Message, messages [][]byte) (list [][]byte) {
	t.Helper()
	plan, err := transcode.Compile(from, to, transcode.Options{From: serial.CDR, To: serial.CDR})
	if err != nil {
		return nil
	}
	for _, m := range messages {
		out, err := plan.Append(nil, m)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, out)
	}
	return list
}

// printed returns messages as JSON.
func printed(t *testing.T, msg *schema.Message, messages [][]byte) string {
	t.Helper()
	typ, err := message.ROS(msg, serial.CDR)
	if err != nil {
		t.Fatal(err)
	}
	p, err := render.Compile(typ, render.Options{Style: render.JSON, Arrays: true})
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	for _, m := range messages {
		if out, err = p.Append(out, m); err != nil {
			return err.Error()
		}
	}
	return string(out)
}

// TestWrongDefinitions: no wrong definition is used silently in place of one that is there too, and
// one alone is refused unless the messages cannot show that it is wrong.
func TestWrongDefinitions(t *testing.T) {
	tried, refused, reported, unseen, misread := 0, 0, 0, 0, 0
	for seed := uint64(0); tried < 400; seed++ {
		world := typetree.New(seed, 2, typetree.Options{ROS2: true})
		root := world.Roots[1]
		right, err := rosmsg.Parse(root.TypeName(typetree.ROS2), typetree.AppendText(nil, root, typetree.ROS2), rosmsg.ROS2,
			nil)
		if err != nil {
			t.Fatal(err)
		}
		bad := wrong(rand.New(rand.NewPCG(seed, 1)), right)
		if facts.Layout(bad) == facts.Layout(right) || len(right.Fields) == 0 || newLibrary(nil).ros2("humble",
			right.Name) != nil {
			continue
		}
		tried++
		var messages [][]byte
		for range 12 {
			messages = append(messages, typetree.AppendCDR(nil, root, world.Value(root)))
		}
		topic := &storage.Topic{Name: "/m", Type: right.Name, Encoding: "cdr"}
		o := Options{SourceDistro: "humble", Definitions: []*defset.Set{setOf(t, "bad", bad), setOf(t, "right", right)}}
		d, err := proved(t, o, topic, messages)
		if err != nil || facts.Layout(d.ROS) != facts.Layout(right) && !strings.Contains(codes(d), "definition-choice") {
			t.Errorf("seed %d: %v, %+v\n%s\n%s", seed, err, d, rosmsg.Format(right, rosmsg.ROS2),
				rosmsg.Format(bad, rosmsg.ROS2))
			continue
		}
		o.Definitions = o.Definitions[:1]
		d, err = proved(t, o, topic, messages)
		switch {
		case err != nil:
			refused++
		case codes(d) != "definition-given":
			reported++
		case printed(t, right, asType(t, d.ROS, right, messages)) == printed(t, right, messages):
			unseen++
		default:
			misread++
			t.Logf("seed %d is accepted:\n%s\n%s", seed, rosmsg.Format(right, rosmsg.ROS2), rosmsg.Format(bad, rosmsg.ROS2))
		}
	}
	if misread > tried/100 { // a value in what is padding cannot be seen
		t.Errorf("%d of %d wrong definitions are accepted and read other values", misread, tried)
	}
	t.Logf("%d wrong definitions: %d refused, %d reported as doubtful, %d with the same values", tried, refused, reported,
		unseen)
}

// descriptorsOf returns the descriptors of a message p.T with fields of these kinds.
func descriptorsOf(t *testing.T, place string, kinds ...descriptorpb.FieldDescriptorProto_Type) *defset.Set {
	t.Helper()
	m := &descriptorpb.DescriptorProto{Name: proto.String("T")}
	for i, kind := range kinds {
		m.Field = append(m.Field, &descriptorpb.FieldDescriptorProto{Name: proto.String(fmt.Sprint("f", i+1)),
			Number: proto.Int32(int32(i + 1)),
			Type:   kind.Enum(), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()})
	}
	data, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{{
		Name: proto.String("t.proto"), Package: proto.String("p"), Syntax: proto.String("proto2"),
		MessageType: []*descriptorpb.DescriptorProto{m}}}})
	if err != nil {
		t.Fatal(err)
	}
	set := defset.New(place)
	if err := set.AddDescriptors(data, "t.desc"); err != nil {
		t.Fatal(err)
	}
	return set
}

// TestDescriptors: a protobuf topic without descriptors gets those of the user that fit.
func TestDescriptors(t *testing.T) {
	const number, text, double = descriptorpb.FieldDescriptorProto_TYPE_INT32,
		descriptorpb.FieldDescriptorProto_TYPE_STRING, descriptorpb.FieldDescriptorProto_TYPE_DOUBLE
	topic := &storage.Topic{Name: "/t", Type: "p.T", Encoding: "protobuf"}
	message := []byte{8, 5, 18, 2, 'h', 'i'} // f1 is 5, f2 is "hi"
	right, wrong, older := descriptorsOf(t, "right", number, text), descriptorsOf(t, "wrong", double,
		text), descriptorsOf(t, "older", number)
	for _, c := range []struct {
		name          string
		sets          []*defset.Set
		origin, codes string
	}{
		{"right", []*defset.Set{right}, "given right", "definition-given"},
		{"wrong first", []*defset.Set{wrong, right}, "given right", "definition-given definition-misfit"},
		{"older first", []*defset.Set{older, right}, "given right", "definition-given definition-misfit"},
		{"older", []*defset.Set{older}, "given older", "definition-given definition-doubtful"},
		{"wrong", []*defset.Set{wrong}, "", ""},
		{"none", nil, "", ""},
	} {
		for _, to := range []string{"ros1", "cdr", "protobuf"} {
			o := Options{Encoding: to, Distro: "humble", SourceDistro: "humble", Definitions: c.sets,
				Evidence: NewEvidence(c.sets, "humble")}
			if o.Evidence.Doubts(topic) {
				o.Evidence.Add(topic, &storage.Message{Data: message})
			}
			m := New(o)
			d, err := m.descriptor(topic)
			if c.origin == "" {
				if err == nil {
					t.Errorf("%s: %+v", c.name, d)
				}
				continue
			}
			if err != nil || d.Origin != c.origin || codes(d) != c.codes {
				t.Errorf("%s: %v, %+v", c.name, err, d)
				continue
			}
			res, err := m.Map(topic)
			if err != nil || res.Definition != c.origin || to != "protobuf" && res.Topic.Metadata[MetaProtoDesc] == "" ||
				to == "protobuf" && res.Topic.Schema.Encoding != "protobuf" {
				t.Errorf("%s to %s: %v, %+v", c.name, to, err, res)
			}
		}
	}
}
