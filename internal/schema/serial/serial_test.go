package serial

import "testing"

// TestEncoding: names and back, and what has none.
func TestEncoding(t *testing.T) {
	for _, e := range []Encoding{ROS1, CDR, Protobuf, JSON} {
		if got := Of(e.String()); got != e {
			t.Errorf("%v is %v", e, got)
		}
	}
	for _, name := range []string{"", "flatbuffer", "unknown", "CDR"} {
		if got := Of(name); got != Other {
			t.Errorf("%q is %v", name, got)
		}
	}
}
