package mapping

import (
	"crypto/md5"
	"encoding/hex"
	"path"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/schema/builtin"
	"github.com/bagconv/bagconv/storage"
)

// moved are ROS 1 types that were in other packages before 2010, with the names of Noetic.
var moved = map[string]string{
	"roslib/Header":   "std_msgs/Header",
	"roslib/Log":      "rosgraph_msgs/Log",
	"roslib/Clock":    "rosgraph_msgs/Clock",
	"rostools/Header": "std_msgs/Header",
	"rostools/Log":    "rosgraph_msgs/Log",
}

// bare finds the standard definition of a topic whose recording has no definition, as is usual
// in bags before version 1.2. The md5sum of the topic proves it right: the definition of the type,
// of the name that the type has today, or of any other type, as equal sums mean equal fields.
// Without an md5sum the name must do. It is nil if nothing fits.
func (l library) bare(t *storage.Topic, want string) *schema.Message {
	std := l.ros1(t.Type)
	if std == nil {
		std = l.ros1(moved[t.Type])
	}
	if std != nil && (want == "" || want == schema.MD5(std) || slices.Contains(oldMD5(std), want)) {
		return std
	}
	if want == "" {
		return nil
	}
	same := l.byMD5(want, path.Base(t.Type))
	if same == nil || !strings.Contains(t.Type, "/") {
		return same
	}
	return &schema.Message{Name: t.Type, Fields: same.Fields, Constants: same.Constants}
}

// byMD5 finds a standard ROS 1 type by its md5sum, preferably one that is called short in
// its package.
func (l library) byMD5(sum, short string) (found *schema.Message) {
	names := builtin.Names(ROS1Distro)
	slices.Sort(names)
	for _, name := range names {
		if msg := l.ros1(name); msg != nil && schema.MD5(msg) == sum {
			if found == nil || path.Base(name) == short {
				found = msg
			}
		}
	}
	return found
}

// oldMD5 returns the sums that a type may have by the algorithm of before ROS 0.6: over the
// text of the definition and then of all that it uses, comments and all (roslib
// gentools.compute_md5_v1). The standard texts are without comments here, so that only types
// whose definition never had comments are known by it.
func oldMD5(msg *schema.Message) []string {
	var texts []string
	seen := map[string]bool{}
	var collect func(m *schema.Message)
	collect = func(m *schema.Message) {
		if seen[m.Name] {
			return
		}
		seen[m.Name] = true
		text, _ := builtin.Lookup(ROS1Distro, m.Name)
		texts = append(texts, strings.TrimRight(text, "\n"))
		for _, f := range m.Fields {
			if f.Type.Kind == schema.Struct {
				collect(f.Type.Message)
			}
		}
	}
	collect(msg)
	var sums []string
	for _, end := range []string{"\n", ""} {
		sum := md5.Sum([]byte(strings.Join(texts, end) + end))
		sums = append(sums, hex.EncodeToString(sum[:]))
	}
	return sums
}
