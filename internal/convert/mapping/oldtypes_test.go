package mapping

import (
	"testing"

	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
)

// TestBare: a topic without a definition gets the standard one that its md5sum proves right,
// under its own name or another, by the algorithm of today or of before 2009.
func TestBare(t *testing.T) {
	const (
		header = "2176decaecbce78abc3b96ef049fabed"
		str    = "992ce8a1687cec8c8bd883ec73ca41d1"
		strV1  = "5b89344b4d080ca499c0648063c40738" // md5 of "string data\n"
		strV2  = "992ce8a1687cec8c8bd883ec73ca41d1"
	)
	for _, c := range []struct{ typ, md5, want, sum string }{
		{"std_msgs/String", str, "std_msgs/String", strV2},
		{"std_msgs/String", strV1, "std_msgs/String", strV2},
		{"std_msgs/String", "", "std_msgs/String", strV2},
		{"roslib/Header", header, "std_msgs/Header", header},
		{"rostools/Header", header, "std_msgs/Header", header},
		{"acme_msgs/Text", str, "acme_msgs/Text", strV2},
		{"*", header, "std_msgs/Header", header},
		{"acme_msgs/Text", "", "", ""},
		{"std_msgs/String", "0123456789abcdef0123456789abcdef", "", ""},
	} {
		topic := storage.Topic{Type: c.typ, Encoding: "ros1", Metadata: map[string]string{storage.MetaMD5Sum: c.md5}}
		d, err := newLibrary(nil).ros1Definition(&topic)
		switch {
		case err != nil && c.want != "":
			t.Errorf("%s %s: %v", c.typ, c.md5, err)
		case err == nil && (d.ROS.Name != c.want || schema.MD5(d.ROS) != c.sum):
			t.Errorf("%s %s: %s with md5sum %s", c.typ, c.md5, d.ROS.Name, schema.MD5(d.ROS))
		}
		m := New(Options{Encoding: "ros1"})
		res, err := m.Map(&topic)
		if err != nil {
			t.Fatal(err)
		}
		if proven := c.want != "" && c.md5 != ""; proven != (len(res.Topic.Schema.Data) > 0) ||
			proven && res.Topic.Metadata[storage.MetaMD5Sum] != c.sum {
			t.Errorf("in a bag %s %s becomes %+v", c.typ, c.md5, res.Topic)
		}
	}
}
