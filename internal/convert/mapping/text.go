package mapping

import (
	"bytes"
	"fmt"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/schema/defset"
	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/internal/schema/tree"
	"github.com/bagconv/bagconv/schema"
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

// A TopicsText is the definition of topics or of a type, and its tree if somebody has expanded it. Its JSON is the
// JSON of bagconv defs show, which docs/json.md describes.
type TopicsText struct {
	Topics []string `json:"topics"`
	*Text
	Expanded *tree.Node `json:"tree,omitempty"`
}

// Texts returns the distinct definitions of the topics of a name, of all topics for "", in their order.
func (m *Mapper) Texts(topics []storage.TopicInfo, name string) (list []*TopicsText) {
	type key struct{ typ, encoding, text string }
	byKey := map[key]*TopicsText{}
	for i := range topics {
		t := &topics[i].Topic
		if name != "" && t.Name != name {
			continue
		}
		x := m.Text(t)
		k := key{x.Type, x.Encoding, x.Source}
		switch old := byKey[k]; {
		case old == nil:
			byKey[k] = &TopicsText{Topics: []string{t.Name}, Text: x}
			list = append(list, byKey[k])
		case !slices.Contains(old.Topics, t.Name):
			old.Topics = append(old.Topics, t.Name)
		}
	}
	return list
}

// TextOfType returns the definition of a type of ROS 1 or of ROS 2 that was found at a place; "": it is the standard
// one of a distribution.
func TextOfType(name string, ros1 bool, found *defset.Type, place, distro string) *TopicsText {
	x := &Text{Type: name, Encoding: "ros2msg", Origin: Given + place, Source: found.Text(), wire: "cdr"}
	x.proto, x.ros = found.Proto, found.ROS
	switch {
	case found.Proto != nil:
		x.Encoding, x.wire = "protobuf", "protobuf"
	case ros1:
		x.Encoding, x.wire, distro = "ros1msg", "ros1", ROS1Distro
	default:
		distro, _ = SourceDistro(distro, nil)
	}
	if place == "" {
		x.Origin = "builtin " + distro
	}
	return &TopicsText{Topics: []string{}, Text: x}
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
