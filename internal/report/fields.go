package report

import "slices"

// A FieldName names a field of the messages of a topic.
type FieldName struct{ Topic, Path string }

// A guess is a number of a well-known type that people want to see.
type guess struct{ path, unit string }

// axes returns the three guesses of a vector.
func axes(prefix, unit string) []guess {
	return []guess{{prefix + ".x", unit}, {prefix + ".y", unit}, {prefix + ".z", unit}}
}

// guesses are the fields of well-known types that are plotted, by the names that the types have in ROS 1.
var guesses = map[string][]guess{
	"nav_msgs/Odometry":                        {{"twist.twist.linear.x", "m/s"}, {"twist.twist.angular.z", "rad/s"}},
	"geometry_msgs/Twist":                      {{"linear.x", "m/s"}, {"angular.z", "rad/s"}},
	"geometry_msgs/TwistStamped":               {{"twist.linear.x", "m/s"}, {"twist.angular.z", "rad/s"}},
	"geometry_msgs/TwistWithCovarianceStamped": {{"twist.twist.linear.x", "m/s"}, {"twist.twist.angular.z", "rad/s"}},
	"sensor_msgs/Imu": append(axes("linear_acceleration", "m/s²"),
		axes("angular_velocity", "rad/s")...),
	"sensor_msgs/BatteryState":     {{"voltage", "V"}, {"current", "A"}, {"percentage", ""}},
	"sensor_msgs/Temperature":      {{"temperature", "°C"}},
	"sensor_msgs/FluidPressure":    {{"fluid_pressure", "Pa"}},
	"sensor_msgs/RelativeHumidity": {{"relative_humidity", ""}},
	"sensor_msgs/Range":            {{"range", "m"}},
	"sensor_msgs/Illuminance":      {{"illuminance", "lx"}},
	"sensor_msgs/MagneticField":    axes("magnetic_field", "T"),
	"sensor_msgs/NavSatFix":        {{"altitude", "m"}},
	"std_msgs/Float32":             {{"data", ""}},
	"std_msgs/Float64":             {{"data", ""}},
}

// favourites are the types whose guesses come first if there are too many.
var favourites = []string{"nav_msgs/Odometry", "sensor_msgs/Imu", "sensor_msgs/BatteryState",
	"geometry_msgs/TwistStamped", "geometry_msgs/Twist"}

// rank returns the place of a type among the favourites.
func rank(typ string) int {
	if i := slices.Index(favourites, typ); i >= 0 {
		return i
	}
	return len(favourites)
}

// A position is where the messages of a well-known type say that something is.
type position struct{ kind, x, y string }

// positions are the types that become tracks. Of a fix, x and y are degrees.
var positions = map[string]position{
	"nav_msgs/Odometry":                       {"odometry", "pose.pose.position.x", "pose.pose.position.y"},
	"geometry_msgs/PoseStamped":               {"pose", "pose.position.x", "pose.position.y"},
	"geometry_msgs/PoseWithCovarianceStamped": {"pose", "pose.pose.position.x", "pose.pose.position.y"},
	"geometry_msgs/TransformStamped":          {"pose", "transform.translation.x", "transform.translation.y"},
	"sensor_msgs/NavSatFix":                   {kindFix, "longitude", "latitude"},
}

// kindFix is the kind of a track whose positions come from satellites.
const kindFix = "fix"
