package convert

import (
	"context"
	"errors"
	"math"

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
	latch      *selection.Latch // of which topics the state before a cut is repeated
	limit      int64            // so many messages are wanted, or a few more; 0: all
	threads    int
	disbelieve bool // the index is wrong: find out by reading
}

// prepare decides how the source is read for what a job takes of it: which blocks, or by a
// query, and the order in which their messages come.
func (t *taken) prepare(ctx context.Context, src *source, how reading) (err error) {
	src.stamps, src.need, src.spans = nil, nil, nil
	if how.disbelieve {
		if err := src.readTimes(ctx, how.threads); err != nil {
			return err
		}
	}
	query := !how.disbelieve && how.order == OrderTime && how.stamps == nil && src.worthQuery(t.Choice, how.limit)
	if !query && (how.order == OrderTime || t.Cut()) {
		if err := src.findTimes(ctx, how.threads); err != nil {
			return err
		}
	}
	if t.state, err = latchedState(ctx, src, t.Choice, how.latch, how.threads); err != nil {
		return err
	}
	if query {
		if query, err = src.startQuery(ctx, t.Choice, how.limit); err != nil || query {
			return err
		}
		if err := src.findTimes(ctx, how.threads); err != nil {
			return err
		}
	}
	src.need = t.Blocks(src.blocks)
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
