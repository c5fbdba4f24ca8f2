package engine

import (
	"hash/maphash"

	"github.com/bagconv/bagconv/storage"
)

// A deduper finds messages that are equal in name and type of their topic, in time and in
// bytes. Messages come in the order of time, so it keeps only those of one time: two hashes of
// each, 128 bits together, with random seeds, so that no file can be made to collide.
type deduper struct {
	topics []int // by route: topics of one name and type have one number
	at     int64
	seen   map[messageSum]bool
	seeds  [2]maphash.Seed
}

// A messageSum stands for a message.
type messageSum struct {
	topic, size int
	sums        [2]uint64
}

// maxSeen bounds the messages of one time that a deduper knows; those after them stay.
const maxSeen = 1 << 20

// newDeduper returns one for the routes of sinks; info describes the source.
func newDeduper(info *storage.Info, sinks int) *deduper {
	type topicKey struct {
		sink                int
		name, typ, encoding string
	}
	d := &deduper{seen: map[messageSum]bool{}, seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
	numbers := map[topicKey]int{}
	for sink := range sinks {
		for i := range info.Topics {
			t := &info.Topics[i].Topic
			k := topicKey{sink, t.Name, t.Type, t.Encoding}
			if _, ok := numbers[k]; !ok {
				numbers[k] = len(numbers)
			}
			d.topics = append(d.topics, numbers[k])
		}
	}
	return d
}

// seenBefore reports whether an equal message came before; m.Topic is the number of its route.
func (d *deduper) seenBefore(m *storage.Message) bool {
	if m.LogTime != d.at {
		d.at = m.LogTime
		clear(d.seen)
	}
	s := messageSum{topic: d.topics[m.Topic], size: len(m.Data)}
	for i, seed := range d.seeds {
		s.sums[i] = maphash.Bytes(seed, m.Data)
	}
	if d.seen[s] {
		return true
	}
	if len(d.seen) < maxSeen {
		d.seen[s] = true
	}
	return false
}
