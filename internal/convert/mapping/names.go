package mapping

import (
	"slices"
	"strings"

	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/schema/rosidl"
)

// rename pairs types that are the same thing under another name, ROS 1 first.
// Bytes and fields are equal, or a rule of rules.go makes them so.
var renames = []struct{ ros1, ros2 string }{
	{"tf/tfMessage", "tf2_msgs/msg/TFMessage"}, // ros2/geometry2 tf2_msgs mapping rule; same fields
	{"std_msgs/Time", "builtin_interfaces/msg/Time"},
	{"std_msgs/Duration", "builtin_interfaces/msg/Duration"},
	{"roslib/Header", "std_msgs/msg/Header"}, // before ROS Diamondback (REP 100)
	{"uuid_msgs/UniqueID", "unique_identifier_msgs/msg/UUID"},
	{"tf2_msgs/TFMessage", "tf2_msgs/msg/TFMessage"},
	{"std_msgs/Header", "std_msgs/msg/Header"},
}

const (
	ros1Log = "rosgraph_msgs/Log"
	ros2Log = "rcl_interfaces/msg/Log"
)

// ros2Name returns the name that a ROS 1 type has in ROS 2.
func ros2Name(name string) string {
	for _, r := range renames {
		if r.ros1 == name {
			return r.ros2
		}
	}
	return plainROS2Name(name)
}

// plainROS2Name is ros2Name without the types that have another name. A type without a package gets
// the package of types of IDL without a module.
func plainROS2Name(name string) string {
	pkg, short, ok := strings.Cut(name, "/")
	if !ok {
		return "idl/msg/" + name
	}
	return pkg + "/msg/" + short
}

// ros1Name returns the name that a ROS 2 type has in ROS 1. Time and Duration
// are wrapped when they stand alone; as fields they are primitives there.
func ros1Name(name string) string {
	for i := len(renames) - 1; i >= 0; i-- { // the later entries are the usual names
		if renames[i].ros2 == name {
			return renames[i].ros1
		}
	}
	pkg, rest, ok := strings.Cut(name, "/")
	if !ok {
		return name
	}
	return pkg + "/" + rest[strings.LastIndexByte(rest, '/')+1:]
}

// fullROS2Name turns a name into a name that ROS 2 can have, pkg/msg/Type: with the /msg/ that recordings from
// before June 2019 leave out, without the modules of DDS, with a package, and with letters, digits and
// underscores alone.
func fullROS2Name(name string) string {
	if strings.Contains(name, "::") {
		name = rosidl.RosName(strings.ReplaceAll(strings.TrimPrefix(name, "::"), "/", "::"))
	}
	if strings.Count(name, "/") < 2 {
		name = plainROS2Name(name)
	}
	parts := strings.Split(name, "/")
	if n := len(parts); n > 3 { // eProsima's DDS Recorder writes fastdds/pkg/msg/Type
		parts = parts[n-3:]
	}
	for i, part := range parts {
		parts[i] = identifier(part)
	}
	return strings.Join(parts, "/")
}

// identifier replaces what cannot stand in a name of a package or type.
func identifier(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '_' || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z') {
			return r
		}
		return '_'
	}, s)
	if s == "" || s[0] >= '0' && s[0] <= '9' || s[0] == '_' {
		return "x" + s
	}
	return s
}

// legalGraph returns a type with names that ROS 2 can have, for itself and for all types that it uses.
func legalGraph(m *schema.Message) *schema.Message {
	made := map[*schema.Message]*schema.Message{}
	var legal func(m *schema.Message) *schema.Message
	legal = func(m *schema.Message) *schema.Message {
		if made[m] == nil {
			c := *m
			made[m] = &c
			c.Name, c.Fields = fullROS2Name(m.Name), slices.Clone(m.Fields)
			for i := range c.Fields {
				if t := &c.Fields[i].Type; t.Message != nil {
					t.Message = legal(t.Message)
				}
			}
		}
		return made[m]
	}
	return legal(m)
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
