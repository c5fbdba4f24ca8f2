// Package facts knows the types that ROS treats apart: times in a struct, and headers with their counter; and the names
// that types have in ROS 1. Functions may be called concurrently.
package facts

import (
	"strings"

	"github.com/bagconv/bagconv/schema"
)

// ShortName is "pkg/Type" for "pkg/msg/Type", and for itself.
func ShortName(name string) string { return strings.Replace(name, "/msg/", "/", 1) }

// TimeIn returns the field of a struct with a time or duration of ROS 1 and nothing else, such as
// std_msgs/Time, if the other struct is a time or duration of ROS 2.
func TimeIn(m, other *schema.Message) (t schema.Type, ok bool) {
	if len(m.Fields) != 1 || other.TimeKind() == schema.Invalid {
		return t, false
	}
	t = m.Fields[0].Type
	return t, t.Array == schema.Single && (t.Kind == schema.Time || t.Kind == schema.Duration)
}

// IsSeq reports whether field i is the counter of a Header, by names alone.
func IsSeq(m *schema.Message, i int) bool {
	return i < len(m.Fields) && m.Fields[i].Name == "seq" && m.Fields[i].Type == schema.Type{Kind: schema.Uint32} &&
		strings.HasSuffix(m.Name, "/Header")
}

// HasSeq reports whether any field is the counter of a Header.
func HasSeq(m *schema.Message) bool {
	for i := range m.Fields {
		if IsSeq(m, i) {
			return true
		}
	}
	return false
}

// IsROS1Header reports whether it is the Header of ROS 1, of any package: {uint32 seq, time stamp,
// string frame_id}.
func IsROS1Header(m *schema.Message) bool {
	return len(m.Fields) == 3 && IsSeq(m, 0) &&
		m.Fields[1].Name == "stamp" && m.Fields[1].Type == schema.Type{Kind: schema.Time} &&
		m.Fields[2].Name == "frame_id" && m.Fields[2].Type == schema.Type{Kind: schema.String}
}
