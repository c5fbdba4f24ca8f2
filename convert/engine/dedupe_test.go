package engine

import (
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// TestDeduper: only messages of one time, topic, type and bytes are equal.
func TestDeduper(t *testing.T) {
	topic := func(name, typ string) storage.TopicInfo {
		return storage.TopicInfo{Topic: storage.Topic{Name: name, Type: typ, Encoding: "ros1"}}
	}
	info := &storage.Info{Topics: []storage.TopicInfo{topic("/a", "T"), topic("/a", "T"), topic("/a", "U"), topic("/b", "T")}}
	d := newDeduper(info, 2)
	for i, c := range []struct {
		route storage.TopicID
		time  int64
		data  string
		again bool
	}{
		{0, 0, "x", false}, {0, 0, "x", true}, {1, 0, "x", true}, {2, 0, "x", false}, {3, 0, "x", false}, {0, 0, "y", false}, {0, 0, "", false}, {0, 0, "", true},
		{4, 0, "x", false}, {5, 0, "x", true}, // of another sink
		{0, 1, "x", false}, {0, 1, "x", true}, {0, 0, "x", false}, // times went back: nothing of them is known any more
	} {
		if got := d.seenBefore(&storage.Message{Topic: c.route, LogTime: c.time, Data: []byte(c.data)}); got != c.again {
			t.Errorf("message %d: %v", i, got)
		}
	}
	if len(d.seen) != 1 {
		t.Errorf("%d messages are kept", len(d.seen))
	}
}
