package mapping

import (
	"strings"

	"github.com/bagconv/bagconv/convert/transcode"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/schema/protoschema"
	"github.com/bagconv/bagconv/storage"
)

// A Decoded is what the messages of a topic hold, as a ROS type: the type of
// the topic itself; of protobuf the ROS type that it was made from, or else the
// one that is generated from it, field by field.
type Decoded struct {
	Message    *schema.Message
	Wire       schema.Encoding // of what Program returns
	Program    Program         // nil: the messages are in Wire as they are
	Definition string          // as Result.Definition
	Generated  bool            // from a protobuf type: which fields were set is not kept
	Remarks    []Remark
}

// Decode finds the type of a topic's messages, and for protobuf the program to it.
func (m *Mapper) Decode(t *storage.Topic) (*Decoded, error) {
	switch t.Encoding {
	case "ros1", "cdr":
		d, err := m.sourceDefinition(t)
		if err != nil {
			return nil, err
		}
		return &Decoded{Message: d.msg, Wire: schema.EncodingOf(t.Encoding), Program: d.head, Definition: d.origin, Remarks: d.remarks}, nil
	case "json":
		d, _, err := m.jsonDefinition(t)
		if err != nil {
			return nil, err
		}
		return &Decoded{Message: d.msg, Wire: schema.ROS1, Program: d.head, Definition: d.origin, Generated: true}, nil
	}
	src, err := m.descriptor(t)
	if err != nil {
		return nil, err
	}
	md := src.proto
	if origins := protoschema.Origins(md); origins != nil {
		if msg, wire, err := original(md, origins); err == nil {
			if p, err := fromProtoPlain(md, msg, wire); err == nil {
				return &Decoded{Message: msg, Wire: wire, Program: p, Definition: src.origin}, nil
			}
		}
	}
	msg, err := m.proto.namer.ROS(md)
	if err != nil {
		return nil, err
	}
	p, err := transcode.CompileFromProto(md, msg, m.wire())
	if err != nil {
		return nil, err
	}
	return &Decoded{Message: msg, Wire: m.wire(), Program: p, Definition: src.origin, Generated: true}, nil
}

// SameType reports whether two names stand for one type, each spelled as in ROS 1
// or ROS 2: "std_msgs/String" and "std_msgs/msg/String", "tf/tfMessage" and
// "tf2_msgs/msg/TFMessage".
func SameType(a, b string) bool { return a == b || commonName(a) == commonName(b) }

func commonName(name string) string {
	if strings.Count(name, "/") == 1 {
		name = ros2Name(name)
	} else {
		name = fullROS2Name(name)
	}
	return ros1Name(name)
}
