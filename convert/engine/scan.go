package engine

import (
	"context"
	"io"
	"math"
	"math/bits"

	"github.com/bagconv/bagconv/internal/ordered"
	"github.com/bagconv/bagconv/storage"
)

// A ScanResult describes a recording of which every message was read.
type ScanResult struct {
	Messages   int64
	Bytes      int64        // of message data
	Start, End int64        // least and greatest LogTime; both 0 without messages
	Topics     []TopicStats // index = TopicID
	Timeline   *Timeline    // topics are numbered as TopicID

	spans     []span     // per block
	histogram *Histogram // nil: there will not be a timeline
}

// TopicStats describes a topic of which every message was read.
type TopicStats struct {
	Messages    int64
	Bytes       int64
	Stored      int64 // bytes that its blocks take in the files, shared out by the bytes of their messages; 0 without blocks
	First, Last int64 // least and greatest LogTime; both 0 without messages
}

// Scan reads the whole of r, on several cores if the format allows it, and
// counts. threads 0 is one per core, 12 at most. It must be called before anything else is
// read from r. Damage is in r.Damage() afterwards.
func Scan(ctx context.Context, r storage.Reader, threads int, progress func(Progress)) (*ScanResult, error) {
	s, err := SourceOf(r)
	if err != nil {
		return nil, err
	}
	meter := newMeter(s, progress)
	defer meter.stop()
	res, err := scan(ctx, s, workers(threads, s.memory), meter, true)
	if err == nil {
		res.Timeline = res.histogram.Timeline()
	}
	return res, err
}

// newScan returns a result without messages.
func newScan(topics int, timeline bool) *ScanResult {
	r := &ScanResult{Topics: make([]TopicStats, topics)}
	if timeline {
		r.histogram = NewHistogram(topics)
	}
	return r
}

// MaxThreads is the largest number of workers, whatever Threads is.
const MaxThreads = ordered.MaxWorkers

// workers returns how many workers a run has; memory 0 is DefaultMemory.
func workers(threads int, memory int64) int {
	if memory <= 0 {
		memory = DefaultMemory
	}
	return ordered.Workers(threads, memory)
}

func scan(ctx context.Context, s *Source, threads int, meter *meter, timeline bool) (*ScanResult, error) {
	if s.blockReader == nil {
		return scanSequential(ctx, s, meter, timeline)
	}
	spans := make([]span, len(s.blocks))
	parts := make([]*ScanResult, threads)
	for w := range parts {
		parts[w] = newScan(len(s.Info.Topics), timeline)
	}
	var seq []int
	for i := range spans {
		if s.need == nil || s.need[i] {
			seq = append(seq, i)
		} else {
			spans[i] = span{start: math.MaxInt64, end: math.MinInt64}
		}
	}
	err := s.parallel(ctx, seq, threads, func(w, k int, b *storage.Batch) (err error) {
		i := seq[k]
		s.restamp(b.Messages)
		if spans[i], err = parts[w].add(b.Messages); err == nil {
			parts[w].share(s.blocks[i].Size, b.Messages)
		}
		meter.read(s.blocks[i].Size, len(b.Messages))
		return err
	}, nil)
	if err != nil {
		return nil, err
	}
	total := newScan(len(s.Info.Topics), timeline)
	total.spans = spans
	for _, part := range parts {
		total.join(part)
	}
	total.bounds()
	return total, nil
}

func scanSequential(ctx context.Context, s *Source, meter *meter, timeline bool) (*ScanResult, error) {
	res := newScan(len(s.Info.Topics), timeline)
	var b storage.Batch
	for ctx.Err() == nil {
		err := s.sequential(&b)
		if err == io.EOF {
			res.bounds()
			return res, nil
		}
		if err != nil {
			return nil, err
		}
		s.restamp(b.Messages)
		sp, err := res.add(b.Messages)
		if err != nil {
			return nil, err
		}
		res.spans = append(res.spans, sp)
		meter.read(int64(len(b.Buf)), len(b.Messages))
	}
	return nil, ctx.Err()
}

// add counts the messages of one block and returns its span.
func (r *ScanResult) add(msgs []storage.Message) (span, error) {
	sp := span{start: math.MaxInt64, end: math.MinInt64, messages: len(msgs)}
	for i := range msgs {
		m := &msgs[i]
		if err := checkTopic(m, len(r.Topics)); err != nil {
			return sp, err
		}
		t := &r.Topics[m.Topic]
		if t.Messages == 0 {
			t.First, t.Last = m.LogTime, m.LogTime
		}
		t.First, t.Last = min(t.First, m.LogTime), max(t.Last, m.LogTime)
		t.Messages++
		t.Bytes += int64(len(m.Data))
		if r.histogram != nil {
			r.histogram.Add(int(m.Topic), m.LogTime, 1)
		}
		sp.start, sp.end = min(sp.start, m.LogTime), max(sp.end, m.LogTime)
	}
	return sp, nil
}

// share shares the size of a block out among the topics of its messages.
func (r *ScanResult) share(size int64, msgs []storage.Message) {
	all := uint64(0)
	for i := range msgs {
		all += uint64(len(msgs[i].Data)) + 1
	}
	sum, before := uint64(0), uint64(0)
	for i := range msgs {
		sum += uint64(len(msgs[i].Data)) + 1
		high, low := bits.Mul64(uint64(max(size, 0)), sum)
		upto, _ := bits.Div64(high, low, all) // sum is all at most
		r.Topics[msgs[i].Topic].Stored += int64(upto - before)
		before = upto
	}
}

func (r *ScanResult) join(o *ScanResult) {
	if r.histogram != nil {
		r.histogram.join(o.histogram)
	}
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
