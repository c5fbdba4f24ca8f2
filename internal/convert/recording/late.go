package recording

import (
	"cmp"
	"slices"
	"sort"

	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/storage"
)

// Messages can become far larger than they are: a list of empty protobuf messages has
// all their default values in ROS. When a block becomes more than lateGrowth times its
// bytes, and more than its share of the memory, the workers leave the rest of it as it
// is. The collector re-encodes those late messages one by one when it is their turn, so
// that there is one late message at a time.

// lateGrowth is more than blocks usually grow, also as text.
const lateGrowth = 8

// maxLast bounds the memory that is kept for the next late message, in bytes.
const maxLast = 16 << 20

// markLate marks message i, which comes after all others so far.
func (b *batch) markLate(i int) {
	for len(b.deferred) < i {
		b.deferred = append(b.deferred, false)
	}
	b.deferred = append(b.deferred, true)
}

// sort puts the messages into the order of their times; equal times keep their order.
func (b *batch) sort() {
	if b.deferred == nil {
		slices.SortStableFunc(b.in.Messages, func(x, y storage.Message) int { return cmp.Compare(x.LogTime, y.LogTime) })
		return
	}
	for len(b.deferred) < len(b.in.Messages) {
		b.deferred = append(b.deferred, false)
	}
	sort.Stable(byTime{b})
}

// byTime sorts messages together with their marks.
type byTime struct{ *batch }

func (b byTime) Len() int           { return len(b.in.Messages) }
func (b byTime) Less(i, j int) bool { return b.in.Messages[i].LogTime < b.in.Messages[j].LogTime }
func (b byTime) Swap(i, j int) {
	b.in.Messages[i], b.in.Messages[j] = b.in.Messages[j], b.in.Messages[i]
	b.deferred[i], b.deferred[j] = b.deferred[j], b.deferred[i]
}

// encodeLate re-encodes message i of a block if it is late. It is false when the message
// is left out. Data is valid until the next call.
func (p *Pipeline) encodeLate(b *batch, i int) (bool, error) {
	if i >= len(b.deferred) || !b.deferred[i] {
		return true, nil
	}
	m := &b.in.Messages[i]
	rt, n := &p.routes[m.Topic], &p.counts[m.Topic]
	if cap(p.last) > maxLast {
		p.last = nil
	}
	data, err := mapping.AppendAt(rt.Program, p.last[:0], m.Data, m.LogTime)
	if err != nil {
		return false, p.refuse(n, b.index, m, err)
	}
	m.Data, p.last = data, data
	if p.tooLarge(n, m) {
		return false, nil
	}
	n.Written++
	return true, nil
}
