package mapping

import "strings"

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

func plainROS2Name(name string) string {
	pkg, short, ok := strings.Cut(name, "/")
	if !ok {
		return name
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

// fullROS2Name adds what a name of a ROS 2 type needs: the /msg/ that recordings from before
// June 2019 leave out, and for a type of DDS without a module the package that IDL has here.
func fullROS2Name(name string) string {
	switch strings.Count(name, "/") {
	case 0:
		if legalType(name) {
			return "idl/msg/" + name
		}
	case 1:
		return plainROS2Name(name)
	}
	return name
}
