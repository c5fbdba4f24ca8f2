package recording

import (
	"cmp"
	"context"
	"io"
	"math"
	"slices"
	"sort"

	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/internal/ordered"
	"github.com/bagconv/bagconv/storage"
)

// A Pipeline moves messages from the source to the sinks:
//
//	N+1 workers (work.go): read a block, decompress, re-encode, sort within the block
//	in order, by one of them (collect.go): merge blocks by time, count Header.seq, write
//	encoders (encode.go), if a sink leaves compression to us
//
// A worker has one block, so memory does not depend on the recording. Blocks are collected
// in the order in which they were begun (package ordered): the output is the same for any
// number of workers.
type Pipeline struct {
	Source   *Source
	Sinks    []*Sink
	Order    Order
	Stamps   []*mapping.Stamp // whose times order the messages, by topic of the source; nil: log times
	Limit    int64            // so many messages are wanted, or a few more; 0: all
	Strict   bool             // a message that cannot be re-encoded ends the run
	Threads  int              // workers; 0 is one per core, fewer if there is little memory
	TempDir  string           // for the spill file
	Progress func(Progress)   // nil: nobody wants to know
	// of messages that are equal in topic, time and bytes only the first is written; only with OrderTime
	Dedupe bool
	Prior  *Prior                  // what the sink, a single one, has already; only with OrderTime
	Same   map[int]mapping.Program // by Route.Kind: what messages are compared as, for Dedupe and Prior; else as they are
	// about so many bytes of the source are read, from all over it, in place of all; 0: all. Only with OrderFile; a source
	// without blocks is read whole
	Sample int64

	// Continues is set for a round of a source that goes on, see storage.Resumer. At its end all
	// messages are in the files of the sinks, as far as the sinks can do that while more follow.
	Continues bool

	Trace  *Trace  // follows the run; nil: nobody wants to know. The source must have blocks
	Window *Window // what is delivered of the stream; nil: all

	Share float64 // of what the sinks take, how much is read; less than 1 only with Sample

	Failed *Sink // whose Write has failed

	Through *Through // has programs change messages; nil: no program does. Not with several sinks

	Visitor   Visitor // takes the messages in place of the Write of a single sink; nil: nobody
	taking    taking
	blockwise bool // the visitor takes blocks as the workers have made them
	whole     bool // and the workers leave all messages as they are

	workers int
	budget  budget
	meter   *meter
	spares  *spares // buffers that blocks are read into

	routes []Route  // of all sinks, one after the other; Message.Topic is the index from reencode on
	counts []Count  // the same
	takers []takers // index = TopicID of the source
	chosen []bool   // topics of the source that go to a sink; nil: all
	copies bool     // a message may go to several sinks
	dedupe *deduper // nil: equal messages are not looked for
	last   []byte   // memory of the last message that encodeLate has made
}

// takers are the sinks that a topic goes to, as indices of pipeline.routes.
type takers struct {
	routes   []int // by the start of what their sinks take
	disjoint bool  // in time: a message goes to one route at most
}

// at returns the route that may take a message at a time, if they are disjoint.
func (t *takers) at(p *Pipeline, time int64) []int {
	n := sort.Search(len(t.routes), func(i int) bool { return p.routes[t.routes[i]].to.Choice.First > time })
	return t.routes[max(n-1, 0):n]
}

// join makes one table of the routes of all sinks.
func (p *Pipeline) join() {
	topics := len(p.Source.Info.Topics)
	p.routes, p.copies = nil, false
	p.takers = make([]takers, topics)
	p.counts = make([]Count, topics*len(p.Sinks))
	for k, s := range p.Sinks {
		s.Counts = p.counts[k*topics : (k+1)*topics]
		thinOut(s.Routes, s.Edit, p.Source.Info)
		s.startCopy(p.Source, p.Sinks[0])
		for i := range s.Routes {
			s.Routes[i].to = s
			if t := &p.takers[i]; !s.Routes[i].Skip {
				t.routes = append(t.routes, len(p.routes)+i)
			}
		}
		p.routes = append(p.routes, s.Routes...)
	}
	for i := range p.takers {
		t := &p.takers[i]
		choice := func(k int) *selection.Choice { return p.routes[t.routes[k]].to.Choice }
		slices.SortStableFunc(t.routes, func(a, b int) int {
			return cmp.Compare(p.routes[a].to.Choice.First, p.routes[b].to.Choice.First)
		})
		t.disjoint = true
		for k := 1; k < len(t.routes); k++ {
			t.disjoint = t.disjoint && choice(k-1).Last < choice(k).First
		}
		p.copies = p.copies || !t.disjoint
	}
	p.chosen = make([]bool, topics)
	for i := range p.takers {
		p.chosen[i] = len(p.takers[i].routes) > 0
	}
	placed := func(s *Sink) bool { return s.Places != nil } // messages of a block of which some are left out have no place
	if !slices.Contains(p.chosen, false) || slices.ContainsFunc(p.Sinks, placed) {
		p.chosen = nil
	}
	p.blockwise = p.Visitor != nil && p.Sinks[0].Edit.Offset == 0 &&
		!slices.ContainsFunc(p.routes, func(rt Route) bool { return rt.thin != nil })
	p.whole = p.blockwise && p.takesAll()
}

