package schema

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
