// Package apollo maps the messages of Apollo that have a counterpart among the
// standard ROS types, both ways. A program is compiled once per topic and runs
// over serialized bytes: protobuf on Apollo's side, ROS 1 serialization or CDR on
// the other. docs/apollo.md has the rules with units, frames and losses.
//
//	p, err := apollo.ToROS(md, apollo.Options{CDR: true})
//	out, err = p.AppendAt(out, payload, logTime)
//
//	Apollo                            ROS
//	apollo.drivers.Image              sensor_msgs/Image
//	apollo.drivers.CompressedImage    sensor_msgs/CompressedImage
//	apollo.drivers.PointCloud         sensor_msgs/PointCloud2
//	apollo.drivers.gnss.Imu           sensor_msgs/Imu
//	apollo.localization.CorrectedImu  sensor_msgs/Imu
//	apollo.drivers.gnss.GnssBestPose  sensor_msgs/NavSatFix
//	...localization.LocalizationEstimate, Gps   nav_msgs/Odometry
//	apollo.transform.TransformStampeds          tf2_msgs/TFMessage
//
// Fields are found by name in the descriptor at hand, as makers of cars renumber,
// add and drop some. A field that the descriptor lacks counts as not set. A field
// of an unexpected kind, or the lack of a field without which the mapping has no
// sense, is refused when the program is compiled.
//
// Payloads are not trusted: no length is believed, the tables bound the
// depth of nesting, and the output is bounded by a constant and a factor of the input
// (64 at most, for transforms that are empty).
//
// Programs may be used by any number of goroutines; nothing in them changes but the
// count of messages with unknown fields.
package apollo

import (
	"github.com/bagconv/bagconv/internal/convert/transcode"
	protoapollo "github.com/bagconv/bagconv/proto/apollo"
)

// Frames are the axes of vectors and orientations on the ROS side.
type Frames uint8

// Apollo's vehicle axes are right, forward, up; the axes of REP 103 are forward,
// left, up.
const (
	FramesApollo Frames = iota // values are as Apollo has them
	FramesREP103               // turned to forward, left, up, and back
)

// Options are the options of a program.
type Options struct {
	CDR    bool // the ROS side is CDR, else ROS 1 serialization
	Frames Frames
}

// A family is a set of rules between one Apollo type and one ROS type.
type family uint8

const (
	image family = iota
	compressedImage
	pointCloud
	gnssImu
	correctedImu
	bestPose
	estimate
	gps
	transforms
	families
)

// types names both sides of each family. Of several Apollo types for one ROS
// type the first is written unless another is asked for.
var types = [...]struct {
	family     family
	proto, ros string
}{
	{image, "apollo.drivers.Image", "sensor_msgs/Image"},
	{compressedImage, "apollo.drivers.CompressedImage", "sensor_msgs/CompressedImage"},
	{pointCloud, "apollo.drivers.PointCloud", "sensor_msgs/PointCloud2"},
	{correctedImu, "apollo.localization.CorrectedImu", "sensor_msgs/Imu"}, // first: it has an orientation
	{gnssImu, "apollo.drivers.gnss.Imu", "sensor_msgs/Imu"},
	{bestPose, "apollo.drivers.gnss.GnssBestPose", "sensor_msgs/NavSatFix"},
	{estimate, "apollo.localization.LocalizationEstimate", "nav_msgs/Odometry"},
	{gps, "apollo.localization.Gps", "nav_msgs/Odometry"},
	{transforms, "apollo.transform.TransformStampeds", "tf2_msgs/TFMessage"},
}

// ROSType returns the standard ROS type, spelled as in ROS 1, that corresponds to
// an Apollo type by its full name; "" if no type does.
func ROSType(proto string) string {
	for _, t := range types {
		if t.proto == proto {
			return t.ros
		}
	}
	return ""
}

// ProtoType returns the Apollo type that corresponds to a ROS type, spelled as in
// ROS 1; "" if no type does.
func ProtoType(ros string) string {
	if ros == "tf/tfMessage" { // before tf2; the bytes are the same
		ros = "tf2_msgs/TFMessage"
	}
	for _, t := range types {
		if t.ros == ros {
			return t.proto
		}
	}
	return ""
}

func familyOf(proto string) (family, bool) {
	for _, t := range types {
		if t.proto == proto {
			return t.family, true
		}
	}
	return 0, false
}

// ErrMalformed is wrapped by the errors of Append: the message does not fit its
// definition.
var ErrMalformed = transcode.ErrMalformed

func malformed(at int, what string) error { return &transcode.Error{Offset: at, What: what} }

// Layouts lists the layouts of Apollo's descriptors, the default first.
func Layouts() []string { return protoapollo.Layouts() }
