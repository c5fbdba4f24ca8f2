package oldbag

import (
	"bytes"
	"encoding/binary"

	"github.com/bagconv/bagconv/storage"
)

// A head is that of a message that was parsed. Another one with the same bytes, but for time
// and length, is of the same topic: it needs no parsing, which costs as much as reading ten
// times as many bytes.
type head struct {
	first, second, third []byte // the bytes before, between and after the two numbers of its time, without the length

	size      int // bytes
	sec, nsec int // where they are
	topic     storage.TopicID
}

// heads are those of the messages of a bag, the first maxHeads that differ and have no more than
// headSize bytes.
type heads []head

const maxHeads = 256

// keep adds the head of a message, which is at the start of b.
func (h *heads) keep(rec *record, b []byte, topic storage.TopicID) {
	if len(*h) >= maxHeads || rec.guessed || rec.head > headSize {
		return
	}
	b = bytes.Clone(b[:rec.head])
	one, two := min(rec.secAt, rec.nsecAt), max(rec.secAt, rec.nsecAt)
	*h = append(*h, head{
		first: b[:one], second: b[one+4 : two], third: b[two+4 : rec.head-4],
		size: rec.head, sec: rec.secAt, nsec: rec.nsecAt, topic: topic,
	})
}

// An order is which head came after which: topics take turns.
type order struct {
	last uint8
	next [maxHeads]uint8 // by head
}

// find returns the head that b begins with, nil if it is none of them.
func (h heads) find(b []byte, o *order) *head {
	i := int(o.next[o.last])
	if i >= len(h) || !h[i].fits(b) {
		if i = h.search(b); i < 0 {
			return nil
		}
		o.next[o.last] = uint8(i)
	}
	o.last = uint8(i)
	return &h[i]
}

func (h heads) search(b []byte) int {
	for i := range h {
		if h[i].fits(b) {
			return i
		}
	}
	return -1
}

// fits reports whether b begins with the head, but for sec, nsec and the length of the data.
func (h *head) fits(b []byte) bool {
	if len(b) < h.size || string(b[:len(h.first)]) != string(h.first) {
		return false
	}
	b = b[len(h.first)+4:]
	if len(h.second) > 0 && string(b[:len(h.second)]) != string(h.second) {
		return false
	}
	b = b[len(h.second)+4:]
	return len(h.third) == 0 || string(b[:len(h.third)]) == string(h.third)
}

// values returns the time of the message that b begins with, and the size of its data.
func (h *head) values(b []byte) (time, size int64) {
	return carryTime(binary.LittleEndian.Uint32(b[h.sec:]), binary.LittleEndian.Uint32(b[h.nsec:])),
		int64(binary.LittleEndian.Uint32(b[h.size-4:]))
}
