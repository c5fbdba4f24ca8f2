package recording

import (
	"context"
	"io"
	"math"

	"github.com/bagconv/bagconv/internal/ordered"
	"github.com/bagconv/bagconv/storage"
)

// measure reads the source once for the times of its messages: of the blocks that are
// needed, and by their stamps if there are any.
func (s *Source) measure(ctx context.Context, threads int) (spans []blockTimes, err error) {
	if err := s.rewind(ctx); err != nil {
		return nil, err
	}
	if s.blockReader == nil {
		spans, err = s.measureRuns(ctx)
	} else {
		spans, err = s.measureBlocks(ctx, workers(threads, s.ref.Memory))
	}
	if err != nil {
		return nil, err
	}
	return spans, s.rewind(ctx)
}

// measureRuns measures a source without blocks.
func (s *Source) measureRuns(ctx context.Context) (spans []blockTimes, err error) {
	var b storage.Batch
	for ctx.Err() == nil {
		if err := s.sequential(&b); err == io.EOF {
			return spans, nil
		} else if err != nil {
			return nil, err
		}
		sp, err := s.spanOf(b.Messages)
		if err != nil {
			return nil, err
		}
		spans = append(spans, sp)
	}
	return nil, ctx.Err()
}

// measureBlocks measures the blocks that are needed, as many at once as fit into memory.
func (s *Source) measureBlocks(ctx context.Context, threads int) ([]blockTimes, error) {
	spans := make([]blockTimes, len(s.blocks))
	batches, spares, next := make([]storage.Batch, threads), new(spares), 0
	err := ordered.Line[int]{
		Workers: threads, Limit: budgetOf(s.ref.Memory).blocks,
		Next: func() (i int, bytes int64, ok bool) {
			for ; next < len(spans) && s.need != nil && !s.need[next]; next++ {
				spans[next] = blockTimes{start: math.MaxInt64, end: math.MinInt64}
			}
			if next == len(spans) {
				return 0, 0, false
			}
			next++
			return next - 1, rawMemory * s.blocks[next-1].RawSize, true
		},
		Work: func(w, i int) (err error) {
			b, own := &batches[w], spares.take() // whoever works next has their memory
			b.Buf, b.Scratch = own.buf, own.scratch
			if err = s.blockReader.ReadBlock(ctx, i, b); err == nil {
				spans[i], err = s.spanOf(b.Messages)
			}
			spares.put(buffers{b.Buf, b.Scratch})
			b.Buf, b.Scratch = nil, nil
			return err
		},
	}.Run(ctx)
	return spans, err
}

// rawMemory is how many times its raw size a block takes: as it is in the file, and
// unpacked.
const rawMemory = 2

// spanOf returns the times of messages, by their stamps if there are any.
func (s *Source) spanOf(msgs []storage.Message) (blockTimes, error) {
	s.restamp(msgs)
	sp := blockTimes{start: math.MaxInt64, end: math.MinInt64, messages: len(msgs)}
	for i := range msgs {
		if err := checkTopic(&msgs[i], len(s.Info.Topics)); err != nil {
			return sp, err
		}
		sp.start, sp.end = min(sp.start, msgs[i].LogTime), max(sp.end, msgs[i].LogTime)
	}
	return sp, nil
}
