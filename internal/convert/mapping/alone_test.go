package mapping

import (
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
)

const separator = "================================================================================\n"

// TestAlone: a definition that goes into another format can be read without any other, has names of
// ROS 2 and its own hash; one that is so already keeps its text.
func TestAlone(t *testing.T) {
	full := "std_msgs/Header header\nuint8 level # a comment\n" + separator +
		"MSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n" +
		separator + "MSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"
	for _, c := range []struct {
		name, typ, text string
		want            string // name of the type
		kept            bool   // the text
	}{
		{"whole", "p/msg/T", full, "p/msg/T", true},
		{"parts missing", "p/msg/T", "std_msgs/Header header\n", "p/msg/T", false},
		{"time missing", "p/msg/T", "builtin_interfaces/Time t\n", "p/msg/T", false},
		{"unlike the standard one, without messages", "std_msgs/msg/Int8", "int8 data\nint8 more\n", "std_msgs/msg/Int8",
			false},
		{"place-holder's parts", "rmw_dds_common/msg/Gid", "p/msg/A data\n" + separator + "MSG: fastdds/p/msg/A\nint8 b\n",
			"rmw_dds_common/msg/Gid", false},
		{"no package", "T", "int8 a\n", "idl/msg/T", true},
		{"underscore", "T_Example", "int8 a\n", "idl/msg/T_Example", true},
		{"DDS", "p::msg::dds_::T_", "int8 a\n", "p/msg/T", true},
		{"DDS, without modules", "::T", "int8 a\n", "idl/msg/T", true},
		{"old", "p/T", "int8 a\n", "p/msg/T", true},
		{"odd letters", "my-pkg/msg/T\ufeff", "int8 a\n", "my_pkg/msg/T_", true},
		{"empty text of a type with fields", "std_msgs::msg::dds_::String_", "", "std_msgs/msg/String", false},
		{"empty text of a type without", "std_msgs/msg/Empty", "", "std_msgs/msg/Empty", true},
	} {
		topic := &storage.Topic{Name: "/t", Type: c.typ, Encoding: "cdr", Schema: storage.Schema{Encoding: "ros2msg",
			Data: []byte(c.text)}}
		m := New(Options{Encoding: "cdr", Distro: "humble", SourceDistro: "humble", Hashes: true})
		m.Complete([]*storage.Topic{topic})
		res, err := m.Map(topic)
		if err != nil || res.Topic.Type != c.want || (string(res.Topic.Schema.Data) == c.text) != c.kept {
			t.Errorf("%s: %v, type %s, text %q", c.name, err, res.Topic.Type, res.Topic.Schema.Data)
			continue
		}
		msg, err := rosmsg.Parse(res.Topic.Type, res.Topic.Schema.Data, rosmsg.ROS2, nil)
		if err != nil || hashOf(msg) != res.Topic.Metadata[storage.MetaTypeHash] || !standsAlone(msg, res.Topic.Schema.Data) {
			t.Errorf("%s: %v, %q has hash %v", c.name, err, res.Topic.Schema.Data, res.Topic.Metadata)
		}
	}
	// The same of ROS 1.
	res, err := New(Options{Encoding: "cdr", Distro: "humble"}).Map(&storage.Topic{Name: "/t", Type: "T", Encoding: "ros1",
		Schema: storage.Schema{Encoding: "ros1msg", Data: []byte("int8 a\n")}})
	if err != nil || res.Topic.Type != "idl/msg/T" || !SameType("T", res.Topic.Type) ||
		res.Topic.Metadata[MetaROS1Type] != "T" {
		t.Errorf("%v, %+v", err, res)
	}
	// What nothing is known of gets no hash.
	res, err = New(Options{Encoding: "cdr", Distro: "humble", SourceDistro: "humble", Hashes: true}).Map(
		&storage.Topic{Name: "/t", Type: "q/msg/T", Encoding: "cdr", Schema: storage.Schema{Encoding: "ros2msg"}})
	if err != nil || res.Topic.Metadata[storage.MetaTypeHash] != "" {
		t.Errorf("%v, %+v", err, res)
	}
}

// TestOctets: byte and uint8 are the same numbers, so that two definitions which differ in them are no choice.
func TestOctets(t *testing.T) {
	topic := &storage.Topic{Name: "/t", Type: "diagnostic_msgs/msg/DiagnosticStatus", Encoding: "cdr",
		Schema: storage.Schema{Encoding: "ros2msg",
			Data: []byte("uint8 level\nstring name\nstring message\nstring hardware_id\ndiagnostic_msgs/KeyValue[] values\n" +
				separator + "MSG: diagnostic_msgs/KeyValue\nstring key\nstring value\n")}}
	message := []byte{0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0, 0}
	o := Options{Encoding: "cdr", SourceDistro: "humble", Hashes: true}
	d, err := proved(t, o, topic, [][]byte{message})
	if err != nil || strings.Contains(codes(d), "choice") {
		t.Fatalf("%v, %+v", err, d)
	}
	o.Evidence = NewEvidence(nil, "humble")
	if o.Evidence.Doubts(topic) {
		o.Evidence.Add(topic, &storage.Message{Data: message})
	}
	res, err := New(o).Map(topic)
	own, _ := rosmsg.Parse(topic.Type, topic.Schema.Data, rosmsg.ROS2, nil)
	if hash, _ := schema.RIHS01(own); err != nil || string(res.Topic.Schema.Data) != string(topic.Schema.Data) ||
		res.Topic.Metadata[storage.MetaTypeHash] != hash {
		t.Errorf("%v, %+v", err, res)
	}
}
