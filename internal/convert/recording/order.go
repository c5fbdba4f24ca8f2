package recording

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/storage"
)

// Order is the order in which a run delivers messages.
type Order uint8

const (
	OrderTime Order = iota // by log time; equal times in the order of the file
	OrderFile              // as in the source file
)

// Before the output is made, a run knows the times of all blocks of its source:
//
//	by its index                                          storage.OrderBlocks
//	by its index of times, or the heads of its messages   storage.TimeRange
//	by reading its messages                               measure
//
// Then each block is read once, and its messages are held back only until nothing earlier
// can follow. See Retry for an index that is wrong.

// Prepare decides how the source is read for the sinks: which blocks, or by a query, and
// the order in which their messages come. It reads what latched topics sent before a cut.
// Call it within Retry, like Run.
func (p *Pipeline) Prepare(ctx context.Context) error { return p.Source.blame(p.prepare(ctx)) }

func (p *Pipeline) prepare(ctx context.Context) (err error) {
	src := p.Source
	if err := src.list(ctx); err != nil {
		return err
	}
	p.workers, p.budget = workers(p.Threads, src.ref.Memory), budgetOf(src.ref.Memory)
	src.stamps, src.need, src.spans = nil, nil, nil
	p.Share = 1
	for _, s := range p.Sinks {
		s.Share = 1
	}
	if err := src.rewind(ctx); err != nil {
		return err
	}
	if p.Window != nil {
		return p.prepareWindow(ctx)
	}
	if src.indexWrong && !src.measured {
		if err := src.readTimes(ctx, p.Threads); err != nil {
			return err
		}
	}
	all := union(p.Sinks)
	cut := slices.ContainsFunc(p.Sinks, func(s *Sink) bool { return s.Choice.Cut() })
	query := p.Trace == nil && !src.indexWrong && p.Order == OrderTime && p.Stamps == nil && src.worthQuery(all, p.Limit)
	if !query && (p.Order == OrderTime || cut) {
		if err := src.findTimes(ctx, p.Threads, all.First, all.Last); err != nil {
			return err
		}
	}
	for _, s := range p.Sinks {
		if s.state, err = latchedState(ctx, src, s.Choice, &s.Edit.Latch, p.Threads); err != nil {
			return err
		}
	}
	if query {
		if query, err = src.startQuery(ctx, all, p.Limit); err != nil || query {
			return err
		}
		if err := src.findTimes(ctx, p.Threads, all.First, all.Last); err != nil {
			return err
		}
	}
	if src.need = needed(p.Sinks, src.blocks); p.Sample > 0 {
		src.need = p.sample(src)
	}
	switch {
	case p.Order == OrderFile:
	case p.Stamps != nil:
		src.stamps = p.Stamps
		src.spans, err = src.measure(ctx, p.Threads)
	case src.blockReader != nil:
		src.spans = src.blockSpans()
	default:
		src.spans = src.runs
	}
	return err
}

// union returns a choice of everything that the sinks select.
func union(sinks []*Sink) *selection.Choice {
	if len(sinks) == 1 {
		return sinks[0].Choice
	}
	all := &selection.Choice{First: math.MaxInt64, Last: math.MinInt64, Topics: make([]bool, len(sinks[0].Choice.Topics))}
	for _, s := range sinks {
		all.First, all.Last = min(all.First, s.Choice.First), max(all.Last, s.Choice.Last)
		for i, taken := range s.Choice.Topics {
			all.Topics[i] = all.Topics[i] || taken
		}
	}
	return all
}

// needed reports which of the blocks can hold messages for one of the sinks; nil: all.
func needed(sinks []*Sink, blocks []storage.Block) (need []bool) {
	for _, s := range sinks {
		takes := s.Choice.Blocks(blocks)
		if takes == nil {
			return nil
		}
		if need == nil {
			need = takes
			continue
		}
		for i := range need {
			need[i] = need[i] || takes[i]
		}
	}
	if !slices.Contains(need, false) {
		return nil
	}
	return need
}

// findTimes finds the times of the blocks that may have messages from first to last, as cheaply as
// the format can; the times of other blocks are bounds.
func (s *Source) findTimes(ctx context.Context, threads int, first, last int64) error {
	err := s.indexTimes(ctx, first, last)
	if errors.Is(err, storage.ErrUnsupported) {
		return s.readTimes(ctx, threads)
	}
	return err
}

// TimedBlocks returns the blocks of the recording, with their times by an index. The error wraps storage.ErrUnsupported
// if no index has them. The list is not to be changed.
func (s *Source) TimedBlocks(ctx context.Context) ([]storage.Block, error) {
	if err := s.list(ctx); err != nil {
		return nil, err
	}
	return s.blocks, s.indexTimes(ctx, math.MinInt64, math.MaxInt64)
}

// indexTimes is findTimes without reading messages: then it may be storage.ErrUnsupported.
func (s *Source) indexTimes(ctx context.Context, first, last int64) error {
	if s.order != storage.OrderBlocks || !s.soundTimes() {
		if s.blockReader == nil {
			return storage.ErrUnsupported
		}
		blocks, order, err := s.blockReader.Blocks(ctx, &storage.TimeRange{First: first, Last: last})
		if err != nil {
			return err
		}
		if order != storage.OrderBlocks {
			return storage.ErrUnsupported
		}
		s.blocks, s.order = blocks, order
	}
	if !s.soundTimes() {
		return storage.ErrUnsupported
	}
	return nil
}

// soundTimes reports whether no block ends before it starts.
func (s *Source) soundTimes() bool {
	for i := range s.blocks {
		if b := &s.blocks[i]; b.Timed && b.Start > b.End {
			return false
		}
	}
	return true
}

// readTimes reads the messages for the times of their blocks.
func (s *Source) readTimes(ctx context.Context, threads int) error {
	s.stamps, s.need = nil, nil
	spans, err := s.measure(ctx, threads)
	if err != nil {
		return err
	}
	for i := range s.blocks {
		b := &s.blocks[i]
		b.Start, b.End, b.Messages, b.Topics = spans[i].start, spans[i].end, int64(spans[i].messages), nil
		b.Timed = b.Messages > 0
	}
	if s.blockReader == nil {
		s.runs = spans
	}
	s.order, s.measured = storage.OrderBlocks, true
	return nil
}

// blockSpans returns the times of the blocks as spans.
func (s *Source) blockSpans() []blockTimes {
	spans := make([]blockTimes, len(s.blocks))
	for i := range s.blocks {
		b := &s.blocks[i]
		if spans[i] = (blockTimes{math.MaxInt64, math.MinInt64, 0}); b.Timed {
			spans[i] = blockTimes{b.Start, b.End, int(b.Messages)}
		}
	}
	return spans
}
