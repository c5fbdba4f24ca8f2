package convert

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/convert/selection"
	"github.com/bagconv/bagconv/storage"
)

// Before the output is made, a run knows the times of all blocks of its source:
//
//	by its index          storage.OrderBlocks
//	by its index of times, or the heads of its messages     storage.BlockTimer
//	by reading its messages                                  measure
//
// Then each block is read once, and its messages are held back only until nothing earlier
// can follow. An index may be wrong all the same, if the recording is damaged. A run that
// meets a message which cannot be put in its place ends with errIndex; what it has written
// is thrown away, and it is done once more with what reading the messages shows.

// A reading is how a run reads its source.
type reading struct {
	order      Order
	stamps     []*mapping.Stamp // times of the output, by topic; nil: log times
	limit      int64            // so many messages are wanted, or a few more; 0: all
	threads    int
	disbelieve bool // the index is wrong: find out by reading
}

// prepare decides how the source is read for the sinks: which blocks, or by a query, and
// the order in which their messages come. It reads what latched topics said before a cut.
func prepare(ctx context.Context, src *source, sinks []*sink, how reading) (err error) {
	src.stamps, src.need, src.spans = nil, nil, nil
	if how.disbelieve {
		if err := src.readTimes(ctx, how.threads); err != nil {
			return err
		}
	}
	all := union(sinks)
	cut := slices.ContainsFunc(sinks, func(s *sink) bool { return s.choice.Cut() })
	query := !how.disbelieve && how.order == OrderTime && how.stamps == nil && src.worthQuery(all, how.limit)
	if !query && (how.order == OrderTime || cut) {
		if err := src.findTimes(ctx, how.threads); err != nil {
			return err
		}
	}
	for _, s := range sinks {
		if s.state, err = latchedState(ctx, src, s.choice, s.latch, how.threads); err != nil {
			return err
		}
	}
	if query {
		if query, err = src.startQuery(ctx, all, how.limit); err != nil || query {
			return err
		}
		if err := src.findTimes(ctx, how.threads); err != nil {
			return err
		}
	}
	src.need = needed(sinks, src.blocks)
	switch {
	case how.order == OrderFile:
	case how.stamps != nil:
		src.stamps = how.stamps
		src.spans, err = src.measure(ctx, how.threads)
	case src.blockReader != nil:
		src.spans = src.blockSpans()
	}
	return err
}

// union returns a choice that has what the sinks take.
func union(sinks []*sink) *selection.Choice {
	if len(sinks) == 1 {
		return sinks[0].choice
	}
	all := &selection.Choice{First: math.MaxInt64, Last: math.MinInt64, Topics: make([]bool, len(sinks[0].choice.Topics))}
	for _, s := range sinks {
		all.First, all.Last = min(all.First, s.choice.First), max(all.Last, s.choice.Last)
		for i, taken := range s.choice.Topics {
			all.Topics[i] = all.Topics[i] || taken
		}
	}
	return all
}

// needed reports which of the blocks can hold messages for one of the sinks; nil: all.
func needed(sinks []*sink, blocks []storage.Block) (need []bool) {
	for _, s := range sinks {
		takes := s.choice.Blocks(blocks)
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

// findTimes finds the times of the blocks, as cheaply as the format can.
func (s *source) findTimes(ctx context.Context, threads int) error {
	if s.order == storage.OrderBlocks && s.soundTimes() {
		return nil
	}
	if times := storage.ReaderCapabilities(s.reader).Times; times != nil {
		blocks, err := times.BlockTimes(ctx)
		if err == nil {
			s.blocks, s.order = blocks, storage.OrderBlocks
		}
		if err == nil && s.soundTimes() {
			return nil
		}
		if err != nil && !errors.Is(err, storage.ErrUnsupported) {
			return err
		}
	}
	return s.readTimes(ctx, threads)
}

// soundTimes reports whether no block ends before it starts.
func (s *source) soundTimes() bool {
	for i := range s.blocks {
		if b := &s.blocks[i]; b.Timed && b.Start > b.End {
			return false
		}
	}
	return true
}

// readTimes reads the messages for the times of their blocks.
func (s *source) readTimes(ctx context.Context, threads int) error {
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
		s.spans = spans
	}
	s.order = storage.OrderBlocks
	return nil
}

// blockSpans returns the times of the blocks as spans.
func (s *source) blockSpans() []span {
	spans := make([]span, len(s.blocks))
	for i := range s.blocks {
		b := &s.blocks[i]
		if spans[i] = (span{math.MaxInt64, math.MinInt64, 0}); b.Timed {
			spans[i] = span{b.Start, b.End, int(b.Messages)}
		}
	}
	return spans
}

// measure reads the source once for the times of its messages: of the blocks that are
// needed, and by their stamps if there are any.
func (s *source) measure(ctx context.Context, threads int) ([]span, error) {
	if err := s.rewind(); err != nil {
		return nil, err
	}
	res, err := scan(ctx, s, workers(threads, s.memory), newMeter(s, nil))
	if err != nil {
		return nil, err
	}
	return res.spans, s.rewind()
}
