package mapping

import (
	"bytes"
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/schema/protoschema"
	"github.com/bagconv/bagconv/schema/rosmsg"
	"github.com/bagconv/bagconv/schema/tree"
	"github.com/bagconv/bagconv/storage"
)

// A Text is the definition of a topic as text.
type Text struct {
	Type     string `json:"type"`
	Encoding string `json:"encoding"` // of the text: "ros1msg", "ros2msg", "ros2idl", ...; "" if there is no definition
	Origin   string `json:"origin"`   // "file", "builtin humble", Given with a place, or "none"
	Source   string `json:"text"`

	Remarks []Remark `json:"-"` // about the type by which messages are read

	wire  string                         // encoding of the messages
	proto protoreflect.MessageDescriptor // of a protobuf type that can be read
	ros   *schema.Message                // the type by which messages are read, if they are not protobuf
	err   error                          // why there is no such type
}

// md5OfEmpty is the ROS 1 md5sum of a message without fields: its definition is
// the empty text.
const md5OfEmpty = "d41d8cd98f00b204e9800998ecf8427e"

// Text returns the definition of a topic as text: the recording's own, or the one that is used in its place.
func (m *Mapper) Text(t *storage.Topic) *Text {
	x := &Text{Type: t.Type, Encoding: t.Schema.Encoding, Origin: "file", Source: string(t.Schema.Data), wire: t.Encoding}
	if t.Encoding == "protobuf" {
		m.protoText(x, t)
		return x
	}
	if t.Encoding != "ros1" && t.Encoding != "cdr" && len(t.Schema.Data) == 0 {
		x.Origin = "none"
		return x
	}
	def, err := m.Define(t)
	if err == nil {
		x.Remarks = def.Remarks
		if x.ros = def.ROS; def.Either != nil {
			x.ros = def.Either
		}
	}
	x.err = err
	if len(bytes.TrimSpace(t.Schema.Data)) > 0 || t.Metadata[storage.MetaMD5Sum] == md5OfEmpty {
		return x
	}
	x.Encoding, x.Origin, x.Source = "", "none", ""
	if err != nil {
		return x
	}
	dialect := rosmsg.ROS2
	if x.Encoding = "ros2msg"; t.Encoding == "ros1" {
		x.Encoding, dialect = "ros1msg", rosmsg.ROS1
	}
	x.Origin, x.Source = def.Origin, string(rosmsg.Format(def.ROS, dialect))
	return x
}

// protoText fills in the descriptors of a topic with protobuf messages, as .proto text.
func (m *Mapper) protoText(x *Text, t *storage.Topic) {
	x.Encoding = "protobuf"
	if len(t.Schema.Data) == 0 {
		def, err := m.Define(t)
		if err != nil {
			x.Encoding, x.Origin = "", "none"
			return
		}
		x.proto, x.Origin = def.Proto, def.Origin
	} else {
		set, err := m.proto.parse(t.Schema.Data)
		if err == nil {
			x.proto, err = set.Message(t.Type)
		}
		if err != nil {
			x.Source = fmt.Sprintf("// the descriptors in the file cannot be read: %v\n", err)
			return
		}
	}
	x.Source = protoschema.ProtoText(x.proto)
}

// Tree expands the type by which messages are read.
func (x *Text) Tree() (*tree.Node, error) {
	switch {
	case x.proto != nil:
		return tree.OfProto(x.proto)
	case x.Encoding == "protobuf":
		return nil, fmt.Errorf("the descriptors of %s cannot be read", x.Type)
	case x.ros == nil:
		return nil, x.err
	}
	return tree.Of(x.ros, x.wire)
}
