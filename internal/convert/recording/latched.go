package recording

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/storage"
)

// repeatedBlock is the block number of messages that are repeated at a cut:
// they come before all others of their time, and are not thinned out.
const repeatedBlock = -1

// latchedState reads what latched topics sent before a cut. By the times of the
// blocks it begins with the recording's first block, where latched messages are
// and for all, and goes back from the cut until nothing earlier can matter. Blocks that
// have no such topic by the index are skipped.
// Without times it asks the recording's index; without blocks it reads from the start until
// the topics have had as many messages as were counted. nil when there is nothing to repeat.
func latchedState(ctx context.Context, src *Source, choice *selection.Choice, latch *selection.Latch,
	threads int) ([]storage.Message, error) {
	if src.Info.Messages > 0 && choice.First <= src.Info.Start {
		return nil, nil // there is nothing before
	}
	state := selection.NewState(src.Info, choice, latch)
	if state == nil {
		return nil, nil
	}
	if src.blockReader == nil {
		return sequentialState(ctx, src, state)
	}
	if src.order != storage.OrderBlocks {
		msgs, err := queriedState(ctx, src, state, choice.First)
		if !errors.Is(err, storage.ErrUnsupported) {
			return msgs, err
		}
		if err := src.findTimes(ctx, threads, math.MinInt64, choice.Last); err != nil {
			return nil, err
		}
		state = selection.NewState(src.Info, choice, latch)
	}
	seq, ends := src.before(choice.First)
	if len(seq) > 1 {
		rest := seq[1:]
		slices.SortStableFunc(rest, func(a, b int) int { return cmp.Compare(ends[b], ends[a]) })
	}
	latched := selection.Choice{First: math.MinInt64, Last: math.MaxInt64, Topics: make([]bool, len(src.Info.Topics))}
	for _, id := range state.Topics() {
		latched.Topics[id] = true
	}
	need := latched.Blocks(src.blocks)
	var b storage.Batch
	for k, i := range seq {
		if need != nil && !need[i] {
			continue
		}
		end := int64(math.MaxInt64)
		if k > 0 {
			end = ends[i]
		}
		if state.Complete(end) {
			break
		}
		if err := errors.Join(ctx.Err(), src.blockReader.ReadBlock(ctx, i, &b)); err != nil {
			return nil, err
		}
		if err := src.checkIndex(i, b.Messages); err != nil {
			return nil, err
		}
		if err := addAll(state, &b, i, len(src.Info.Topics)); err != nil {
			return nil, err
		}
	}
	return state.Messages(), nil
}

// queriedState goes back from the cut by the index of a recording whose blocks have
// no times.
func queriedState(ctx context.Context, src *Source, state *selection.State, cut int64) ([]storage.Message, error) {
	q := storage.ReaderCapabilities(src.Reader).Query // prepare has seen it
	back := storage.Query{Topics: state.Topics(), Start: math.MinInt64, End: cut - 1, Reverse: true}
	n := 0
	for m, err := range q.Query(ctx, back) {
		if err != nil {
			return nil, err
		}
		state.Add(m, -n, 0) // the later comes first
		if n++; state.Complete(m.LogTime - 1) {
			break
		}
	}
	return state.Messages(), nil
}

func sequentialState(ctx context.Context, src *Source, state *selection.State) ([]storage.Message, error) {
	var b storage.Batch
	for i := 0; !state.Complete(math.MaxInt64); i++ {
		err := errors.Join(ctx.Err(), src.sequential(&b))
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = addAll(state, &b, i, len(src.Info.Topics))
		}
		if err != nil {
			return nil, err
		}
	}
	return state.Messages(), src.rewind(ctx)
}

func addAll(state *selection.State, b *storage.Batch, block, topics int) error {
	for k := range b.Messages {
		if err := checkTopic(&b.Messages[k], topics); err != nil {
			return err
		}
		state.Add(&b.Messages[k], block, k)
	}
	return nil
}

// before lists the blocks that may hold messages before a time, in the order of
// the file, and the latest time that each can have.
func (s *Source) before(t int64) (seq []int, ends []int64) {
	ends = make([]int64, len(s.blocks))
	for i, b := range s.blocks {
		if ends[i] = math.MaxInt64; b.Timed {
			ends[i] = b.End
		}
		if (!b.Timed || b.Start < t) && b.Messages != 0 {
			seq = append(seq, i)
		}
	}
	return seq, ends
}
