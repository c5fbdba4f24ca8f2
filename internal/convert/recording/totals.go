package recording

import (
	"context"
	"math/bits"
	"sync"

	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/storage"
)

// Totals describe messages that were all read.
type Totals struct {
	Messages   int64
	Bytes      int64         // of message data
	Start, End int64         // least and greatest LogTime; both 0 without messages
	Topics     []TopicTotals // index = TopicID
	Timeline   *Timeline     // topics are numbered as TopicID

	histogram *Histogram
}

// TopicTotals describe the messages of a topic.
type TopicTotals struct {
	Messages int64
	Bytes    int64
	// bytes that its blocks take in the files, shared out by the bytes of their messages; 0 without blocks
	Stored      int64
	First, Last int64 // least and greatest LogTime; both 0 without messages
}

// Totals counts the messages that a query reads, in any order. If it has a Pick, they are counted by the index: then
// Bytes may, and Stored will stay 0. Damage has what was found afterwards.
func (s *Source) Totals(ctx context.Context, q Query) (*Totals, error) {
	q.Order, q.Edit.Latch = OrderFile, selection.NoLatch
	var c counter
	if _, err := s.Read(ctx, q, &c); err != nil {
		return nil, err
	}
	res := newTotals(c.topics)
	for _, part := range c.parts {
		res.join(part)
	}
	res.bounds()
	res.Timeline = res.histogram.Timeline()
	return res, nil
}

// A counter is a Visitor that counts messages, in as many parts as there are workers.
type counter struct {
	topics int
	mu     sync.Mutex
	parts  []*Totals // that nobody is counting in
}

// Plan takes all topics.
func (c *counter) Plan(info *storage.Info, _ []bool) ([]Topic, error) {
	c.topics, c.parts = len(info.Topics), nil
	return make([]Topic, c.topics), nil
}

// Work counts the messages of a block.
func (c *counter) Work(at storage.Block, msgs []storage.Message, _ any) (any, error) {
	part := c.take()
	part.add(msgs)
	part.share(at.Size, msgs)
	c.mu.Lock()
	c.parts = append(c.parts, part)
	c.mu.Unlock()
	return nil, nil
}

// take takes a part that nobody is counting in.
func (c *counter) take() *Totals {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.parts) - 1
	if n < 0 {
		return newTotals(c.topics)
	}
	part := c.parts[n]
	c.parts = c.parts[:n]
	return part
}

// Take has nothing to do: the order of messages does not count.
func (c *counter) Take(storage.Block, []storage.Message, int, int, any) error { return nil }

// newTotals returns totals without messages.
func newTotals(topics int) *Totals {
	return &Totals{Topics: make([]TopicTotals, topics), histogram: NewHistogram(topics)}
}

// add counts messages.
func (r *Totals) add(msgs []storage.Message) {
	for i := range msgs {
		m := &msgs[i]
		t := &r.Topics[m.Topic]
		if t.Messages == 0 {
			t.First, t.Last = m.LogTime, m.LogTime
		}
		t.First, t.Last = min(t.First, m.LogTime), max(t.Last, m.LogTime)
		t.Messages++
		t.Bytes += int64(len(m.Data))
		r.histogram.Add(int(m.Topic), m.LogTime, 1)
	}
}

// share shares the size of a block out among the topics of its messages.
func (r *Totals) share(size int64, msgs []storage.Message) {
	if size <= 0 {
		return // there are no blocks
	}
	all := uint64(0)
	for i := range msgs {
		all += uint64(len(msgs[i].Data)) + 1
	}
	sum, before := uint64(0), uint64(0)
	for i := range msgs {
		sum += uint64(len(msgs[i].Data)) + 1
		high, low := bits.Mul64(uint64(size), sum)
		upto, _ := bits.Div64(high, low, all) // sum is all at most
		r.Topics[msgs[i].Topic].Stored += int64(upto - before)
		before = upto
	}
}

func (r *Totals) join(o *Totals) {
	r.histogram.join(o.histogram)
	for i, t := range o.Topics {
		if t.Messages == 0 {
			continue
		}
		s := &r.Topics[i]
		if s.Messages == 0 {
			*s = t
			continue
		}
		s.First, s.Last = min(s.First, t.First), max(s.Last, t.Last)
		s.Messages += t.Messages
		s.Bytes += t.Bytes
		s.Stored += t.Stored
	}
}

// bounds fills the totals from the topics.
func (r *Totals) bounds() {
	for _, t := range r.Topics {
		if t.Messages == 0 {
			continue
		}
		if r.Messages == 0 {
			r.Start, r.End = t.First, t.Last
		}
		r.Start, r.End = min(r.Start, t.First), max(r.End, t.Last)
		r.Messages += t.Messages
		r.Bytes += t.Bytes
	}
}
