package typetree

import "strings"

// standardText are standard types whose fields are the same in ROS 1 Noetic and
// in every ROS 2 distribution, but for Header.seq. A line without a slash names
// a type, the lines below it are its fields.
const standardText = `
std_msgs/Header: uint32 seq, time stamp, string frame_id
std_msgs/Empty:
std_msgs/String: string data
std_msgs/Bool: bool data
std_msgs/Float64: float64 data
std_msgs/UInt64: uint64 data
std_msgs/ColorRGBA: float32 r, float32 g, float32 b, float32 a
geometry_msgs/Vector3: float64 x, float64 y, float64 z
geometry_msgs/Point: float64 x, float64 y, float64 z
geometry_msgs/Point32: float32 x, float32 y, float32 z
geometry_msgs/Quaternion: float64 x, float64 y, float64 z, float64 w
geometry_msgs/Pose: geometry_msgs/Point position, geometry_msgs/Quaternion orientation
geometry_msgs/PoseStamped: std_msgs/Header header, geometry_msgs/Pose pose
geometry_msgs/PoseArray: std_msgs/Header header, geometry_msgs/Pose[] poses
geometry_msgs/Twist: geometry_msgs/Vector3 linear, geometry_msgs/Vector3 angular
geometry_msgs/TwistStamped: std_msgs/Header header, geometry_msgs/Twist twist
geometry_msgs/Transform: geometry_msgs/Vector3 translation, geometry_msgs/Quaternion rotation
geometry_msgs/TransformStamped: std_msgs/Header header, string child_frame_id, geometry_msgs/Transform transform
geometry_msgs/Polygon: geometry_msgs/Point32[] points
sensor_msgs/ChannelFloat32: string name, float32[] values
sensor_msgs/Temperature: std_msgs/Header header, float64 temperature, float64 variance
nav_msgs/Path: std_msgs/Header header, geometry_msgs/PoseStamped[] poses
diagnostic_msgs/KeyValue: string key, string value
actionlib_msgs/GoalID: time stamp, string id
trajectory_msgs/JointTrajectoryPoint: float64[] positions, float64[] velocities, float64[] accelerations, float64[] effort, duration time_from_start
`

// standard returns the standard types by name. Every World has its own.
func standard() (types []*Message) {
	known := map[string]*Message{}
	for line := range strings.Lines(strings.TrimSpace(standardText)) {
		full, fields, _ := strings.Cut(strings.TrimSpace(line), ":")
		m := &Message{}
		m.Package, m.Name, _ = strings.Cut(full, "/")
		for _, text := range strings.Split(fields, ",") {
			word, name, ok := strings.Cut(strings.TrimSpace(text), " ")
			if !ok {
				continue
			}
			f := Field{Name: name, OnlyROS1: full == "std_msgs/Header" && name == "seq"}
			if base, list := strings.CutSuffix(word, "[]"); list {
				word, f.Array = base, List
			}
			if f.Message = known[word]; f.Message == nil {
				f.Kind = Kind(word)
			}
			m.Fields = append(m.Fields, f)
		}
		m.measure()
		known[full] = m
		types = append(types, m)
	}
	return types
}
