package verify

import (
	"context"

	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/storage"
)

// An entry is a message on its way to be compared.
type entry struct {
	pair          *pair
	time, publish int64
	fingerprint
}

// A feed is the stream of a side's entries, in order of time.
type feed struct {
	side    int
	infos   chan sideInfo          // once
	plan    chan []recording.Topic // what becomes of its topics, once
	batches chan []entry           // closed at the end
	free    chan []entry           // batches to be filled again
	pairs   []*pair                // by topic; set before plan
	counts  []int64                // messages by topic
	result  *recording.Result      // set when batches is closed; err too
	err     error
	cur     []entry
	pos     int
}

// A sideInfo is what a recording is, and which of its topics are compared.
type sideInfo struct {
	info   *storage.Info
	chosen []bool
}

// The entries of a batch, and the batches of a feed.
const (
	batchEntries = 512
	feedBatches  = 6
)

func newFeed(side int) *feed {
	f := &feed{side: side, infos: make(chan sideInfo, 1), plan: make(chan []recording.Topic, 1),
		batches: make(chan []entry, feedBatches), free: make(chan []entry, feedBatches)}
	for range feedBatches {
		f.free <- make([]entry, 0, batchEntries)
	}
	return f
}

// run reads the recording, until its end or until ctx is cancelled.
func (f *feed) run(ctx context.Context, src *recording.Source, q recording.Query) {
	defer close(f.batches)
	var batch []entry
	plan := func(info *storage.Info, chosen []bool) ([]recording.Topic, error) {
		f.counts = make([]int64, len(info.Topics))
		f.infos <- sideInfo{info, chosen}
		select {
		case p := <-f.plan:
			return p, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	send := func() error {
		select {
		case f.batches <- batch:
			batch = nil
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	f.result, f.err = src.Read(ctx, q, recording.Each{Topics: plan, Write: func(m *storage.Message) error {
		if batch == nil {
			select {
			case batch = <-f.free:
				batch = batch[:0]
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		f.counts[m.Topic]++
		batch = append(batch, entry{pair: f.pairs[m.Topic], time: m.LogTime, publish: m.PublishTime})
		if len(m.Data) == digestSize {
			batch[len(batch)-1].fingerprint.read(m.Data)
		}
		if len(batch) == batchEntries {
			return send()
		}
		return nil
	}})
	if f.err == nil && len(batch) > 0 {
		f.err = send()
	}
}

// next returns the next entry without taking it, nil at the end.
func (f *feed) next() *entry {
	for f.pos == len(f.cur) {
		if f.cur != nil {
			f.free <- f.cur
			f.cur, f.pos = nil, 0
		}
		batch, ok := <-f.batches
		if !ok {
			return nil
		}
		f.cur, f.pos = batch, 0
	}
	return &f.cur[f.pos]
}
