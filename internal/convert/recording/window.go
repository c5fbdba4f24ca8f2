package recording

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/storage"
)

// A part of the stream of messages that a run delivers can be delivered again without the rest.
// The run that knows the parts has a Trace, which marks places in the stream; a run with a Window
// between two marks reads only the blocks that have messages there, and begins with the state that
// the first run had at that place.

// A Mark is a place between two messages of the stream of a run. The zero Mark is its start. It
// holds all state of the run that the messages after it depend on.
type Mark struct {
	Set   bool  // the fields below have a meaning
	Time  int64 // of the message before, as the run orders it; 0 with OrderFile
	Block int   // its block, -1 for what is repeated at a cut
	N     int64 // how many messages of that time and block are before the mark
	Seqs  []uint32
	Thins []selection.ThinState
}

// before reports whether a place comes before the mark, or is the mark.
func (m *Mark) before(time int64, block int, n int64) bool {
	switch {
	case time != m.Time:
		return time < m.Time
	case block != m.Block:
		return block < m.Block
	}
	return n <= m.N
}

// A Trace follows the stream of a run.
type Trace struct {
	Spans []Span // of all blocks; complete when the run has ended
	Wrote bool   // a message was passed to the sink, since this was set to false
	Copy  int    // the block that the sink is asked to copy as it is stored; -1: no block

	// Next, if set, is called before the next message is delivered, once, with the place there.
	Next func(Mark)

	p  *Pipeline
	at Mark // without state
}

// begin forgets what a run before has found.
func (t *Trace) begin(p *Pipeline) error {
	if p.Source.blockReader == nil {
		return fmt.Errorf("it can only be read from its start to its end: %w", storage.ErrUnsupported)
	}
	*t = Trace{p: p, Copy: -1, Next: t.Next, Spans: make([]Span, len(p.Source.blocks))}
	return nil
}

// A Span is the times of the messages of a block that a run delivers, as the run orders them.
type Span struct {
	Some        bool
	First, Last int64
}

// Mark returns the place after the messages that were delivered so far, with the state there.
func (t *Trace) Mark() Mark {
	m := t.at
	for _, c := range t.p.counters() {
		m.Seqs = append(m.Seqs, c.next)
	}
	for _, thin := range t.p.thins() {
		m.Thins = append(m.Thins, thin.State())
	}
	return m
}

// message moves on by a message, before the message is delivered.
func (t *Trace) message(time int64, block int) {
	if next := t.Next; next != nil {
		t.Next = nil
		next(t.Mark())
	}
	t.at.pass(time, block)
}

// pass moves on by a message.
func (m *Mark) pass(time int64, block int) {
	if !m.Set || m.Time != time || m.Block != block {
		m.Set, m.Time, m.Block, m.N = true, time, block, 0
	}
	m.N++
}

func (p *Pipeline) orderTime(time int64) int64 {
	if p.Order == OrderTime {
		return time
	}
	return 0
}

// A Window is the part of a stream that a run delivers.
type Window struct {
	Spans  []Span // of the Trace
	From   Mark
	To     *Mark        // nil: the end
	Copied map[int]bool // blocks that the sinks of the traced run have copied as they were stored

	at Mark
}

// touches reports whether a block has messages in the window.
func (w *Window) touches(block int, timed bool) bool {
	s := w.Spans[block]
	switch {
	case !s.Some:
		return false
	case timed:
		return (!w.From.Set || s.Last >= w.From.Time) && (w.To == nil || s.First <= w.To.Time)
	}
	return (!w.From.Set || block >= w.From.Block) && (w.To == nil || block <= w.To.Block)
}

// Longer returns a test: can the window end at a later place, nil for the end, without reading another block?
func (w *Window) Longer(order Order) func(to *Mark) bool {
	timed := order == OrderTime
	place := func(m *Mark) int64 {
		switch {
		case m == nil:
			return math.MaxInt64
		case timed:
			return m.Time
		}
		return int64(m.Block)
	}
	end := place(w.To)
	next, some := int64(0), false // where a block begins that is not needed
	for i, s := range w.Spans {
		at := int64(i)
		if timed {
			at = s.First
		}
		if s.Some && at > end && (!some || at < next) {
			next, some = at, true
		}
	}
	return func(to *Mark) bool { return !some || place(to) < next }
}

// takes moves on by a message, and reports whether the message is in the window.
func (w *Window) takes(time int64, block int) bool {
	w.at.pass(time, block)
	return (!w.From.Set || !w.From.before(time, block, w.at.N)) && (w.To == nil || w.To.before(time, block, w.at.N))
}

// begin sets the state of a run to the state at the window's start.
func (w *Window) begin(p *Pipeline) error {
	w.at = Mark{}
	if !w.From.Set {
		for _, c := range p.counters() {
			c.next = 0
		}
		return nil
	}
	counters, thins := p.counters(), p.thins()
	if len(counters) != len(w.From.Seqs) || len(thins) != len(w.From.Thins) {
		return errors.New("internal error: a mark of another run")
	}
	for i, c := range counters {
		c.next = w.From.Seqs[i]
	}
	for i, t := range thins {
		t.SetState(w.From.Thins[i])
	}
	for _, s := range p.Sinks {
		if s.PartWriter == nil {
			return fmt.Errorf("%s: outputs cannot be made in parts: %w", s.Format.Name, storage.ErrUnsupported)
		}
		s.PartWriter.SkipPreamble()
	}
	return nil
}

// counters returns the counters of the routes, each once, in an order that is the same in any run.
func (p *Pipeline) counters() (list []*Counter) {
	for i := range p.routes {
		if c := p.routes[i].Seq; c != nil && !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	return list
}

func (p *Pipeline) thins() (list []*selection.Thin) {
	for i := range p.routes {
		if t := p.routes[i].thin; t != nil && !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	return list
}

// prepareWindow takes what a trace has found in place of what the recording's index has.
func (p *Pipeline) prepareWindow(ctx context.Context) (err error) {
	src, w := p.Source, p.Window
	if src.blockReader == nil || len(w.Spans) != len(src.blocks) {
		return ErrChanged
	}
	for _, s := range p.Sinks {
		if s.state = nil; !s.Choice.Cut() || !w.repeats() {
			continue
		}
		if err := src.findTimes(ctx, p.Threads, math.MinInt64, math.MaxInt64); err != nil {
			return err
		}
		if s.state, err = latchedState(ctx, src, s.Choice, &s.Edit.Latch, p.Threads); err != nil {
			return err
		}
	}
	src.stamps = p.Stamps
	src.need = make([]bool, len(src.blocks))
	for i := range src.need {
		src.need[i] = w.touches(i, p.Order == OrderTime)
	}
	if p.Order == OrderTime {
		src.spans = make([]blockTimes, len(w.Spans))
		for i, s := range w.Spans {
			if src.spans[i] = (blockTimes{math.MaxInt64, math.MinInt64, 0}); s.Some {
				src.spans[i] = blockTimes{s.First, s.Last, 1}
			}
		}
	}
	return nil
}

// repeats reports whether messages that are repeated at a cut may be in the window.
func (w *Window) repeats() bool { return !w.From.Set || w.From.Block == repeatedBlock }

// ErrChanged is the error of a window of a recording that is not what it was.
var ErrChanged = errors.New("the recording has changed since it was looked at first")
