package check_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/convert/check"
	"github.com/bagconv/bagconv/storage"
)

// lossEventOf is a message of a recorder: the losses of topics, in transport and in the recorder.
func lossEventOf(stats ...any) []byte {
	b := []byte{0, 1, 0, 0}
	pad := func(n int) {
		for (len(b)-4)%n != 0 {
			b = append(b, 0)
		}
	}
	text := func(s string) {
		pad(4)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(s)+1))
		b = append(append(b, s...), 0)
	}
	text("/rosbag2_recorder")
	pad(4)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(stats)/3))
	for i := 0; i < len(stats); i += 3 {
		text(stats[i].(string))
		pad(8)
		b = binary.LittleEndian.AppendUint64(b, uint64(stats[i+1].(int)))
		b = binary.LittleEndian.AppendUint64(b, uint64(stats[i+2].(int)))
	}
	return b
}

// TestLossEvents: what a recorder says that it has lost is added up by topic, with a definition in the
// recording and without; of too many topics there is one sum.
func TestLossEvents(t *testing.T) {
	const text = "string node_name\nMessagesLostEventTopicStat[] messages_lost_statistics\n" +
		"================\nMSG: rosbag2_interfaces/MessagesLostEventTopicStat\nstring topic_name\nuint64 " +
		"messages_lost_in_transport\nuint64 messages_lost_in_recorder\n"
	many := []any{}
	for i := range 1001 {
		many = append(many, fmt.Sprintf("/t%d", i), 2, 1)
	}
	for name, c := range map[string]struct {
		schema string
		events [][]byte
		want   []string
	}{
		"defined": {text, [][]byte{lossEventOf("/a", 1, 0, "/b", 5, 7), lossEventOf("/a", 2, 1), lossEventOf(),
			lossEventOf("/c", 0, 0)},
			[]string{"/b: the recorder says that it has lost messages: 5 on the way to it, and 7 itself",
				"/a: the recorder says that it has lost messages: 3 on the way to it, and 1 itself"}},
		"undefined": {"", [][]byte{lossEventOf("/a", 1, 0)},
			[]string{"/a: the recorder says that it has lost messages: 1 on the way to it, and 0 itself"}},
		"nothing": {text, [][]byte{lossEventOf()}, nil},
		"many": {text, [][]byte{lossEventOf(many...), lossEventOf("/t0", 1, 0)},
			[]string{": on more than 1000 topics the recorder says that it has lost messages: 2003 on the way to it, and 1001 " +
				"itself"}},
	} {
		f := &fake{}
		topic := storage.Topic{Name: "/events/rosbag2_messages_lost", Type: "rosbag2_interfaces/msg/MessagesLostEvent",
			Encoding: "cdr"}
		if c.schema != "" {
			topic.Schema = storage.Schema{Encoding: "ros2msg", Data: []byte(c.schema)}
		}
		id := f.topic(topic)
		for i, b := range c.events {
			f.add(id, start+int64(i)*1000*ms, b)
		}
		var got []string
		for _, x := range f.run(t, check.Options{}).Findings {
			if x.Code == "topic-lost" {
				got = append(got, x.Topic+": "+x.Message)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
