package check

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/bagconv/bagconv/internal/message"
)

// The recorder of ROS 2 Lyrical and later publishes how many messages it has not got or not written, by
// topic, since it last did so. A recording of that topic tells what is missing in it.
var lossEvents = []string{"rosbag2_interfaces/msg/MessagesLostEvent", "rosbag2_interfaces/MessagesLostEvent"}

// TellsLosses reports whether messages of a type count what their recorder has lost.
func TellsLosses(typ string) bool { return slices.Contains(lossEvents, typ) }

// maxLossTopics is how many topics are told apart; of more there is only a sum.
const maxLossTopics = 1000

// A lossSum adds up the losses that messages of one type tell. It may be used by any number of goroutines.
type lossSum struct {
	stats                      *message.Field // a list of structs
	topic, transport, recorder *message.Field // of each

	mu     sync.Mutex
	topics map[string]lossCount // nil: there are too many
	total  lossCount
}

type lossCount struct{ transport, recorder uint64 }

// lossSumOf returns the sum for a type of messages, nil if it is another type.
func lossSumOf(t *message.Type) *lossSum {
	s := &lossSum{stats: t.Find("messages_lost_statistics"), topics: map[string]lossCount{}}
	if !TellsLosses(t.Name) || s.stats == nil || !s.stats.List || s.stats.Type == nil {
		return nil
	}
	s.topic = s.stats.Type.Find("topic_name")
	s.transport, s.recorder = s.stats.Type.Find("messages_lost_in_transport"),
		s.stats.Type.Find("messages_lost_in_recorder")
	for _, f := range []*message.Field{s.topic, s.transport, s.recorder} {
		if f == nil || f.List {
			return nil // the type of another program
		}
	}
	if s.topic.Kind != message.Text || s.transport.Kind != message.Unsigned || s.recorder.Kind != message.Unsigned {
		return nil
	}
	return s
}

// add reads the list at the cursor.
func (s *lossSum) add(c *message.Cursor) {
	n := c.Count(s.stats)
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Elements(s.stats, n, func(int) {
		var name string
		var more lossCount
		c.Fields(s.stats.Type, func(f *message.Field) {
			switch f {
			case s.topic:
				name = string(c.Text(f))
			case s.transport:
				more.transport = c.Bits(f)
			case s.recorder:
				more.recorder = c.Bits(f)
			default:
				c.Check(f)
			}
		})
		if !c.OK() {
			return
		}
		s.total = s.total.plus(more)
		if s.topics == nil {
			return
		}
		if s.topics[name] = s.topics[name].plus(more); len(s.topics) > maxLossTopics {
			s.topics = nil
		}
	})
}

// plus adds without overflow.
func (c lossCount) plus(o lossCount) lossCount {
	return lossCount{capped(c.transport, o.transport), capped(c.recorder, o.recorder)}
}

func capped(a, b uint64) uint64 { return a + min(b, math.MaxUint64-a) }

// all returns all of them.
func (c lossCount) all() uint64 { return capped(c.transport, c.recorder) }

// lossFindings are about messages that the recorder has lost.
func (c *checker) lossFindings() {
	topics := map[string]lossCount{}
	var many lossCount
	for _, k := range c.kinds {
		if k.decoder == nil || k.decoder.lost == nil {
			continue
		}
		for name, n := range k.decoder.lost.topics {
			topics[name] = topics[name].plus(n)
		}
		if k.decoder.lost.topics == nil {
			many = many.plus(k.decoder.lost.total)
		}
	}
	names := slices.Sorted(maps.Keys(topics))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(topics[b].all(), topics[a].all()) })
	for _, name := range names {
		c.lost(name, "the recorder", topics[name])
	}
	c.lost("", fmt.Sprintf("on more than %d topics the recorder", maxLossTopics), many)
}

// lost adds a finding, unless nothing was lost.
func (c *checker) lost(topic, who string, n lossCount) {
	if n.all() == 0 {
		return
	}
	c.add(Warning, "topic-lost", topic, "they are not in the recording: the network or the disk was too slow for the "+
		"recorder, or its cache too small",
		"%s says that it has lost messages: %d on the way to it, and %d itself", who, n.transport, n.recorder)
	c.findings[len(c.findings)-1].Count = int64(min(n.all(), math.MaxInt64))
}
