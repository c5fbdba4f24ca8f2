// Package apollo has the Apollo messages that have a counterpart among the
// standard ROS types, written from their field numbers in our own .proto files:
// only the fields that a conversion reads or writes. A record's own descriptors
// define what is in it; these are what bagconv writes into one.
//
// The .proto files lie in folders that are called as Apollo 8 and later calls
// them under modules/common_msgs. scripts/protos/make writes the Go code again.
package apollo

import (
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	_ "github.com/bagconv/bagconv/proto/apollo/basic_msgs" // register their files
	_ "github.com/bagconv/bagconv/proto/apollo/localization_msgs"
	_ "github.com/bagconv/bagconv/proto/apollo/sensor_msgs"
	_ "github.com/bagconv/bagconv/proto/apollo/transform_msgs"
)

// Message returns the descriptor of a type by its full name, such as
// "apollo.drivers.PointCloud", or nil when this package does not have it.
func Message(name string) protoreflect.MessageDescriptor {
	d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(name))
	if err != nil {
		return nil
	}
	m, _ := d.(protoreflect.MessageDescriptor)
	return m
}

// layouts are the folders that the files of this package have in Apollo, by
// --apollo-layout: in 8.0 and later, and before.
var layouts = map[string]map[string]string{
	"common_msgs": {
		"basic_msgs/": "modules/common_msgs/basic_msgs/", "sensor_msgs/": "modules/common_msgs/sensor_msgs/",
		"localization_msgs/": "modules/common_msgs/localization_msgs/",
		"transform_msgs/":    "modules/common_msgs/transform_msgs/",
	},
	"legacy": {
		"basic_msgs/": "modules/common/proto/", "sensor_msgs/imu.proto": "modules/drivers/gnss/proto/imu.proto",
		"sensor_msgs/gnss_best_pose.proto": "modules/drivers/gnss/proto/gnss_best_pose.proto",
		"sensor_msgs/":                     "modules/drivers/proto/",
		"localization_msgs/":               "modules/localization/proto/", "transform_msgs/": "modules/transform/proto/",
	},
}

// Layouts lists the values of --apollo-layout, the default first.
func Layouts() []string { return []string{"common_msgs", "legacy"} }

// FileName returns the name that a file of this package has in a layout.
func FileName(layout, name string) string {
	best := ""
	for prefix := range layouts[layout] {
		if len(prefix) > len(best) && len(prefix) <= len(name) && name[:len(prefix)] == prefix {
			best = prefix
		}
	}
	return layouts[layout][best] + name[len(best):]
}
