package convert

import (
	"cmp"
	"context"
	"io"
	"math"
	"slices"
	"sort"

	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/convert/selection"
	"github.com/bagconv/bagconv/internal/ordered"
	"github.com/bagconv/bagconv/storage"
)

// The pipeline moves messages from the source to the sinks:
//
//	N+1 workers (work.go): read a block, decompress, re-encode, sort within the block
//	in order, by one of them (collect.go): merge blocks by time, count Header.seq, write
//	encoders (encode.go), if a sink leaves compression to us
//
// A worker has one block, so memory does not depend on the recording. Blocks are collected
// in the order in which they were begun (package ordered): the output is the same for any
// number of workers.
type pipeline struct {
	src     *source
	sinks   []*sink
	order   Order // OrderTime: messages of a block are sorted
	strict  bool
	workers int
	meter   *meter
	tempDir string // for the spill file
	budget  budget
	spares  *spares // buffers that blocks are read into

	routes []route      // of all sinks, one after the other; Message.Topic is the index from reencode on
	counts []topicCount // the same
	takers []takers     // index = TopicID of the source
	copies bool         // a message may go to several sinks
	failed *sink        // whose write has failed
	last   []byte       // memory of the last message that encodeLate has made
}

// A sink takes messages of a run: an output, or a function.
type sink struct {
	write  func(*storage.Message) error
	copier storage.BlockCopier // takes whole blocks as they are stored; nil: it cannot
	format *storage.Format     // whose limits the messages keep
	choice *selection.Choice   // what it takes
	latch  *selection.Latch    // of which topics the state before a cut is repeated
	state  []storage.Message   // of latched topics, to be repeated at its start
	offset int64               // ns, added to all times
	routes []route             // index = TopicID of the source
	counts []topicCount        // the same; nil before the run
}

// A route says what happens to the messages of one topic of the source in a sink.
type route struct {
	to    *sink
	drop  bool
	sink  storage.TopicID
	plan  mapping.Program // nil: the bytes move untouched
	seq   *seqCounter     // nil: nothing to count
	seqAt int             // where the counter lies in the output

	headerSeq mapping.HeaderSeq

	skip  bool            // not asked for, and not counted
	thin  *selection.Thin // nil: all messages stay
	stamp *mapping.Stamp  // in the source: becomes the log time
	mark  *mapping.Stamp  // in the sink: becomes the log time's
}

// takers are the sinks that a topic goes to, as indices of pipeline.routes.
type takers struct {
	routes   []int // by the start of what their sinks take
	disjoint bool  // in time: a message goes to one of them at most
}

// at returns the one that may take a message at a time, if they are disjoint.
func (t *takers) at(p *pipeline, time int64) []int {
	n := sort.Search(len(t.routes), func(i int) bool { return p.routes[t.routes[i]].to.choice.First > time })
	return t.routes[max(n-1, 0):n]
}

// join makes one table of the routes of all sinks.
func (p *pipeline) join() {
	topics := len(p.src.info.Topics)
	p.takers = make([]takers, topics)
	p.counts = make([]topicCount, topics*len(p.sinks))
	for k, s := range p.sinks {
		s.counts = p.counts[k*topics : (k+1)*topics]
		for i := range s.routes {
			s.routes[i].to = s
			if t := &p.takers[i]; !s.routes[i].skip {
				t.routes = append(t.routes, len(p.routes)+i)
			}
		}
		p.routes = append(p.routes, s.routes...)
	}
	for i := range p.takers {
		t := &p.takers[i]
		choice := func(k int) *selection.Choice { return p.routes[t.routes[k]].to.choice }
		slices.SortStableFunc(t.routes, func(a, b int) int {
			return cmp.Compare(p.routes[a].to.choice.First, p.routes[b].to.choice.First)
		})
		t.disjoint = true
		for k := 1; k < len(t.routes); k++ {
			t.disjoint = t.disjoint && choice(k-1).Last < choice(k).First
		}
		p.copies = p.copies || !t.disjoint
	}
}

// A seqCounter numbers the messages of one topic of the sink in their order.
type seqCounter struct{ next uint32 }

// topicCount is what happened to the messages of one topic.
type topicCount struct {
	read, written   int64
	thinned         int64 // not in written
	repeated        int64 // not in read
	unstamped       int64 // messages without the stamp that was asked for
	publishTimes    int64 // written without their own, which the format does not keep
	sequences       int64 // likewise
	bad, outOfRange int64
	tooLarge        int64
	firstBad        error // of the first unreadable message in the order of blocks
	firstBadBlock   int
}

