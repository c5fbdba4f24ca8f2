package convert

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/convert/selection"
	"github.com/bagconv/bagconv/storage"
)

// The pipeline moves messages from the source to the sink. There are two
// channel hops for each block and none for a message:
//
//	dispatcher --work--> N workers: read, decompress, re-encode, sort within the block
//	           --order-> collector: merges blocks by time, counts Header.seq, writes
//	                     --> encoders (encode.go), when the sink leaves compression to us
//
// Blocks come from a fixed pool, so memory does not depend on the recording.
// The collector takes blocks in the order of dispatch, never of completion:
// the output is the same for any number of workers.
type pipeline struct {
	src     *source
	routes  []route // index = TopicID of the source
	write   func(*storage.Message) error
	order   Order
	strict  bool
	spans   []span // times of the blocks, nil when not known
	workers int
	meter   *meter
	format  *storage.Format // of the sink
	tempDir string          // for the spill file
	budget  budget
	gate    *gate // blocks that are read and not collected yet

	choice   *selection.Choice // which times are taken; nil: all
	offset   int64             // ns, added to all times
	repeated []storage.Message // as selection.State gives them

	counts []topicCount // result, index = TopicID of the source
}

// A route says what happens to the messages of one topic of the source.
type route struct {
	drop  bool
	sink  storage.TopicID
	plan  mapping.Program // nil: the bytes move untouched
	seq   *seqCounter     // nil: nothing to count
	seqAt int             // where the counter lies in the output

	skip  bool            // not asked for, and not counted
	thin  *selection.Thin // nil: all messages stay
	stamp *mapping.Stamp  // in the source: becomes the log time
	mark  *mapping.Stamp  // in the sink: becomes the log time's
}

// A seqCounter numbers the messages of one topic of the sink in their order.
type seqCounter struct{ next uint32 }

// topicCount is what happened to the messages of one topic.
type topicCount struct {
	read, written   int64
	thinned         int64 // not in written
	repeated        int64 // not in read
	unstamped       int64 // messages without the stamp that was asked for
	bad, outOfRange int64
	firstBad        error // of the first unreadable message in the order of blocks
	firstBadBlock   int
}

// A batch is a block on its way.
type batch struct {
	index int
	in    storage.Batch // Messages in order, with Data as the sink takes it
	out   []byte        // arena of re-encoded data
	done  chan error
	taken int64 // of the gate
	cursor
}

func (b *batch) memory() int64 {
	return int64(cap(b.in.Buf)+cap(b.in.Scratch)+cap(b.out)) + int64(cap(b.in.Messages))*64
}

func (p *pipeline) run(ctx context.Context) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	p.gate = newGate(p.budget.blocks)
	n := p.workers + 1
	free := make(chan *batch, n)
	for range n {
		free <- &batch{done: make(chan error, 1)}
	}
	work, order := make(chan *batch, n), make(chan *batch, n)
	seq, bounds := p.plan()

	var wg sync.WaitGroup
	var dispatchErr error
	wg.Add(1)
	go func() {
		defer wg.Done()
		defer close(order)
		defer close(work)
		dispatchErr = p.dispatch(ctx, seq, free, work, order)
	}()
	p.counts = make([]topicCount, len(p.routes))
	tallies := make([][]topicCount, p.workers)
	for i := range tallies {
		tallies[i] = make([]topicCount, len(p.routes))
		wg.Add(1)
		go func() {
			defer wg.Done()
			var own buffers
			for b := range work {
				if p.src.blockReader != nil {
					own.lend(b)
				}
				err := p.process(ctx, b, tallies[i])
				if err == nil && p.src.blockReader != nil {
					own.takeBack(b, p.routes)
				}
				b.done <- err
			}
		}()
	}
	err = p.collect(seq, bounds, free, order)
	cancel(err)
	for b := range order { // drain
		<-b.done
	}
	wg.Wait()
	for _, t := range tallies {
		for i := range t {
			p.counts[i].join(&t[i])
		}
	}
	for i := range p.counts {
		p.counts[i].written -= p.counts[i].thinned
	}
	if err == nil {
		err = dispatchErr
	}
	return err
}

// plan returns the blocks in the order in which they are read, and for each the
// bound before which nothing can follow once it has been read. Both are nil
// for blocks read as they come with nothing known of their times.
func (p *pipeline) plan() (seq []int, bounds []key) {
	n := len(p.src.blocks)
	if p.src.blockReader == nil {
		n = len(p.spans)
	}
	for i := range n {
		if p.src.need == nil || p.src.need[i] {
			seq = append(seq, i)
		}
	}
	n = len(seq)
	if p.order == OrderFile || p.spans == nil {
		return seq, nil
	}
	start := func(i int) int64 {
		if p.spans[i].messages == 0 {
			return math.MaxInt64
		}
		return p.spans[i].start
	}
	if p.src.blockReader != nil {
		slices.SortStableFunc(seq, func(a, b int) int { return cmp.Compare(start(a), start(b)) })
	}
	bounds = make([]key, n)
	least := key{math.MaxInt64, math.MaxInt}
	for k := n - 1; k >= 0; k-- {
		bounds[k] = least
		if b := (key{start(seq[k]), seq[k]}); b.less(least) && !p.spans[seq[k]].loose {
			least = b
		}
	}
	return seq, bounds
}

