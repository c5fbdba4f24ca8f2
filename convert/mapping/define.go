package mapping

import (
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/schema/jsonschema"
	"github.com/bagconv/bagconv/storage"
)

// A Definition is what the messages of a topic look like, as a conversion takes
// them.
type Definition struct {
	ROS    *schema.Message                // of ros1, cdr and json messages
	JSON   *jsonschema.Object             // of json messages, with Head from them to ROS 1 messages of ROS
	Head   Program                        // makes the messages those of ROS; nil: they are
	Either *schema.Message                // the ROS 1 type of cdr messages with its text, each CDR or as ROS 1 has it
	Proto  protoreflect.MessageDescriptor // of protobuf messages
	Origin string                         // "file", or "builtin DISTRO"

	// Remarks explain why it is not simply that of the recording, with the codes
	// definition-builtin, md5sum-mismatch and type-hash-mismatch.
	Remarks []Remark
}

// Define finds the definition of a topic's messages: the recording's own, or a
// built-in one if that is missing or has another hash than the messages. Of
// the Mapper's options it takes SourceDistro.
func (m *Mapper) Define(t *storage.Topic) (*Definition, error) {
	var d *definition
	var err error
	switch t.Encoding {
	case "ros1", "cdr":
		d, err = m.sourceDefinition(t)
	case "json":
		d, o, err := m.jsonDefinition(t)
		if err != nil {
			return nil, err
		}
		return &Definition{ROS: d.msg, JSON: o, Head: d.head, Origin: d.origin}, nil
	case "protobuf":
		d, err := m.descriptor(t)
		if err != nil {
			return nil, err
		}
		return &Definition{Proto: d.proto, Origin: d.origin, Remarks: d.remarks}, nil
	default:
		return nil, fmt.Errorf("encoding %q of messages is not supported", t.Encoding)
	}
	if err != nil {
		return nil, err
	}
	return &Definition{ROS: d.msg, Head: d.head, Either: d.either, Origin: d.origin, Remarks: d.remarks}, nil
}

// sourceDefinition returns the definition of a ROS topic.
func (m *Mapper) sourceDefinition(t *storage.Topic) (*definition, error) {
	if t.Encoding == "ros1" {
		return m.lib.ros1Definition(t)
	}
	return m.lib.ros2Definition(t, m.o.SourceDistro)
}
