package report

import (
	"strings"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// TestFrames draws a tree with two parents, a loop with a frame below it, and a frame that is its own parent.
func TestFrames(t *testing.T) {
	g := &gatherer{rec: &Recording{}, edges: map[edgeKey]*edge{}}
	static := &stream{topic: &storage.Topic{Name: "/tf_static"}, static: true}
	moving := &stream{topic: &storage.Topic{Name: "/tf"}}
	for i := range 11 {
		g.edge(moving, edgeName{"odom", "base"}, int64(i)*100_000_000)
	}
	for _, e := range []edgeName{{"base", "laser"}, {"map", "base"}, {"b", "c"}, {"c", "b"}, {"b", "a"}, {"me", "me"}} {
		g.edge(static, e, 5)
	}
	var lines []string
	for _, f := range g.frames() {
		line := strings.Repeat("  ", f.Depth) + f.Name
		if f.Rate != 0 {
			line += " at 10"
			if f.Rate != 10 || f.Static || f.Count != 11 {
				t.Errorf("%+v", f)
			}
		}
		if f.Note != "" {
			line += " (" + f.Note + ")"
		}
		lines = append(lines, line)
	}
	const want = `map
  base (has two parents: map, odom)
    laser
odom
  base at 10 (has two parents: map, odom)
b (is in a loop, so that nothing is above it all)
  a
  c
    b
me (is in a loop, so that nothing is above it all)
  me (is its own parent)`
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
