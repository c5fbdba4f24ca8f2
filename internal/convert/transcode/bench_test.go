package transcode

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// The types that recordings are full of, in short.
var benchTypes = map[string]string{
	"t/String":     "string data\n",
	"t/Vector3":    "float64 x\nfloat64 y\nfloat64 z\n",
	"t/Quaternion": "float64 x\nfloat64 y\nfloat64 z\nfloat64 w\n",
	"t/Imu":        "Header header\nQuaternion o\nfloat64[9] oc\nVector3 w\nfloat64[9] wc\nVector3 a\nfloat64[9] ac\n",
	"t/Joints":     "Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort\n",
	"t/Scan": "Header header\nfloat32 a\nfloat32 b\nfloat32 c\nfloat32 d\nfloat32 e\nfloat32 f\nfloat32 " +
		"g\nfloat32[] ranges\nfloat32[] intensities\n",
	"t/Transform": "Header header\nstring child\nVector3 t\nQuaternion r\n",
	"t/TF":        "Transform[] transforms\n",
	"t/Pose":      "Header header\nVector3 p\nQuaternion o\n",
	"t/Path":      "Header header\nPose[] poses\n",
	"t/Field":     "string name\nuint32 offset\nuint8 datatype\nuint32 count\n",
	"t/Cloud": "Header header\nuint32 height\nuint32 width\nField[] fields\nbool be\nuint32 ps\nuint32 rs\nuint8[] " +
		"data\nbool dense\n",
	"t/Image": "Header header\nuint32 height\nuint32 width\nstring encoding\nuint8 be\nuint32 step\nuint8[] data\n",
}

func parseBench(tb testing.TB, name string, d rosmsg.Dialect) *schema.Message {
	header := map[bool]string{true: "uint32 seq\ntime stamp\nstring frame_id\n",
		false: "time stamp\nstring frame_id\n"}[d == rosmsg.ROS1]
	m, err := rosmsg.Parse(name, nil, d, func(n string) (string, bool) {
		if n == "std_msgs/Header" || n == "std_msgs/msg/Header" {
			return header, true
		}
		for k, text := range benchTypes {
			if k == n || n == "t/msg/"+k[2:] {
				return text, true
			}
		}
		return "", false
	})
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// A benchCase is a message of the size that real ones of its type have.
type benchCase struct {
	name string
	v    any
}

func benchCases() []benchCase {
	text := func(n int) any { return string(make([]byte, n)) }
	n8 := func(n int) any { return repeat(n, num{make([]byte, 8)}) }
	n4 := func(n int) any { return repeat(n, num{make([]byte, 4)}) }
	n1 := func(n int) any { return repeat(n, num{make([]byte, 1)}) }
	set := func(names []string, vals ...any) *strc { return &strc{names, vals} }
	header := set([]string{"frame_id"}, text(9))
	transform := set([]string{"header", "child"}, header, text(8))
	return []benchCase{
		{"t/String", set([]string{"data"}, text(20))},
		{"t/Imu", set([]string{"header"}, header)},
		{"t/Joints", set([]string{"header", "name", "position", "velocity", "effort"}, header, repeat(30, text(12)), n8(30),
			n8(30), n8(30))},
		{"t/Scan", set([]string{"header", "ranges", "intensities"}, header, n4(1080), n4(1080))},
		{"t/TF", set([]string{"transforms"}, repeat(20, transform))},
		{"t/Path", set([]string{"header", "poses"}, header, repeat(1000, set([]string{"header"}, header)))},
		{"t/Cloud", set([]string{"header", "fields", "data"}, header, repeat(4, set([]string{"name"}, text(4))),
			n1(2_600_000))},
		{"t/Image", set([]string{"header", "encoding", "data"}, header, text(4), n1(6_200_000))},
	}
}

// benchVersions returns a type in ROS 1 and ROS 2, and a later version of the second.
func benchVersions(tb testing.TB, name string) (ros1, ros2, later *schema.Message) {
	ros2 = parseBench(tb, "t/msg/"+name[2:], rosmsg.ROS2)
	return parseBench(tb, name, rosmsg.ROS1), ros2, laterVersion(ros2, map[*schema.Message]*schema.Message{})
}

// BenchmarkAppend re-encodes messages.
func BenchmarkAppend(b *testing.B) {
	for _, c := range benchCases() {
		ros1, ros2, later := benchVersions(b, c.name)
		for _, way := range []struct {
			name     string
			from, to serial.Encoding
			src, dst *schema.Message
		}{{"to-cdr", serial.ROS1, serial.CDR, ros1, ros2}, {"to-ros1", serial.CDR, serial.ROS1, ros2, ros1},
			{"migrate", serial.CDR, serial.CDR, ros2, later}} {
			b.Run(c.name[2:]+"/"+way.name, func(b *testing.B) {
				p, err := Compile(way.src, way.dst, Options{From: way.from, To: way.to, Migrate: way.dst == later})
				if err != nil {
					b.Fatal(err)
				}
				in := walkEncode(way.src, c.v, way.from, ros.PlainLE)
				var out []byte
				b.SetBytes(int64(len(in)))
				b.ReportAllocs()
				b.ResetTimer()
				for b.Loop() {
					if out, err = p.Append(out[:0], in); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(p.Ops()), "ops")
			})
		}
	}
}

// laterVersion returns a type in which each struct has a new field with a default.
func laterVersion(m *schema.Message, made map[*schema.Message]*schema.Message) *schema.Message {
	if made[m] != nil || strings.HasPrefix(m.Name, "builtin_interfaces/") {
		return cmp.Or(made[m], m)
	}
	out := &schema.Message{Name: m.Name}
	made[m] = out
	for _, f := range m.Fields {
		if f.Type.Message != nil {
			f.Type.Message = laterVersion(f.Type.Message, made)
		}
		out.Fields = append(out.Fields, f)
	}
	out.Fields = append(out.Fields, schema.Field{Name: "quality", Type: schema.Type{Kind: schema.Float32}, Default: "1.5"})
	return out
}

func repeat(n int, v any) list {
	out := make(list, n)
	for i := range out {
		out[i] = v
	}
	return out
}

// BenchmarkMigrateRatio reports how much longer migrating takes than re-encoding the same messages
// to ROS 1: the least times of many short turns that both take.
func BenchmarkMigrateRatio(b *testing.B) {
	for _, c := range benchCases() {
		b.Run(c.name[2:], func(b *testing.B) {
			ros1, ros2, later := benchVersions(b, c.name)
			in := walkEncode(ros2, c.v, serial.CDR, ros.PlainLE)
			var out []byte
			var least [2]time.Duration
			plans := [2]*Plan{}
			for i, o := range []Options{{From: serial.CDR, To: serial.ROS1}, {From: serial.CDR, To: serial.CDR, Migrate: true}} {
				dst := ros1
				if i == 1 {
					dst = later
				}
				p, err := Compile(ros2, dst, o)
				if err != nil {
					b.Fatal(err)
				}
				plans[i] = p
			}
			turn := max(1, 50_000/len(in))
			for b.Loop() {
				for i, p := range plans {
					begin := time.Now()
					for range turn {
						var err error
						if out, err = p.Append(out[:0], in); err != nil {
							b.Fatal(err)
						}
					}
					if t := time.Since(begin) / time.Duration(turn); least[i] == 0 || t < least[i] {
						least[i] = t
					}
				}
			}
			b.ReportMetric(float64(least[0].Nanoseconds()), "plain-ns")
			b.ReportMetric(float64(least[1].Nanoseconds()), "migrate-ns")
			b.ReportMetric(float64(least[1])/float64(least[0]), "ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}
