package schema_test

import (
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/facts"

	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/schema/builtin"
)

func parse(t *testing.T, name, text string, d rosmsg.Dialect, distro string) *schema.Message {
	t.Helper()
	m, err := rosmsg.Parse(name, []byte(text), d, func(n string) (string, bool) { return builtin.Lookup(distro, n) })
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestMD5: pairs of definitions that have the same sum, and pairs that have not.
func TestMD5(t *testing.T) {
	sum := func(text string) string {
		return schema.MD5(parse(t, "p/T", strings.ReplaceAll(text, "|", "\n"), rosmsg.ROS1, "noetic"))
	}
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"int32 a", "  int32   a   # comment", true},
		{"int32 a|int32 X=1", "int32 X=1|int32 a", true}, // constants come first
		{"int32 a|int32 b", "int32 b|int32 a", false},
		{"int32 X=1|int32 Y=2", "int32 Y=2|int32 X=1", false},
		{"int32 X=1", "int32 X=01", false}, // the text counts, not the value
		{"int32 X = 1", "int32 X=1", true},
		{"string X=a", "string X=a # b", false},
		{"byte a", "int8 a", false}, // the words count, not the kinds
		{"char a", "uint8 a", false},
		{"std_msgs/Header h", "Header h", true},
		{"geometry_msgs/Point[] p", "geometry_msgs/Point p", true}, // brackets of structs do not count
		{"int32[] a", "int32[3] a", false},
		{"", "# only a comment", true},
	} {
		if (sum(c.a) == sum(c.b)) != c.same {
			t.Errorf("%q and %q: the same sum is %v", c.a, c.b, !c.same)
		}
	}
}

// TestServiceHash: a service's own hash is that of a struct of its three messages.
func TestServiceHash(t *testing.T) {
	const name = "example_interfaces/srv/AddTwoInts"
	event := parse(t, name+"_Event", "int64 a\nint64 b\n---\nint64 sum\n", rosmsg.ROS2, "jazzy")
	field := func(name string, m *schema.Message) schema.Field {
		return schema.Field{Name: name, Type: schema.Type{Kind: schema.Struct, Message: m}}
	}
	got, err := schema.RIHS01(&schema.Message{Name: name, Fields: []schema.Field{
		field("request_message", event.Fields[1].Type.Message), field("response_message", event.Fields[2].Type.Message),
		field("event_message", event)}})
	if want := "RIHS01_e118de6bf5eeb66a2491b5bda11202e7b68f198d6f67922cf30364858239c81a"; err != nil || got != want {
		t.Errorf("%s, want %s (%v)", got, want, err)
	}
}

func TestRIHS01Refuses(t *testing.T) {
	for _, k := range []schema.Kind{schema.Time, schema.Duration, schema.Enum, schema.Invalid} {
		m := &schema.Message{Name: "p/msg/T", Fields: []schema.Field{{Name: "x", Type: schema.Type{Kind: k}}}}
		if got, err := schema.RIHS01(m); err == nil {
			t.Errorf("%s has the hash %s", k, got)
		}
	}
}

func TestDependencies(t *testing.T) {
	var got []string
	for _, d := range schema.Dependencies(parse(t, "nav_msgs/Odometry", "", rosmsg.ROS1, "noetic")) {
		got = append(got, strings.SplitN(d.Name, "/", 2)[1])
	}
	want := "Header PoseWithCovariance Pose Point Quaternion TwistWithCovariance Twist Vector3"
	if strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
}

func TestEqual(t *testing.T) {
	base := "int32 X=1\nint32[<=3] a\nstring<=5 s\ngeometry_msgs/Point p 1\n"
	a := parse(t, "p/msg/T", base, rosmsg.ROS2, "humble")
	for text, want := range map[string]bool{
		base + "# comment": true,
		// a default is not on the wire
		strings.Replace(base, "geometry_msgs/Point p 1", "geometry_msgs/msg/Point p", 1): true,
		strings.Replace(base, "X=1", "X=2", 1):                                           false,
		strings.Replace(base, "<=3", "<=4", 1):                                           false,
		strings.Replace(base, "[<=3]", "[3]", 1):                                         false,
		strings.Replace(base, "<=5", "", 1):                                              false,
		strings.Replace(base, "Point p", "Point32 p", 1):                                 false,
		strings.Replace(base, "Point p", "Point q", 1):                                   false,
		base + "int8 more":                                                               false,
	} {
		if got := schema.Equal(a, parse(t, "p/msg/T", text, rosmsg.ROS2, "humble")); got != want {
			t.Errorf("%q: equal is %v", text, got)
		}
	}
	if schema.Equal(a, nil) || schema.Equal(a, parse(t, "p/msg/U", base, rosmsg.ROS2, "humble")) {
		t.Error("equal to nothing, or to another name")
	}
}

func BenchmarkParse(b *testing.B) {
	lookup := func(n string) (string, bool) { return builtin.Lookup("noetic", n) }
	m, err := rosmsg.Parse("visualization_msgs/MarkerArray", nil, rosmsg.ROS1, lookup)
	if err != nil {
		b.Fatal(err)
	}
	text := rosmsg.Format(m, rosmsg.ROS1)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if m, err = rosmsg.Parse(m.Name, text, rosmsg.ROS1, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// TestLayout: what changes how bytes are read changes the fingerprint, and nothing else does.
func TestLayout(t *testing.T) {
	layout := func(text string) string {
		return facts.Layout(parse(t, "p/msg/T", strings.ReplaceAll(text, "|", "\n"), rosmsg.ROS2, "humble"))
	}
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"int32 a|int8 X=1", "int32 b # comment|string Y=\"z\"", true},
		{"int32 a 5", "int32 a", true},
		{"uint8 a|string<=3 b|int8[<=3] c", "byte a|string b|int8[] c", true},
		{"int32 a", "uint32 a", false},
		{"int32 a", "float32 a", false},
		{"int8[3] a", "int8[4] a", false},
		{"int8[3] a", "int8[] a", false},
		{"int8 a|int16 b", "int16 b|int8 a", false},
		{"geometry_msgs/Point a", "geometry_msgs/Vector3 b", true},
		{"geometry_msgs/Point a", "geometry_msgs/Point32 a", false},
		{"geometry_msgs/Point a", "float64 x|float64 y|float64 z", false},
	} {
		if a, b := layout(c.a), layout(c.b); (a == b) != c.same || len(a) != 32 {
			t.Errorf("%s and %s: %s, %s", c.a, c.b, a, b)
		}
	}
}
