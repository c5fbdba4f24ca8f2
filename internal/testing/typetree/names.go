package typetree

import "fmt"

var packages = []string{"alpha_msgs", "beta_msgs", "gamma_interfaces", "a"}

// words are names of types that standard packages have as well.
var typeNames = []string{"Pose", "Point", "Header", "Time", "Duration", "String", "State", "Status", "Object",
	"Vector3", "Twist", "Empty",
	"A", "Msg", "Imu2", "LaserScan"}

var fieldNames = []string{"x", "y", "data", "header", "stamp", "pose", "position", "id", "name", "value", "values",
	"sec", "nanosec", "secs",
	"nsecs", "seq", "length", "size", "count", "type", "time_from_start", "a_b", "a_b_c", "k1", "status", "twist",
	"covariance"}

// oddTypeNames and oddFieldNames are legal in ROS 1 and not in ROS 2, or are words
// that a language has for itself.
var (
	oddTypeNames  = []string{"lower", "Snake_Case", "Msg_2", "X__Y", "T_"}
	oddFieldNames = []string{"D", "K", "frameID", "Data", "aB", "A_B", "a__b", "tail_", "X", "class", "lambda", "def",
		"from", "None", "self",
		"default", "double", "message", "package", "constructor", "toString", "option", "required"}
)

func (w *World) packageName() string { return packages[w.r.IntN(len(packages))] }

// typeName makes a name that other packages may have as well.
func (w *World) typeName() string {
	from := typeNames
	if w.o.Odd && w.r.IntN(4) == 0 {
		from = oddTypeNames
	}
	name := from[w.r.IntN(len(from))]
	if n := w.r.IntN(8); n > 0 {
		name += fmt.Sprint(n)
	}
	return name
}

// fieldName makes a name that is not used yet.
func (w *World) fieldName(used map[string]bool) string {
	for {
		from := fieldNames
		if w.o.Odd && w.r.IntN(3) == 0 {
			from = oddFieldNames
		}
		name := from[w.r.IntN(len(from))]
		if used[name] {
			name += fmt.Sprint(w.r.IntN(100))
		}
		if !used[name] {
			used[name] = true
			return name
		}
	}
}