// takesAll reports whether the first sink takes all messages of the source as they are.
func (p *Pipeline) takesAll() bool {
	f, c := p.Sinks[0].Format, p.Sinks[0].Choice
	return c.First == math.MinInt64 && c.Last == math.MaxInt64 && f.Holds.MinTime == 0 && f.Holds.MaxTime == 0 &&
		f.Holds.MaxMessage == 0 && c.Filters == nil && c.Stretches == nil &&
		!slices.ContainsFunc(p.routes, func(rt Route) bool {
			return rt.Skip || rt.Drop || rt.Program != nil || rt.ReadStamp != nil
		})
}

// A batch is a block on its way.
type batch struct {
	index    int
	in       storage.Batch // Messages in order, with Data as the sink takes it
	out      []byte        // arena of re-encoded data
	made     int           // bytes of re-encoded data, also in arenas before out
	deferred []bool        // by index of in.Messages: Data is the source's, see late.go; nil: of no message
	seen     any           // what the visitor has made of Messages
	errand   errand        // to the programs of Pipeline.Through
	whole    *Sink         // the sink that may copy it: Messages are the block's, all and unchanged; nil: none
	mergeCursor
}

func (b *batch) memory() int64 {
	return int64(cap(b.in.Buf)+cap(b.in.Scratch)+max(cap(b.out), b.made)) + int64(cap(b.in.Messages))*64
}

// Run moves all messages. After an error Failed is the sink whose Write has failed, if it is
// about that. A wrong index is found out here too, see Retry.
func (p *Pipeline) Run(ctx context.Context) error {
	if p.meter == nil { // else it is another round
		p.meter = newMeter(p.Source, p.Progress)
	}
	enc := newEncoder(ctx, p.workers)
	for _, s := range p.Sinks {
		if s.Blocks != nil {
			s.Blocks.OnBlock(enc.add)
		}
	}
	err := p.Through.around(enc.ctx, p.Source.Info, p.move)
	for _, s := range p.Sinks {
		switch {
		case err != nil:
		case s.Blocks != nil:
			err = s.Blocks.Flush(p.Continues)
		}
	}
	if encErr := enc.wait(); encErr != nil {
		err = encErr // the cause of whatever else failed
	}
	if err == nil {
		err = ctx.Err()
	}
	p.Source.changed = p.Source.files.changes()
	for _, s := range p.Sinks {
		if err == nil && p.Share == 1 && p.Window == nil {
			err = p.Source.checkCounts(s.Choice, s.Counts)
		}
	}
	return p.Source.blame(err)
}

// move reads the blocks, and writes their messages.
func (p *Pipeline) move(ctx context.Context) (err error) {
	p.join()
	if p.dedupe = nil; p.Dedupe || p.Prior != nil {
		p.dedupe = newDeduper(ctx, p)
		defer p.dedupe.close()
	}
	if p.Trace != nil {
		if err := p.Trace.begin(p); err != nil {
			return err
		}
	}
	if p.Window != nil {
		if err := p.Window.begin(p); err != nil {
			return err
		}
	}
	p.spares, p.taking = new(spares), taking{}
	workers := p.workers + 1 // one of them collects
	if p.whole {
		workers = p.workers // collecting takes no time
	}
	if p.Source.query != nil && p.Limit > 0 {
		workers = 1 // a block has what is wanted, and no more is read
	}
	free := &batches{limit: workers}
	seq, bounds := p.plan()
	c := newCollector(p, bounds, free)
	defer c.close()
	if err := c.repeat(ctx); err != nil {
		return err
	}
	tallies := make([][]Count, workers)
	for i := range tallies {
		tallies[i] = make([]Count, len(p.routes))
	}
	next := 0
	var failed error // to read a source without blocks
	err = ordered.Line[*batch]{
		Workers: workers, Limit: p.budget.blocks,
		Next: func() (b *batch, bytes int64, ok bool) {
			if p.Source.blockReader != nil && next == len(seq) {
				return nil, 0, false
			}
			b = free.take()
			if b.index = next; p.Source.blockReader != nil {
				b.index = seq[next]
				bytes = blockMemory * p.Source.blocks[b.index].RawSize
			} else if failed = p.Source.sequential(&b.in); failed != nil {
				return nil, 0, false
			}
			next++
			b.errand = p.Through.errand()
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
	if err == nil {
		err = p.flush()
	}
	for _, t := range tallies {
		for i := range t {
			p.counts[i].join(&t[i])
		}
	}
	for i := range p.counts {
		p.counts[i].Written -= p.counts[i].Thinned + p.counts[i].Duplicates
	}
	return err
}

// Close ends the calls of Progress, with a last one.
func (p *Pipeline) Close() {
	if p.meter != nil {
		p.meter.stop()
	}
}

// plan returns the blocks in the order in which they are read, and for each the bound
// before which nothing can follow once it has been read; nil if they are not merged, but
// come in the order of the output.
func (p *Pipeline) plan() (seq []int, bounds []orderKey) {
	spans := p.Source.spans
	n := len(p.Source.blocks)
	if p.Source.blockReader == nil {
		n = len(spans)
	}
	for i := range n {
		if p.Source.need == nil || p.Source.need[i] {
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
	if p.Source.blockReader != nil {
		slices.SortStableFunc(seq, func(a, b int) int { return cmp.Compare(start(a), start(b)) })
	}
	bounds = make([]orderKey, len(seq))
	least := orderKey{math.MaxInt64, math.MaxInt}
	for k := len(seq) - 1; k >= 0; k-- {
		bounds[k] = least
		if b := (orderKey{start(seq[k]), seq[k]}); b.less(least) {
			least = b
		}
	}
	return seq, bounds
}

// blockMemory is how many times its raw size a block takes: as it is in the file,
// unpacked, and re-encoded.
const blockMemory = 3
