package builtin_test

import (
	"os"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/schema/builtin"
)

func parse(t *testing.T, distro, name string) *schema.Message {
	t.Helper()
	d := rosmsg.ROS2
	if distro == "noetic" {
		d = rosmsg.ROS1
	}
	m, err := rosmsg.Parse(name, nil, d, func(n string) (string, bool) { return builtin.Lookup(distro, n) })
	if err != nil {
		t.Fatalf("%s: %v", distro, err)
	}
	return m
}

// TestGiven checks every definition against the sums that other tools compute for the
// same types: genpy's for ROS 1, for ROS 2 those of rosbags (scripts/definitions).
func TestGiven(t *testing.T) {
	given := map[string]bool{}
	for line := range lines(t, "testdata/md5.txt") {
		name, want, _ := strings.Cut(line, " ")
		given["noetic "+name] = true
		if got := schema.MD5(parse(t, "noetic", name)); got != want {
			t.Errorf("%s has md5sum %s, want %s", name, got, want)
		}
	}
	for line := range lines(t, "testdata/rihs01.txt") {
		f := strings.Fields(line)
		for _, distro := range f[2:] {
			given[distro+" "+f[0]] = true
			got, err := schema.RIHS01(parse(t, distro, f[0]))
			if err != nil || got != f[1] {
				t.Errorf("%s: %s has %s, want %s (%v)", distro, f[0], got, f[1], err)
			}
		}
	}
	known := 0
	for _, distro := range builtin.Distros()[:7] { // the others are one of these
		for _, name := range builtin.Names(distro) {
			known++
			if !given[distro+" "+name] {
				t.Errorf("%s of %s is not checked", name, distro)
			}
		}
	}
	if known != len(given) {
		t.Errorf("%d definitions, %d sums", known, len(given))
	}
}

func lines(t *testing.T, path string) func(func(string) bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func(string) bool) {
		for l := range strings.Lines(string(text)) {
			if !yield(strings.TrimSpace(l)) {
				return
			}
		}
	}
}

// TestAll parses every definition, writes it and parses it again.
func TestAll(t *testing.T) {
	n := 0
	for _, distro := range builtin.Distros() {
		names := builtin.Names(distro)
		if len(names) < 100 {
			t.Errorf("%s has only %d messages", distro, len(names))
		}
		d := rosmsg.ROS2
		if distro == "noetic" {
			d = rosmsg.ROS1
		}
		for _, name := range names {
			m := parse(t, distro, name)
			again, err := rosmsg.Parse(name, rosmsg.Format(m, d), d, nil)
			if err != nil || !schema.Equal(m, again) {
				t.Errorf("%s %s does not survive being written: %v", distro, name, err)
			}
			n++
		}
	}
	t.Logf("%d definitions", n)
}

