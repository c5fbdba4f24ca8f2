package tree

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/rosmsg"
)

// TestPlaces compares sizes and offsets with what the serializations put there.
func TestPlaces(t *testing.T) {
	const text = "uint8 a\nfloat64 b\nuint16[3] c\np/P[2] d\nuint8 e\nstring s\nuint32 f\np/P g\np/P[] h\n" +
		"================================================================================\nMSG: p/P\nuint8 x\nuint32 y\n"
	for _, c := range []struct {
		encoding string
		dialect  rosmsg.Dialect
		want     string
	}{
		// ROS 1 has no padding.
		{"ros1", rosmsg.ROS1, "a@0+1 b@1+8 c@9+6 d@15+10 (x@15+1 y@16+4) e@25+1 s@26 f+4 g+5 (x+1 y+4) h (x+1 y+4)"},
		// CDR: a header of 4 bytes, and each value at a multiple of its size after that.
		{"cdr", rosmsg.ROS2, "a@4+1 b@12+8 c@20+6 d@26+14 (x@26+1 y@28+4) e@40+1 s@44 f+4 g (x+1 y+4) h (x+1 y+4)"},
	} {
		source := text
		if c.dialect == rosmsg.ROS2 {
			source = strings.ReplaceAll(text, "p/P", "p/msg/P")
		}
		m, err := rosmsg.Parse("p/msg/M", []byte(source), c.dialect, nil)
		if c.dialect == rosmsg.ROS1 {
			m, err = rosmsg.Parse("p/M", []byte(source), c.dialect, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		tree, err := Of(m, c.encoding)
		if err != nil {
			t.Fatal(err)
		}
		var words func(n *Node) []string
		words = func(n *Node) (list []string) {
			for _, f := range n.Fields {
				word := f.Name
				if f.Offset != nil {
					word += fmt.Sprintf("@%d", *f.Offset)
				}
				if f.Size != nil {
					word += fmt.Sprintf("+%d", *f.Size)
				}
				if len(f.Fields) > 0 {
					word += " (" + strings.Join(words(f), " ") + ")"
				}
				list = append(list, word)
			}
			return list
		}
		if got := strings.Join(words(tree), " "); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.encoding, got, c.want)
		}
	}
}
