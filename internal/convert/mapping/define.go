package mapping

import (
	"errors"
	"fmt"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/schema/jsonschema"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
)

// A Definition is what the messages of a topic look like, as a conversion takes
// them.
type Definition struct {
	ROS    *schema.Message                // of ros1, cdr and json messages
	Wire   serial.Encoding                // of ROS: ROS1 or CDR
	JSON   *jsonschema.Object             // of json messages, with Head from them to ROS 1 messages of ROS
	Head   Program                        // makes messages of ROS in Wire; nil: they are so
	Either *schema.Message                // the ROS 1 type of cdr messages with its text, each CDR or as ROS 1 has it
	Proto  protoreflect.MessageDescriptor // of protobuf messages
	Origin string                         // "file", or "builtin DISTRO"

	// Remarks explain why it is not simply the recording's definition, with the codes
	// definition-builtin, md5sum-mismatch and type-hash-mismatch.
	Remarks []Remark

	seq bool // Head drops the counter of a Header
}

// Type finds the definition of a topic's messages, and compiles the type by which message.Open reads them. If
// the definition has a Head, Head makes messages of that type from the topic's messages, and message.Open reads what
// it makes. d is nil if there is no definition, and typ if its messages cannot be read.
func (m *Mapper) Type(t *storage.Topic) (typ *message.Type, d *Definition, err error) {
	if d, err = m.Define(t); err != nil {
		return nil, nil, err
	}
	typ, err = d.Type()
	return typ, d, err
}

// Type compiles the type of the messages, or of the messages that Head makes.
func (d *Definition) Type() (*message.Type, error) {
	switch {
	case d.Proto != nil:
		return message.Proto(d.Proto)
	case d.ROS != nil:
		return message.ROS(d.ROS, d.Wire)
	}
	return nil, errors.New("there is no definition of the messages")
}

// Define finds the definition of a topic's messages: the recording's own, or a
// built-in one if the recording has no definition or one with another hash than the
// messages. Of the Mapper's options it takes SourceDistro.
func (m *Mapper) Define(t *storage.Topic) (*Definition, error) {
	switch t.Encoding {
	case "ros1", "cdr":
		return m.sourceDefinition(t)
	case "json":
		return m.jsonDefinition(t)
	case "protobuf":
		return m.descriptor(t)
	}
	return nil, fmt.Errorf("encoding %q of messages is not supported", t.Encoding)
}

// sourceDefinition returns the definition of a ROS topic.
func (m *Mapper) sourceDefinition(t *storage.Topic) (*Definition, error) {
	if t.Encoding == "ros1" {
		return m.lib.ros1Definition(t)
	}
	d, err := m.lib.ros2Definition(t, m.o.SourceDistro)
	if d != nil {
		d.Wire = serial.CDR
	}
	return d, err
}
