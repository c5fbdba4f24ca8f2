package mapping

import (
	"bytes"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/defset"
	"github.com/bagconv/bagconv/storage"
)

// header2 is a message of std_msgs/Header with seq 7, at 1 s and 2 ns, of frame "ab",
// as CDR of ROS 2, as CDR of all fields of ROS 1, and as ROS 1 serializes it.
var header2 = [3][]byte{
	{0, 1, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 'a', 'b', 0},
	{0, 1, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 'a', 'b', 0},
	{7, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 'a', 'b'},
}

// TestROS1InCDR: messages that are called CDR and have a definition of ROS 1 are read
// as either, message by message.
func TestROS1InCDR(t *testing.T) {
	topic := &storage.Topic{Name: "/h", Type: "std_msgs/Header", Encoding: "cdr",
		Schema: storage.Schema{Encoding: "ros1msg", Data: []byte("uint32 seq\ntime stamp\nstring frame_id\n")}}
	for to, want := range map[string]struct {
		typ  string
		data []byte
	}{
		"cdr":  {"std_msgs/msg/Header", header2[0]},
		"ros1": {"std_msgs/Header", append(make([]byte, 4), header2[2][4:]...)},
	} {
		res, err := New(Options{Encoding: to, Distro: DefaultDistro, SourceDistro: DefaultDistro}).Map(topic)
		if err != nil {
			t.Fatal(err)
		}
		if res.Topic.Type != want.typ || !hasRemark(res, "header-seq") || !hasRemark(res, "definition-ros1") {
			t.Errorf("to %s: %s, %+v", to, res.Topic.Type, res.Remarks)
		}
		for _, src := range header2[1:] {
			if got, err := res.Plan.Append(nil, src); err != nil || !bytes.Equal(got, want.data) {
				t.Errorf("to %s: % x becomes % x, want % x: %v", to, src, got, want.data, err)
			}
		}
		for _, src := range [][]byte{nil, {0, 1}, {0, 1, 0, 0, 9},
			append([]byte{0, 1, 0, 0}, bytes.Repeat([]byte{0xff}, 40)...)} {
			if got, err := res.Plan.Append([]byte("x"), src); err == nil || string(got) != "x" {
				t.Errorf("to %s: % x becomes % x: %v", to, src, got, err)
			}
		}
	}
}

// TestOMGIDL: the bytes of messages with a definition in IDL stay in CDR, and the type
// gets a name and a definition of ROS 2.
func TestOMGIDL(t *testing.T) {
	topic := &storage.Topic{Name: "t", Type: "a::b::T", Encoding: "cdr", Schema: storage.Schema{Encoding: "omgidl",
		Data: []byte("module a { module b { enum E { X, Y }; struct T { E e; char c[2][2]; wstring w; }; }; };")}}
	res, err := New(Options{Encoding: "cdr", Distro: DefaultDistro}).Map(topic)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(res.Topic.Schema.Data); res.Plan != nil || res.Topic.Type != "a_b/msg/T" ||
		res.Topic.Schema.Encoding != "ros2msg" ||
		text != "int32 E_X=0\nint32 E_Y=1\nint32 e\nuint8[4] c\nwstring w\n" {
		t.Errorf("%+v, %q", res.Topic, text)
	}
	src := []byte{0, 1, 0, 0, 1, 0, 0, 0, 'a', 'b', 'c', 'd', 1, 0, 0, 0, 'w', 0, 0, 0}
	res, err = New(Options{Encoding: "ros1", Distro: DefaultDistro}).Map(topic)
	if err != nil {
		t.Fatal(err)
	}
	want := []byte{1, 0, 0, 0, 'a', 'b', 'c', 'd', 1, 0, 0, 0, 'w'}
	if got, err := res.Plan.Append(nil, src); err != nil || !bytes.Equal(got, want) || res.Topic.Type != "a_b/T" {
		t.Errorf("%s: % x, want % x: %v", res.Topic.Type, got, want, err)
	}
	if res, err = New(Options{Encoding: "protobuf", Distro: DefaultDistro}).Map(topic); err != nil {
		t.Fatal(err)
	}
	if got, err := res.Plan.Append(nil, src); err != nil || res.Topic.Type != "a_b.msg.T" || len(got) == 0 {
		t.Errorf("%s: % x: %v", res.Topic.Type, got, err)
	}
	topic.Schema.Data = []byte("module a { module b { interface I { }; struct T { I i; }; }; };")
	if _, err = New(Options{Encoding: "ros1", Distro: DefaultDistro}).Map(topic); err == nil ||
		!strings.Contains(err.Error(), "a_b/msg/T") {
		t.Errorf("an interface: %v", err)
	}
}

// TestUnionTarget: a union and an optional member become lists in CDR of ROS 2, too, whether the
// definition is in the recording or given by the user.
func TestUnionTarget(t *testing.T) {
	const text = "module a { module msg { union U switch (long) { case 1: long a; default: octet b; }; struct T { " +
		"@optional string s; U u; }; }; };"
	topic := &storage.Topic{Name: "/t", Type: "a::msg::T", Encoding: "cdr", Schema: storage.Schema{Encoding: "omgidl",
		Data: []byte(text)}}
	src := []byte{0, 7, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 5}
	want := []byte{0, 1, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 5}
	bare := &storage.Topic{Name: "/t", Type: "a/msg/T", Encoding: "cdr"}
	set := defset.New("given")
	set.Add(defset.Definition{Name: "a/msg/T", Kind: "idl", Text: text})
	given := New(Options{Encoding: "cdr", Distro: DefaultDistro, SourceDistro: DefaultDistro,
		Definitions: []*defset.Set{set}})
	given.Complete([]*storage.Topic{bare})
	for name, m := range map[*storage.Topic]*Mapper{topic: New(Options{Encoding: "cdr", Distro: DefaultDistro}),
		bare: given} {
		res, err := m.Map(name)
		if err != nil {
			t.Fatal(err)
		}
		if res.Plan == nil || !strings.HasPrefix(string(res.Topic.Schema.Data), "string[<=1] s\nU u\n") &&
			!strings.HasPrefix(string(res.Topic.Schema.Data), "string[<=1] s\na/U u\n") {
			t.Fatalf("%+v: %s", res.Plan, res.Topic.Schema.Data)
		}
		if got, err := res.Plan.Append(nil, src); err != nil || !bytes.Equal(got, want) {
			t.Errorf("% x, want % x: %v", got, want, err)
		}
	}
}

func hasRemark(r *Result, code string) bool {
	for _, m := range r.Remarks {
		if m.Code == code {
			return true
		}
	}
	return false
}
