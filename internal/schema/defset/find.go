package defset

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/schema"
)

// A Type is the definition of a type that was asked for by its name.
type Type struct {
	ROS   *schema.Message                // with all that it uses
	Proto protoreflect.MessageDescriptor // of a protobuf type; ROS is nil

	ros1 bool
}

// Find returns the definition of a type of ROS 1 or of ROS 2, from the first of the sets that has it, else from rest.
// It is nil without an error if nothing has the type.
func Find(sets []*Set, name string, ros1 bool, rest Rest) (*Type, error) {
	t := &Type{ros1: ros1}
	dialect, lookup := rosmsg.ROS2, rest.ROS2
	if t.ros1 {
		dialect, lookup = rosmsg.ROS1, rest.ROS1
	}
	for _, set := range sets {
		if t.Proto = set.Descriptor(name); t.Proto != nil {
			return t, nil
		}
		msg, err := set.Message(name, dialect, lookup)
		if err != nil {
			return nil, err
		}
		if t.ROS = msg; msg != nil {
			return t, nil
		}
	}
	if _, ok := lookup(name); !ok {
		return nil, nil
	}
	var err error
	t.ROS, err = rosmsg.Parse(name, nil, dialect, lookup)
	return t, err
}

// Text returns the definition as text: .proto of a protobuf type, else .msg with all that the type uses.
func (t *Type) Text() string {
	switch {
	case t.Proto != nil:
		return protoschema.ProtoText(t.Proto)
	case t.ros1:
		return string(rosmsg.Format(t.ROS, rosmsg.ROS1))
	}
	return string(rosmsg.Format(t.ROS, rosmsg.ROS2))
}

// First returns the first version that defines a type, and where the versions are from whose definition differs from
// it; the Set itself if no version does.
func (s *Set) First(name string) (first *Set, others []string) {
	first, shown := s, ""
	for _, set := range s.All() {
		from, text := set.From(name)
		switch {
		case text == "":
		case shown == "":
			first, shown = set, text
		case !rosmsg.SameText(text, shown):
			others = append(others, from)
		}
	}
	return first, others
}
