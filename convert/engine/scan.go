package engine

import (
	"context"
	"math/bits"
	"sync"

	"github.com/bagconv/bagconv/convert/selection"
	"github.com/bagconv/bagconv/storage"
)

// A ScanResult describes a recording of which every message was read.
type ScanResult struct {
	Messages   int64
	Bytes      int64        // of message data
	Start, End int64        // least and greatest LogTime; both 0 without messages
	Topics     []TopicStats // index = TopicID
	Timeline   *Timeline    // topics are numbered as TopicID

	histogram *Histogram
}

// TopicStats describes a topic of which every message was read.
type TopicStats struct {
	Messages    int64
	Bytes       int64
	Stored      int64 // bytes that its blocks take in the files, shared out by the bytes of their messages; 0 without blocks
	First, Last int64 // least and greatest LogTime; both 0 without messages
}

// Scan reads the whole of r, on several cores if the format allows it, and counts. threads 0 is one per core, 12 at most.
// It must be called before anything else is read from r. Damage is in r.Damage() afterwards.
func Scan(ctx context.Context, r storage.Reader, threads int, progress func(Progress)) (*ScanResult, error) {
	return count(ctx, r, StreamJob{Order: OrderFile, Threads: threads, Progress: progress})
}

// ScanIndex counts the messages of a recording by its index, without their data: Bytes and Stored stay 0. An error
// that wraps storage.ErrUnsupported means that the format has no such index.
func ScanIndex(ctx context.Context, r storage.Reader) (*ScanResult, error) {
	return count(ctx, r, StreamJob{Pick: &storage.Query{NoData: true}})
}

// count counts what a job reads of a recording.
func count(ctx context.Context, r storage.Reader, job StreamJob) (res *ScanResult, err error) {
	if job.Source, err = SourceOf(r); err != nil {
		return nil, err
	}
	job.Edit.Latch = selection.NoLatch
	var c counter
	if _, err = Visit(ctx, job, &c); err != nil {
		return nil, err
	}
	res = newScan(c.topics)
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
	parts  []*ScanResult // that nobody is counting in
}

// Plan takes all topics.
func (c *counter) Plan(info *storage.Info, _ []bool) ([]StreamTopic, error) {
	c.topics, c.parts = len(info.Topics), nil
	return make([]StreamTopic, c.topics), nil
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
func (c *counter) take() *ScanResult {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.parts) - 1
	if n < 0 {
		return newScan(c.topics)
	}
	part := c.parts[n]
	c.parts = c.parts[:n]
	return part
}

// Take has nothing to do: the order of messages does not count.
func (c *counter) Take(storage.Block, []storage.Message, int, int, any) error { return nil }

// newScan returns a result without messages.
func newScan(topics int) *ScanResult {
	return &ScanResult{Topics: make([]TopicStats, topics), histogram: NewHistogram(topics)}
}

// add counts messages.
func (r *ScanResult) add(msgs []storage.Message) {
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
func (r *ScanResult) share(size int64, msgs []storage.Message) {
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

func (r *ScanResult) join(o *ScanResult) {
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
func (r *ScanResult) bounds() {
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
