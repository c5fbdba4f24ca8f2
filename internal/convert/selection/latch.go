package selection

import (
	"strings"

	"github.com/bagconv/bagconv/storage"
)

// Latch selects the topics whose state before a cut is repeated at its start.
// The zero value is auto: the topics that Latched selects.
type Latch struct {
	set, auto bool
	topics    []Pattern
}

// NoLatch repeats nothing.
var NoLatch = Latch{set: true}

// ParseLatch reads auto, none, or topics, or several of them; none stands alone.
func ParseLatch(values []string) (Latch, error) {
	l := Latch{set: len(values) > 0}
	for _, v := range values {
		switch v {
		case "auto":
			l.auto = true
		case "none":
			if len(values) > 1 {
				return l, errNoneAlone
			}
		default:
			p, err := ParsePattern(v)
			if err != nil {
				return l, err
			}
			l.topics = append(l.topics, p)
		}
	}
	return l, nil
}

type latchError string

func (e latchError) Error() string { return string(e) }

const errNoneAlone = latchError("none cannot be combined with other values")

// Depth returns how many of the topic's last messages before a cut are repeated, 0 for no messages:
// as many as its publishers kept for late subscribers.
func (l *Latch) Depth(t *storage.Topic) int {
	if n := Latched(t); n > 0 && (!l.set || l.auto) {
		return n
	}
	for _, p := range l.topics {
		if p.Match(t.Name) {
			return max(Latched(t), 1)
		}
	}
	return 0
}

// maxDepth bounds the memory that repeated messages take.
const maxDepth = 100

// Latched returns how many messages of the topic a late subscriber was sent: 0,
// but for latched topics of ROS 1 (the last one of each connection), transient
// local ones of ROS 2 (the depths of all their publishers together, 100 at
// most), and /tf_static in any namespace. Of publishers that were joined into
// one topic nobody knows who sent what: there are as many messages as publishers.
func Latched(t *storage.Topic) int {
	n := int64(0)
	for _, q := range t.QoS {
		if q.Durability != storage.DurabilityTransientLocal {
			continue
		}
		switch {
		case q.History == storage.HistoryKeepAll:
			n = maxDepth
		default:
			n += min(max(q.Depth, 1), maxDepth)
		}
		n = min(n, maxDepth)
	}
	if n == 0 && (t.Metadata[storage.MetaLatching] == "1" || Static(t.Name)) {
		n = 1
	}
	if joined := t.Metadata[storage.MetaCallerIDs]; n > 0 && joined != "" {
		n = min(max(n, 1+int64(strings.Count(joined, ","))), maxDepth)
	}
	return int(n)
}

// Static reports whether it is a topic of static transforms: its state is the last transform of
// each child frame, in however many messages.
func Static(topic string) bool { return topic == "tf_static" || strings.HasSuffix(topic, "/tf_static") }
