package apollo

import "github.com/bagconv/bagconv/schema"

// The ROS 2 definitions of the types, for CDR that is not of the usual form: it
// is brought into that by package transcode.

func rosField(name string, kind schema.Kind) schema.Field {
	return schema.Field{Name: name, Type: schema.Type{Kind: kind}}
}

func rosList(name string, kind schema.Kind) schema.Field {
	return schema.Field{Name: name, Type: schema.Type{Kind: kind, Array: schema.Unbounded}}
}

func rosFixed(name string, n int) schema.Field {
	return schema.Field{Name: name, Type: schema.Type{Kind: schema.Float64, Array: schema.Fixed, Len: n}}
}

func rosStruct(name string, m *schema.Message) schema.Field {
	return schema.Field{Name: name, Type: schema.Type{Kind: schema.Struct, Message: m}}
}

func rosStructs(name string, m *schema.Message) schema.Field {
	return schema.Field{Name: name, Type: schema.Type{Kind: schema.Struct, Message: m, Array: schema.Unbounded}}
}

func rosMessage(name string, fields ...schema.Field) *schema.Message {
	return &schema.Message{Name: name, Fields: fields}
}

// definitions are by the names of ROS 1.
var definitions = makeDefinitions()

func makeDefinitions() map[string]*schema.Message {
	const (
		u8, u32, f64, str = schema.Uint8, schema.Uint32, schema.Float64, schema.String
	)
	time := rosMessage("builtin_interfaces/msg/Time", rosField("sec", schema.Int32), rosField("nanosec", u32))
	head := rosStruct("header", rosMessage("std_msgs/msg/Header", rosStruct("stamp", time), rosField("frame_id", str)))
	xyz := func(name string) *schema.Message {
		return rosMessage(name, rosField("x", f64), rosField("y", f64), rosField("z", f64))
	}
	vector, pt := xyz("geometry_msgs/msg/Vector3"), xyz("geometry_msgs/msg/Point")
	quaternion := rosMessage("geometry_msgs/msg/Quaternion", rosField("x", f64), rosField("y", f64), rosField("z", f64), rosField("w", f64))
	pose := rosMessage("geometry_msgs/msg/Pose", rosStruct("position", pt), rosStruct("orientation", quaternion))
	twist := rosMessage("geometry_msgs/msg/Twist", rosStruct("linear", vector), rosStruct("angular", vector))
	transform := rosMessage("geometry_msgs/msg/Transform", rosStruct("translation", vector), rosStruct("rotation", quaternion))
	pointField := rosMessage("sensor_msgs/msg/PointField", rosField("name", str), rosField("offset", u32), rosField("datatype", u8), rosField("count", u32))
	status := rosMessage("sensor_msgs/msg/NavSatStatus", rosField("status", schema.Int8), rosField("service", schema.Uint16))
	return map[string]*schema.Message{
		"sensor_msgs/Image": rosMessage("sensor_msgs/msg/Image", head, rosField("height", u32), rosField("width", u32),
			rosField("encoding", str), rosField("is_bigendian", u8), rosField("step", u32), rosList("data", u8)),
		"sensor_msgs/CompressedImage": rosMessage("sensor_msgs/msg/CompressedImage", head, rosField("format", str), rosList("data", u8)),
		"sensor_msgs/PointCloud2": rosMessage("sensor_msgs/msg/PointCloud2", head, rosField("height", u32), rosField("width", u32),
			rosStructs("fields", pointField), rosField("is_bigendian", schema.Bool), rosField("point_step", u32), rosField("row_step", u32),
			rosList("data", u8), rosField("is_dense", schema.Bool)),
		"sensor_msgs/Imu": rosMessage("sensor_msgs/msg/Imu", head, rosStruct("orientation", quaternion), rosFixed("orientation_covariance", 9),
			rosStruct("angular_velocity", vector), rosFixed("angular_velocity_covariance", 9),
			rosStruct("linear_acceleration", vector), rosFixed("linear_acceleration_covariance", 9)),
		"sensor_msgs/NavSatFix": rosMessage("sensor_msgs/msg/NavSatFix", head, rosStruct("status", status), rosField("latitude", f64),
			rosField("longitude", f64), rosField("altitude", f64), rosFixed("position_covariance", 9), rosField("position_covariance_type", u8)),
		"nav_msgs/Odometry": rosMessage("nav_msgs/msg/Odometry", head, rosField("child_frame_id", str),
			rosStruct("pose", rosMessage("geometry_msgs/msg/PoseWithCovariance", rosStruct("pose", pose), rosFixed("covariance", 36))),
			rosStruct("twist", rosMessage("geometry_msgs/msg/TwistWithCovariance", rosStruct("twist", twist), rosFixed("covariance", 36)))),
		"tf2_msgs/TFMessage": rosMessage("tf2_msgs/msg/TFMessage", rosStructs("transforms",
			rosMessage("geometry_msgs/msg/TransformStamped", head, rosField("child_frame_id", str), rosStruct("transform", transform)))),
	}
}