// blockMemory is how many times its raw size a block takes: as it is in the file,
// unpacked, and re-encoded.
const blockMemory = 3

// dispatch hands blocks to the workers and, in the same order, to the collector.
func (p *pipeline) dispatch(ctx context.Context, seq []int, free <-chan *batch, work, order chan<- *batch) error {
	for k := 0; p.src.blockReader == nil || k < len(seq); k++ {
		var b *batch
		select {
		case b = <-free:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		b.index = k
		if p.src.blockReader != nil {
			b.index = seq[k]
		} else if err := p.src.sequential(&b.in); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if b.taken = 0; p.src.blockReader != nil {
			b.taken = blockMemory * p.src.blocks[b.index].RawSize
		}
		if err := p.gate.enter(ctx, b.taken); err != nil {
			return err
		}
		order <- b // both have room for every block of the pool
		work <- b
	}
	return nil
}

// process reads and re-encodes one block. Messages that the sink does not take
// are left out and counted.
func (p *pipeline) process(ctx context.Context, b *batch, tally []topicCount) error {
	if err := p.read(ctx, b); err != nil {
		return err
	}
	return p.reencode(b, tally, false)
}

// buffers are those that a worker needs while it reads and re-encodes a block, and
// that go on with the block only when messages still lie in them.
type buffers struct{ buf, scratch []byte }

// lend gives a block the worker's buffers, when they are larger than its own.
func (o *buffers) lend(b *batch) {
	if cap(o.buf) > cap(b.in.Buf) {
		b.in.Buf, o.buf = o.buf, b.in.Buf
	}
	if cap(o.scratch) > cap(b.in.Scratch) {
		b.in.Scratch, o.scratch = o.scratch, b.in.Scratch
	}
}

// takeBack takes them again. Messages of routes without a plan lie in the buffer.
func (o *buffers) takeBack(b *batch, routes []route) {
	if cap(b.in.Scratch) > cap(o.scratch) {
		o.scratch = b.in.Scratch
	}
	b.in.Scratch = nil
	for i := range b.in.Messages {
		if rt := &routes[b.in.Messages[i].Topic]; rt.plan == nil {
			return
		}
	}
	if cap(b.in.Buf) > cap(o.buf) {
		o.buf = b.in.Buf
	}
	b.in.Buf = nil
}

// read fills b with its block.
func (p *pipeline) read(ctx context.Context, b *batch) error {
	if p.src.blockReader != nil {
		if err := p.src.blockReader.ReadBlock(ctx, b.index, &b.in); err != nil {
			return err
		}
		p.meter.read(p.src.blocks[b.index].Size, len(b.in.Messages))
		if p.src.need != nil {
			return p.src.checkTimes(b.index, b.in.Messages)
		}
		return nil
	}
	p.meter.read(int64(len(b.in.Buf)), len(b.in.Messages))
	return nil
}

// reencode makes the messages of a block those of the sink. Repeated ones are
// counted as such, and keep their time.
func (p *pipeline) reencode(b *batch, tally []topicCount, repeated bool) error {
	p.reserve(b)
	sorted, last := true, int64(math.MinInt64)
	limited := p.format.MinTime != 0 || p.format.MaxTime != 0
	kept := b.in.Messages[:0]
	for i := range b.in.Messages {
		m := b.in.Messages[i]
		if err := checkTopic(&m, len(p.routes)); err != nil {
			return err
		}
		rt, n := &p.routes[m.Topic], &tally[m.Topic]
		if rt.skip || !repeated && p.choice != nil && !p.choice.Holds(m.LogTime) {
			continue
		}
		if repeated {
			n.repeated++
		} else {
			n.read++
		}
		if rt.drop {
			continue
		}
		if rt.stamp != nil && !repeated {
			if !restamp(rt.stamp, &m) {
				n.unstamped++
			}
		}
		at := m.LogTime + p.offset
		if limited && (at < p.format.MinTime || at > p.format.MaxTime) || (at < m.LogTime) != (p.offset < 0) {
			n.outOfRange++
			continue
		}
		if rt.plan != nil {
			data, err := b.encode(rt.plan, m.Data, m.LogTime)
			if err != nil {
				if p.strict {
					return p.badMessage(&m, err)
				}
				if n.bad == 0 || b.index < n.firstBadBlock {
					n.firstBad, n.firstBadBlock = p.badMessage(&m, err), b.index
				}
				n.bad++
				continue
			}
			m.Data = data
		}
		if repeated {
			m.PublishTime = isRepeated
		}
		n.written++
		sorted = sorted && m.LogTime >= last
		last = m.LogTime
		kept = append(kept, m)
	}
	b.in.Messages = kept
	if !sorted && p.order == OrderTime {
		slices.SortStableFunc(kept, func(x, y storage.Message) int { return cmp.Compare(x.LogTime, y.LogTime) })
	}
	return nil
}

// reserve empties the arena of a block, and makes it large enough for what its
// messages become.
func (p *pipeline) reserve(b *batch) {
	b.out = b.out[:0]
	need := 0
	for i := range b.in.Messages {
		m := &b.in.Messages[i]
		if int(m.Topic) < len(p.routes) {
			if rt := &p.routes[m.Topic]; rt.plan != nil && !rt.drop && !rt.skip {
				need += rt.plan.SizeHint(len(m.Data))
			}
		}
	}
	if cap(b.out) < need {
		b.out = make([]byte, 0, need)
	}
}

// encode re-encodes src into the batch's arena. When the arena is full a new
// one begins; slices into the old one stay good.
func (b *batch) encode(plan mapping.Program, src []byte, logTime int64) ([]byte, error) {
	if need := plan.SizeHint(len(src)); cap(b.out)-len(b.out) < need { // a hint was too small
		b.out = make([]byte, 0, max(need, 64<<10))
	}
	at := len(b.out)
	out, err := mapping.AppendAt(plan, b.out, src, logTime)
	if err != nil {
		return nil, err
	}
	b.out = out
	return out[at:len(out):len(out)], nil
}

func (p *pipeline) badMessage(m *storage.Message, err error) error {
	t := &p.src.info.Topics[m.Topic]
	return fmt.Errorf("topic %s, message of %s at time %d: %w", t.Name, t.Type, m.LogTime, err)
}

// maxSpares bounds the blocks that wait for others to be held back.
const maxSpares = 2

// collect takes the blocks in order and writes their messages.
func (p *pipeline) collect(seq []int, bounds []key, free chan<- *batch, order <-chan *batch) error {
	// Blocks that the merger holds are missing in the pool: spares stand in for
	// them, so that the dispatcher never waits for a block that waits for it.
	lent := 0
	var spares []*batch
	giveBack := func(b *batch) {
		if lent > 0 {
			lent--
			if len(spares) < maxSpares {
				spares = append(spares, b)
			}
			return
		}
		free <- b
	}
	lend := func() {
		lent++
		if n := len(spares); n > 0 {
			free <- spares[n-1]
			spares = spares[:n-1]
			return
		}
		free <- &batch{done: make(chan error, 1)}
	}

	m := newMerger(p.tempDir, p.budget.held, p.emit, giveBack)
	defer m.close()
	if len(p.repeated) > 0 {
		b := &batch{index: -1, done: make(chan error, 1)}
		b.in.Messages = slices.Clone(p.repeated)
		if err := p.reencode(b, p.counts, true); err != nil {
			return err
		}
		if p.order == OrderFile {
			if err := p.emitAll(b); err != nil {
				return err
			}
		} else {
			lent++ // it is not of the pool
			if err := m.add(b); err != nil {
				return err
			}
		}
	}
	before, latest := int64(math.MinInt64), int64(math.MinInt64) // before: without the last block that had messages
	k := 0
	for b := range order {
		err := <-b.done
		p.gate.leave(b.taken)
		if err != nil {
			return err
		}
		if p.order == OrderFile {
			if err := p.emitAll(b); err != nil {
				return err
			}
			free <- b
			continue
		}
		// Without known times, blocks are taken to be in order but for overlaps
		// with their neighbours; the merger notices when that is not so.
		if n := len(b.in.Messages); n > 0 {
			before, latest = latest, max(latest, b.in.Messages[n-1].LogTime)
		}
		bound := key{before, math.MaxInt}
		if bounds != nil {
			if k >= len(bounds) {
				return errors.New("the recording has grown while it was read; try again when it is complete")
			}
			if next := k + 1; next == len(seq) || !p.spans[seq[next]].loose || bounds[k].less(bound) {
				bound = bounds[k]
			}
		}
		k++
		lend()
		if err := m.add(b); err != nil {
			return err
		}
		if err := m.advance(bound); err != nil {
			return err
		}
	}
	return m.advance(key{math.MaxInt64, math.MaxInt})
}

func (p *pipeline) emitAll(b *batch) error {
	for i := range b.in.Messages {
		if err := p.emit(&b.in.Messages[i]); err != nil {
			return err
		}
	}
	return nil
}

// emit writes one message to the sink.
func (p *pipeline) emit(m *storage.Message) error {
	rt := &p.routes[m.Topic]
	if m.PublishTime == isRepeated && p.repeated != nil {
		m.PublishTime = m.LogTime
	} else if rt.thin != nil && !rt.thin.Keep(m.LogTime) {
		p.counts[m.Topic].thinned++
		return nil
	}
	if p.offset != 0 {
		m.LogTime += p.offset // reencode has seen to it that this fits
		m.PublishTime = selection.Shift(m.PublishTime, p.offset)
	}
	if rt.mark != nil && !rt.mark.Set(m.Data, m.LogTime) {
		p.counts[m.Topic].unstamped++
	}
	if rt.seq != nil {
		binary.LittleEndian.PutUint32(m.Data[rt.seqAt:], rt.seq.next)
		rt.seq.next++
	}
	m.Topic = rt.sink
	return p.write(m)
}

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
}
