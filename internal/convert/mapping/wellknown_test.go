package mapping

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/bagconv/bagconv/storage"
)

// foxgloveLog is a topic of foxglove.Log as its schema has it, with the level as a number.
func foxgloveLog(t *testing.T) *storage.Topic {
	field := func(name string, number int32,
		typ descriptorpb.FieldDescriptorProto_Type) *descriptorpb.FieldDescriptorProto {
		return &descriptorpb.FieldDescriptorProto{Name: &name, Number: &number, Type: &typ,
			Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()}
	}
	stamp := field("timestamp", 1, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE)
	stamp.TypeName = proto.String(".google.protobuf.Timestamp")
	text := descriptorpb.FieldDescriptorProto_TYPE_STRING
	set := &descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{
		protodesc.ToFileDescriptorProto(timestamppb.File_google_protobuf_timestamp_proto),
		{Name: proto.String("foxglove/Log.proto"), Package: proto.String("foxglove"), Syntax: proto.String("proto3"),
			Dependency: []string{"google/protobuf/timestamp.proto"},
			MessageType: []*descriptorpb.DescriptorProto{{Name: proto.String("Log"),
				Field: []*descriptorpb.FieldDescriptorProto{stamp, field("level", 2, descriptorpb.FieldDescriptorProto_TYPE_INT32),
					field("message", 3, text),
					field("name", 4, text), field("file", 5, text), field("line", 6, descriptorpb.FieldDescriptorProto_TYPE_FIXED32),
					field("extra", 7, text)}}}},
	}}
	data, err := proto.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	return &storage.Topic{Name: "/log", Type: "foxglove.Log", Encoding: "protobuf",
		Schema: storage.Schema{Encoding: "protobuf", Data: data}}
}

// TestWellKnown: one of Foxglove's schemas becomes the standard type, and with
// --proto-types generated one of all its fields, with a time.
func TestWellKnown(t *testing.T) {
	topic := foxgloveLog(t)
	message := []byte{0x0a, 4, 0x08, 5, 0x10, 6, 0x10, 4, 0x1a, 1, 'm', 0x22, 1, 'n', 0x35, 9, 0, 0, 0}
	for _, c := range []struct {
		to    string
		types ProtoTypes
		typ   string
		want  []byte
	}{
		{"cdr", ProtoMapped, "rcl_interfaces/msg/Log", []byte{0, 1, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0, 40, 0, 0, 0, 2, 0, 0, 0,
			'n', 0, 0, 0,
			2, 0, 0, 0, 'm', 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0}},
		{"ros1", ProtoMapped, "rosgraph_msgs/Log", []byte{0, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 8, 1, 0, 0, 0, 'n',
			1, 0, 0, 0, 'm', 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0}},
		{"ros1", ProtoGenerated, "foxglove/Log", []byte{5, 0, 0, 0, 6, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 'm', 1, 0, 0, 0, 'n',
			0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0}},
	} {
		res, err := New(Options{Encoding: c.to, Distro: DefaultDistro, ProtoTypes: c.types}).Map(topic)
		if err != nil {
			t.Fatal(err)
		}
		got, err := res.Plan.Append(nil, message)
		if err != nil || res.Topic.Type != c.typ || !bytes.Equal(got, c.want) {
			t.Errorf("%s: %s, % x, want %s, % x: %v", c.to, res.Topic.Type, got, c.typ, c.want, err)
		}
		if lost := hasRemark(res, "foxglove-fields"); lost != (c.types == ProtoMapped) {
			t.Errorf("%s: the loss of extra is reported: %t", c.typ, lost)
		}
		// The way back: no field may be dropped in silence.
		back, err := New(Options{Encoding: "protobuf", SourceDistro: DefaultDistro}).Map(&res.Topic)
		if err != nil {
			t.Fatal(err)
		}
		if mapped := back.Topic.Type != "foxglove.Log"; mapped != (c.types == ProtoMapped) ||
			hasRemark(back, "fields-dropped") {
			t.Errorf("%s becomes %s: %+v", c.typ, back.Topic.Type, back.Remarks)
		}
		if c.types == ProtoGenerated {
			if again, err := back.Plan.Append(nil, got); err != nil || !bytes.Equal(again, message) {
				t.Errorf("back: % x, want % x: %v", again, message, err)
			}
		}
	}
}

// TestWellKnownQoS: a topic that was none of ROS keeps its quality of service, and /tf_static is always latched.
func TestWellKnownQoS(t *testing.T) {
	offered := []storage.QoS{{Depth: 7}}
	log := foxgloveLog(t)
	log.QoS = offered
	static := &storage.Topic{Name: "/tf_static", Type: "foxglove.CompressedImage", Encoding: "json", QoS: offered,
		Schema: storage.Schema{Encoding: "jsonschema",
			Data: []byte(`{"title":"foxglove.CompressedImage","type":"object","properties":{"data":{"type":"string","contentEncoding":"base64"}}}`)}}
	own := *static
	own.Name, own.Type = "/own", "acme.Own"
	for topic, want := range map[*storage.Topic][]storage.QoS{log: offered, static: {latchedQoS}, &own: offered} {
		for _, to := range []string{"cdr", "ros1"} {
			res, err := New(Options{Encoding: to, Distro: DefaultDistro}).Map(topic)
			if err != nil || strings.HasPrefix(res.Topic.Type, "foxglove") {
				t.Fatal(res, err)
			}
			if to == "cdr" && !slices.Equal(res.Topic.QoS, want) {
				t.Errorf("%s: %+v, want %+v", topic.Name, res.Topic.QoS, want)
			}
			if latching := res.Topic.Metadata[storage.MetaLatching]; to == "ros1" && (latching == "1") != (topic == static) {
				t.Errorf("%s has latching=%s", topic.Name, latching)
			}
		}
	}
}
