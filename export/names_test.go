package export

import (
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	for _, c := range []struct {
		name  string
		takes [][2]string // topic and where its table is
	}{
		{"plain", [][2]string{{"/imu/data", "imu/data"}, {"imu", "imu"}, {"/", "topic"}, {"//a///b/", "a/b"}}},
		{"twice", [][2]string{{"/a", "a"}, {"/a", "a~2"}, {"/A", "A~3"}, {"a/", "a~4"}}},
		{"hostile", [][2]string{{"/../../etc/passwd", "topic/topic/etc/passwd"}, {"/.hidden", "_hidden"},
			{"/a\x00b:c", "a_b_c"}, {"/con/aux.x", "_con/_aux.x"}}},
		{"ours", [][2]string{{"/export.json", "export.json"}, {"/extras/x", "extras_x"}, {"/extras", "extras"}}},
		{"a file as a folder", [][2]string{{"/x", "x"}, {"/x.t/y", "x.t_y"}, {"/x/y", "x/y"}}},
		{"a folder as a file", [][2]string{{"/y.t/z", "y.t/z"}, {"/y", "y~2"}}},
		{"deep", [][2]string{{strings.Repeat("/d", 20), strings.Repeat("d_", 4) + "d" + strings.Repeat("/d", 15)}}},
		{"long", [][2]string{{"/" + strings.Repeat("é", 200), strings.Repeat("é", 60)}}},
	} {
		n := newNames()
		for _, take := range c.takes {
			if got := n.take(take[0], ".t"); got != take[1] {
				t.Errorf("%s: %q is at %q, want %q", c.name, take[0], got, take[1])
			}
		}
	}
}

func TestHiveNames(t *testing.T) {
	n := newNames()
	for _, c := range [][2]string{{"/imu/data", "topic=imu%2Fdata/part-0"}, {"/imu/data", "topic=imu%2Fdata/part-1"},
		{"/a=b c", "topic=a=b%20c/part-0"}, {"/..", "topic=.%2E/part-0"},
		{"/IMU/data", "topic=%49%4D%55%2F%64%61%74%61/part-0"}, {"/IMU/data", "topic=%49%4D%55%2F%64%61%74%61/part-1"},
		{"C:", "topic=C%3A/part-0"}} {
		if got := n.hive(c[0], ".t"); got != c[1] {
			t.Errorf("%q is at %q, want %q", c[0], got, c[1])
		}
	}
}

// TestFolderNames: folders of pictures are kept apart from tables and from each other.
func TestFolderNames(t *testing.T) {
	n := newNames()
	got := []string{n.take("/cam", ""), n.take("/cam", ".t"), n.take("/CAM", ""), n.take("/cam/x", ".t")}
	if want := "cam cam CAM~2 cam/x"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %s", got, want)
	}
	n = newNames() // a table that is where the list of pictures would be
	got = []string{n.take("/cam/frames", ".csv"), n.take("/cam", ""), n.take("/K", ".t"), n.take("/\u212a", ".t"),
		n.take("/ſ", ".t"), n.take("/s", ".t")}
	if want := "cam/frames cam~2 K \u212a~2 ſ s~2"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %s", got, want)
	}
}