// TestKnownSums are values that are printed in many places.
func TestKnownSums(t *testing.T) {
	for name, want := range map[string]string{
		"std_msgs/String": "992ce8a1687cec8c8bd883ec73ca41d1", "std_msgs/Header": "2176decaecbce78abc3b96ef049fabed",
		"std_msgs/Empty": "d41d8cd98f00b204e9800998ecf8427e", "std_msgs/Byte": "ad736a2e8818154c487bb80fe42ce43b",
		"std_msgs/Char": "1bf77f25acecdedba0e224b162199717", "std_msgs/Time": "cd7166c74c552c311fbcc2fe5a7bc289",
		"geometry_msgs/Twist":             "9f195f881246fdfa2798d1d3eebca84a",
		"geometry_msgs/PoseStamped":       "d3812c3cbc69362b77dc0b19b345f8f5",
		"geometry_msgs/TransformStamped":  "b5764a33bfeb3588febc2682852579b0",
		"tf2_msgs/TFMessage":              "94810edda583a504dfda3829e70d7eec",
		"tf/tfMessage":                    "94810edda583a504dfda3829e70d7eec",
		"sensor_msgs/Image":               "060021388200f6f0f447d0fcd9c64743",
		"sensor_msgs/CompressedImage":     "8f7a12909da2c9d3332d540a0977563f",
		"sensor_msgs/PointCloud2":         "1158d486dd51d683ce2f1be655c3c181",
		"sensor_msgs/Imu":                 "6a62c6daae103f4ff57a132d6f95cec2",
		"sensor_msgs/LaserScan":           "90c7ef2dc6895d81024acba2ac42f369",
		"sensor_msgs/CameraInfo":          "c9a58c1b0b154e0e6da7578cb991d214",
		"sensor_msgs/NavSatFix":           "2d3a8cd499b9b4a0249fb98fd05cfa48",
		"sensor_msgs/JointState":          "3066dcd76a6cfaef579bd0f34173e9fd",
		"nav_msgs/Odometry":               "cd5e73d190d741a2f92e81eda573aca7",
		"nav_msgs/OccupancyGrid":          "3381f2d731d4076ec5c71b0759edbe4e",
		"nav_msgs/Path":                   "6227e2b7e9cce15051f669a5e197bbf7",
		"visualization_msgs/Marker":       "4048c9de2a16f4ae8e0538085ebf1b97",
		"visualization_msgs/MarkerArray":  "d155b9ce5188fbaf89745847fd5882d7",
		"diagnostic_msgs/DiagnosticArray": "60810da900de1dd6ddd437c3503511da",
		"stereo_msgs/DisparityImage":      "04a177815f75271039fa21f16acad8c9",
	} {
		if got := schema.MD5(parse(t, "noetic", name)); got != want {
			t.Errorf("%s has md5sum %s, want %s", name, got, want)
		}
	}
	for name, want := range map[string]string{
		"std_msgs/msg/String":               "df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18",
		"std_msgs/msg/Header":               "f49fb3ae2cf070f793645ff749683ac6b06203e41c891e17701b1cb597ce6a01",
		"builtin_interfaces/msg/Time":       "b106235e25a4c5ed35098aa0a61a3ee9c9b18d197f398b0e4206cea9acf9c197",
		"nav_msgs/msg/Odometry":             "3cc97dc7fb7502f8714462c526d369e35b603cfc34d946e3f2eda2766dfec6e0",
		"sensor_msgs/msg/JointState":        "a13ee3a330e346c9d87b5aa18d24e11690752bd33a0350f11c5882bc9179260e",
		"tf2_msgs/msg/TFMessage":            "e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087",
		"sensor_msgs/msg/PointCloud2":       "9198cabf7da3796ae6fe19c4cb3bdd3525492988c70522628af5daa124bae2b5",
		"sensor_msgs/msg/Image":             "d31d41a9a4c4bc8eae9be757b0beed306564f7526c88ea6a4588fb9582527d47",
		"sensor_msgs/msg/CameraInfo":        "b3dfd68ff46c9d56c80fd3bd4ed22c7a4ddce8c8348f2f59c299e73118e7e275",
		"std_msgs/msg/Byte":                 "41e1a3345f73fe93ede006da826a6ee274af23dd4653976ff249b0f44e3e798f",
		"std_msgs/msg/ByteMultiArray":       "972fec7f50ab3c1d06783c228e79e8a9a509021708c511c059926261ada901d4",
		"geometry_msgs/msg/Accel":           "dc448243ded9b1fcbcca24aba0c22f013dae06c354ba2d849571c0a2a3f57ca0",
		"std_msgs/msg/Empty":                "20b625256f32d5dbc0d04fee44f43c41e51c70d3502f84b4a08e7a9c26a96312",
		"std_msgs/msg/Char":                 "3ad2d04dd29ba19d04b16659afa3ccaedd691914b02a64e82e252f2fa6a586a9",
		"rcl_interfaces/msg/Log":            "e28ce254ca8abc06abf92773b74602cdbf116ed34fbaf294fb9f81da9f318eac",
		"rcl_interfaces/msg/ParameterEvent": "043e627780fcad87a22d225bc2a037361dba713fca6a6b9f4b869a5aa0393204",
		"test_msgs/msg/Strings":             "eee55533636293ac7c94c62432eedb5777eb849847d2a17b4dcead8c4a20ab32",
		"visualization_msgs/msg/Marker":     "45b13ccf791f225962bf74e746f9644518855d783a6f42ba0cc14fde2b4f3ce0",
		"geometry_msgs/msg/Twist":           "9c45bf16fe0983d80e3cfe750d6835843d265a9a6c46bd2e609fcddde6fb8d2a",
	} {
		got, err := schema.RIHS01(parse(t, "humble", name))
		if err != nil || got != "RIHS01_"+want {
			t.Errorf("%s has %s, want %s (%v)", name, got, want, err)
		}
	}
}

// TestRecordedEvents are type hashes that rosbag2 recorded for services and actions.
func TestRecordedEvents(t *testing.T) {
	for name, want := range map[string]string{
		"example_interfaces/srv/AddTwoInts_Event":             "32c1d140259c71e5c355115942bcb31df98b4330e4d906b1b75ccb1c9b3ce6c8",
		"action_msgs/srv/CancelGoal_Event":                    "178f81615ce6be41ad328211d7a56b08b00e73f41f0b8aec256b2f3ff97a5e7e",
		"example_interfaces/action/Fibonacci_FeedbackMessage": "c1de71afd52e49a89c53d8262366884185bc0a02f78ce051c4e46b0a7fe59bb2",
		"example_interfaces/action/Fibonacci_SendGoal_Event":  "d5e5b312dbf847307b0e876c2ecc9d80258e95b0d17f8f7bfc581c4a29c83484",
		"example_interfaces/action/Fibonacci_GetResult_Event": "ac4e9cdb954c2e192c9f0753d46f59ab6f0101d5fb5b9542fd8ab2906e40c4d9",
		"rosbag2_interfaces/msg/WriteSplitEvent":              "4a50733d58c48fe31919ae8c8516beda7326d70c8e99aee98af3fdfd44ec5ae6",
		"sensor_msgs/msg/Imu":                                 "7d9a00ff131080897a5ec7e26e315954b8eae3353c3f995c55faf71574000b5b",
		"sensor_msgs/msg/LaserScan":                           "64c191398013af96509d518dac71d5164f9382553fce5c1f8cca5be7924bd828",
		"rosgraph_msgs/msg/Clock":                             "692f7a66e93a3c83e71765d033b60349ba68023a8c689a79e48078bcb5c58564",
	} {
		got, err := schema.RIHS01(parse(t, "kilted", name))
		if err != nil || got != "RIHS01_"+want {
			t.Errorf("%s has %s, want %s (%v)", name, got, want, err)
		}
	}
}
