package schema

import "strings"

// ShortName is "pkg/Type" for "pkg/msg/Type", and for itself.
func ShortName(name string) string { return strings.Replace(name, "/msg/", "/", 1) }

// TimeKind returns Time or Duration for the structs that ROS 2 has for them, {int32, uint32} in
// builtin_interfaces/msg, and Invalid for all others. Both have the 8 bytes of the primitives of ROS 1.
func (m *Message) TimeKind() Kind {
	if len(m.Fields) != 2 || m.Fields[0].Type != (Type{Kind: Int32}) || m.Fields[1].Type != (Type{Kind: Uint32}) {
		return Invalid
	}
	switch m.Name {
	case "builtin_interfaces/msg/Time":
		return Time
	case "builtin_interfaces/msg/Duration":
		return Duration
	}
	return Invalid
}

// TimeKind returns Time or Duration for values that are a time or a duration, of ROS 1 or of ROS 2,
// and Invalid for all others.
func (t Type) TimeKind() Kind {
	switch t.Kind {
	case Time, Duration:
		return t.Kind
	case Struct:
		return t.Message.TimeKind()
	}
	return Invalid
}

// TimeIn returns the field of a struct with a time or duration of ROS 1 and nothing else, such as
// std_msgs/Time, if the other struct is a time or duration of ROS 2.
func (m *Message) TimeIn(other *Message) (t Type, ok bool) {
	if len(m.Fields) != 1 || other.TimeKind() == Invalid {
		return t, false
	}
	t = m.Fields[0].Type
	return t, t.Array == Single && (t.Kind == Time || t.Kind == Duration)
}

// IsSeq reports whether field i is the counter of a Header, by names alone.
func (m *Message) IsSeq(i int) bool {
	return i < len(m.Fields) && m.Fields[i].Name == "seq" && m.Fields[i].Type == Type{Kind: Uint32} && strings.HasSuffix(m.Name, "/Header")
}

// HasSeq reports whether any field is the counter of a Header.
func (m *Message) HasSeq() bool {
	for i := range m.Fields {
		if m.IsSeq(i) {
			return true
		}
	}
	return false
}

// IsROS1Header reports whether it is the Header of ROS 1, of any package: {uint32 seq, time stamp,
// string frame_id}.
func (m *Message) IsROS1Header() bool {
	return len(m.Fields) == 3 && m.IsSeq(0) &&
		m.Fields[1].Name == "stamp" && m.Fields[1].Type == Type{Kind: Time} &&
		m.Fields[2].Name == "frame_id" && m.Fields[2].Type == Type{Kind: String}
}