// A batch is a block on its way.
type batch struct {
	index int
	in    storage.Batch // Messages in order, with Data as the sink takes it
	out   []byte        // arena of re-encoded data
	made  int           // bytes of re-encoded data, also in arenas before out
	late  []bool        // by index of in.Messages: Data is the source's, see late.go; nil: of none
	whole *sink         // where it may be copied: Messages are the block's, all and unchanged; nil: nowhere
	cursor
}

func (b *batch) memory() int64 {
	return int64(cap(b.in.Buf)+cap(b.in.Scratch)+max(cap(b.out), b.made)) + int64(cap(b.in.Messages))*64
}

func (p *pipeline) run(ctx context.Context) (err error) {
	p.join()
	p.spares = new(spares)
	workers := p.workers + 1 // one of them collects
	if p.src.query != nil && p.src.limit > 0 {
		workers = 1 // a block has what is wanted, and no more is read
	}
	free := &batches{most: workers}
	seq, bounds := p.plan()
	c := newCollector(p, bounds, free)
	defer c.close()
	if err := c.repeat(); err != nil {
		return err
	}
	tallies := make([][]topicCount, workers)
	for i := range tallies {
		tallies[i] = make([]topicCount, len(p.routes))
	}
	next := 0
	var failed error // to read a source without blocks
	err = ordered.Line[*batch]{
		Workers: workers, Limit: p.budget.blocks,
		Next: func() (b *batch, bytes int64, ok bool) {
			if p.src.blockReader != nil && next == len(seq) {
				return nil, 0, false
			}
			b = free.take()
			if b.index = next; p.src.blockReader != nil {
				b.index = seq[next]
				bytes = blockMemory * p.src.blocks[b.index].RawSize
			} else if failed = p.src.sequential(&b.in); failed != nil {
				return nil, 0, false
			}
			next++
			return b, bytes, true
		},
		Work:   func(w int, b *batch) error { return p.process(ctx, b, tallies[w]) },
		Finish: func(_ int, b *batch) error { return c.add(b) },
	}.Run(ctx)
	if err == nil && failed != io.EOF {
		err = failed
	}
	if err == nil {
		err = c.end()
	}
	for _, t := range tallies {
		for i := range t {
			p.counts[i].join(&t[i])
		}
	}
	for i := range p.counts {
		p.counts[i].written -= p.counts[i].thinned
	}
	return err
}

// plan returns the blocks in the order in which they are read, and for each the bound
// before which nothing can follow once it has been read; nil if they are not merged, but
// come in the order of the output.
func (p *pipeline) plan() (seq []int, bounds []key) {
	spans := p.src.spans
	n := len(p.src.blocks)
	if p.src.blockReader == nil {
		n = len(spans)
	}
	for i := range n {
		if p.src.need == nil || p.src.need[i] {
			seq = append(seq, i)
		}
	}
	if spans == nil {
		return seq, nil
	}
	start := func(i int) int64 {
		if spans[i].messages == 0 {
			return math.MaxInt64
		}
		return spans[i].start
	}
	if p.src.blockReader != nil {
		slices.SortStableFunc(seq, func(a, b int) int { return cmp.Compare(start(a), start(b)) })
	}
	bounds = make([]key, len(seq))
	least := key{math.MaxInt64, math.MaxInt}
	for k := len(seq) - 1; k >= 0; k-- {
		bounds[k] = least
		if b := (key{start(seq[k]), seq[k]}); b.less(least) {
			least = b
		}
	}
	return seq, bounds
}

// blockMemory is how many times its raw size a block takes: as it is in the file,
// unpacked, and re-encoded.
const blockMemory = 3

func (c *topicCount) join(o *topicCount) {
	if o.bad > 0 && (c.bad == 0 || o.firstBadBlock < c.firstBadBlock) {
		c.firstBad, c.firstBadBlock = o.firstBad, o.firstBadBlock
	}
	c.read += o.read
	c.written += o.written
	c.repeated += o.repeated
	c.unstamped += o.unstamped
	c.bad += o.bad
	c.outOfRange += o.outOfRange
	c.tooLarge += o.tooLarge
}
