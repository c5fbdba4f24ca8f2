package verify

import (
	"fmt"
	"testing"

	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/storage"
)

// manyTopics returns n topics on both sides, the second in ROS 2.
func manyTopics(n int, topic func(i int) (name, definition string)) [2]*storage.Info {
	var info [2]*storage.Info
	for side := range info {
		typ, encoding, schema := "p/T", "ros1", "ros1msg"
		if side == 1 {
			typ, encoding, schema = "p/msg/T", "cdr", "ros2msg"
		}
		info[side] = &storage.Info{}
		for i := range n {
			name, def := topic(i)
			info[side].Topics = append(info[side].Topics, storage.TopicInfo{ID: storage.TopicID(i), Topic: storage.Topic{
				Name: name, Type: typ, Encoding: encoding, Schema: storage.Schema{Encoding: schema, Data: []byte(def)},
			}})
		}
	}
	return info
}

// pairAll pairs the topics of two sides.
func pairAll(info [2]*storage.Info) (l *linker, pairs []*pair) {
	var taken [2][]bool
	for side := range taken {
		for range info[side].Topics {
			taken[side] = append(taken[side], true)
		}
	}
	format := &storage.Format{Name: "x"}
	l = newLinker(&Job{A: Side{Ref: recording.Ref{Format: format}}, B: Side{Ref: recording.Ref{Format: format}},
		Level: Content}, info, taken, [2]mapping.Known{})
	return l, l.pairs()
}

// TestPairCost: groups are tried with a bounded number of others, however many topics
// and definitions there are, and find their counterparts.
func TestPairCost(t *testing.T) {
	const n = 20_000
	_, pairs := pairAll(manyTopics(n, func(i int) (string, string) { return fmt.Sprint("/t", i), "int32 data" }))
	if len(pairs) != n {
		t.Errorf("%d pairs of %d topics", len(pairs), n)
	}
	for _, p := range pairs {
		if p.link == nil || p.groups[0].tried != 1 || p.groups[0].name != p.groups[1].name {
			t.Fatalf("%s: %+v", p.name(), p)
		}
	}
	_, pairs = pairAll(manyTopics(1000, func(i int) (string, string) { return "/t", fmt.Sprintf("int32[%d] data", i+1) }))
	for _, p := range pairs {
		for _, g := range p.groups {
			if g != nil && g.tried > 2*maxTried+1 {
				t.Fatalf("a group was tried with %d others", g.tried)
			}
		}
	}
}
