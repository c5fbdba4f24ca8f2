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
	bytes     []byte
	sec, nsec int // where they are
	topic     storage.TopicID
}

// heads are those of the messages of a bag, the first maxHeads that differ.
type heads []head

const maxHeads = 64

// keep adds the head of a message, which is at the start of b.
func (h *heads) keep(rec *record, b []byte, topic storage.TopicID) {
	if len(*h) < maxHeads && !rec.guessed {
		*h = append(*h, head{bytes.Clone(b[:rec.head]), rec.secAt, rec.nsecAt, topic})
	}
}

// find returns the index of the head that b begins with, -1 if it is none of them. It looks at
// the one behind last first: topics take turns.
func (h heads) find(b []byte, last int) int {
	for k := range h {
		i := last + 1 + k
		if i >= len(h) {
			i -= len(h)
		}
		if h[i].fits(b) {
			return i
		}
	}
	return -1
}

// fits reports whether b begins with the head, but for sec, nsec and the length of the data.
func (h *head) fits(b []byte) bool {
	n := len(h.bytes)
	if len(b) < n {
		return false
	}
	first, second := min(h.sec, h.nsec), max(h.sec, h.nsec)
	return bytes.Equal(b[:first], h.bytes[:first]) && bytes.Equal(b[first+4:second], h.bytes[first+4:second]) && bytes.Equal(b[second+4:n-4], h.bytes[second+4:n-4])
}

// values returns the time of the message that b begins with, and the size of its data.
func (h *head) values(b []byte) (time, size int64) {
	return carryTime(binary.LittleEndian.Uint32(b[h.sec:]), binary.LittleEndian.Uint32(b[h.nsec:])),
		int64(binary.LittleEndian.Uint32(b[len(h.bytes)-4:]))
}
