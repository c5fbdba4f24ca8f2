package recording

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/storage"
)

// A collector takes the blocks in order and writes their messages. The worker whose block
// it is runs it: one at a time.
type collector struct {
	p      *Pipeline
	bounds []orderKey // see pipeline.plan
	k      int        // blocks so far
	merger *merger
	free   *batches
}

func newCollector(p *Pipeline, bounds []orderKey, free *batches) *collector {
	return &collector{p: p, bounds: bounds, free: free,
		merger: newMerger(p.TempDir, p.budget.ordering, p.emit, p.encodeLate, p.copyBlock,
			func(b *batch) { p.done(free, b) })}
}

func (c *collector) close() { c.merger.close() }

// repeat writes what latched topics sent before the start of a sink.
func (c *collector) repeat(ctx context.Context) error {
	if w := c.p.Window; w != nil && !w.repeats() {
		return nil // they are before it
	}
	for _, to := range c.p.Sinks {
		if len(to.state) == 0 {
			continue
		}
		b := &batch{index: repeatedBlock}
		b.in.Messages = slices.Clone(to.state)
		b.errand.ctx = ctx
		err := c.p.reencode(b, c.p.counts, to)
		b.errand.done(c.p.Through)
		if err == nil {
			err = c.p.visit(b)
		}
		if err == nil && c.bounds == nil {
			err = c.p.emitAll(b)
		} else if err == nil {
			err = c.merger.add(b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// add takes a block.
func (c *collector) add(b *batch) error {
	if n := len(b.in.Messages); c.p.Trace != nil && n > 0 {
		c.p.Trace.Spans[b.index] = Span{true, b.in.Messages[0].LogTime, b.in.Messages[n-1].LogTime}
	}
	if c.bounds == nil {
		if err := c.p.emitAll(b); err != nil {
			return err
		}
		c.p.done(c.free, b)
		return c.p.taking.err
	}
	if c.k >= len(c.bounds) {
		return errors.New("the recording has grown while it was read; try again when it is complete")
	}
	bound := c.bounds[c.k]
	c.k++
	if err := c.merger.add(b); err != nil {
		return err
	}
	if err := c.merger.advance(bound); err != nil {
		return err
	}
	return c.p.taking.err
}

// end writes what is held back.
func (c *collector) end() error { return c.merger.advance(orderKey{math.MaxInt64, math.MaxInt}) }

func (p *Pipeline) emitAll(b *batch) error {
	if copied, err := p.copyBlock(b); copied || err != nil {
		return err
	}
	for i := range b.in.Messages {
		if whole, err := p.encodeLate(b, i); err != nil {
			return err
		} else if !whole {
			continue
		}
		if err := p.emit(&b.in.Messages[i], b.index, b, i); err != nil {
			return err
		}
	}
	return nil
}

// copyBlock has the sink copy a whole block as it is stored, or the visitor take it, if it can be.
func (p *Pipeline) copyBlock(b *batch) (bool, error) {
	if p.blockwise && b.deferred == nil && len(b.in.Messages) > 0 && b.index != repeatedBlock {
		return true, p.takeBlock(b)
	}
	to := b.whole
	if to == nil {
		return false, nil
	}
	b.whole = nil // asked once: from here on its messages are changed
	if p.Window != nil && !p.Window.Copied[b.index] {
		return false, nil
	}
	if p.Trace != nil {
		p.Trace.Copy = b.index
		defer func() { p.Trace.Copy = -1 }()
	}
	copied, err := to.Copier.CopyBlock(&b.in)
	for i := range b.in.Messages {
		if copied && p.Trace != nil {
			p.Trace.at.pass(p.orderTime(b.in.Messages[i].LogTime), b.index)
		}
	}
	return copied, err
}

// emit writes one message of a block to the sink: number i of b, or a message of the spill file if b is nil.
func (p *Pipeline) emit(m *storage.Message, block int, b *batch, i int) error {
	rt := &p.routes[m.Topic]
	if p.Trace != nil {
		p.Trace.message(p.orderTime(m.LogTime), block)
	}
	inside := p.Window == nil || p.Window.takes(p.orderTime(m.LogTime), block)
	if p.dedupe != nil && block != repeatedBlock {
		before, inSink, err := p.dedupe.seenBefore(m)
		switch {
		case err != nil:
			return err
		case before || inSink && p.Dedupe:
			p.counts[m.Topic].Duplicates++
			return nil
		case inSink:
			p.counts[m.Topic].Present++
		}
	}
	if !inside {
		return nil
	}
	if block != repeatedBlock && rt.thin != nil && !rt.thin.Keep(m.LogTime) {
		p.counts[m.Topic].Thinned++
		return nil
	}
	if offset := rt.to.Edit.Offset; offset != 0 {
		m.LogTime += offset // reencode has seen to it that this fits
		m.PublishTime = selection.Shift(m.PublishTime, offset)
	}
	if rt.WriteStamp != nil && !rt.WriteStamp.Set(m.Data, m.LogTime) {
		p.counts[m.Topic].Unstamped++
	}
	if rt.Seq != nil {
		binary.LittleEndian.PutUint32(m.Data[rt.SeqAt:], rt.Seq.next)
		rt.Seq.next++
	}
	if rt.HeaderSeq == mapping.SeqFromSequence {
		binary.LittleEndian.PutUint32(m.Data[rt.SeqAt:], m.Sequence)
	}
	if !rt.to.Format.Holds.PublishTime && m.PublishTime != m.LogTime {
		p.counts[m.Topic].PublishTimes++
	}
	if !rt.to.Format.Holds.Sequence && m.Sequence != 0 && rt.HeaderSeq != mapping.SeqFromSequence {
		p.counts[m.Topic].Sequences++
	}
	m.Topic = rt.Sink
	if p.Visitor != nil {
		return p.take(m, block, b, i)
	}
	if p.Trace != nil {
		p.Trace.Wrote = true
	}
	var file string
	var at int64
	if rt.to.Places != nil && b != nil && rt.Program == nil {
		file, at = b.in.PlaceOf(m.Data)
	}
	var err error
	if file != "" {
		err = rt.to.Places.WriteAt(m, file, at)
	} else {
		err = rt.to.Write(m)
	}
	if err != nil {
		p.Failed = rt.to
	}
	return err
}
