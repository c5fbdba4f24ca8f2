package convert

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/storage"
)

// startsByBlocks finds the times at which another part begins, so that each part reads blocks of
// about size bytes. Times are from the index; blocks that overlap are read for both parts.
func startsByBlocks(ctx context.Context, job *Job, size, first, last int64) (starts []int64, err error) {
	blocks, err := timedBlocks(ctx, job)
	if errors.Is(err, storage.ErrUnsupported) {
		return startsBySize(ctx, job, size)
	}
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(blocks, func(a, b storage.Block) int { return cmp.Compare(a.Start, b.Start) })
	part, from := int64(0), first
	for _, b := range blocks {
		if b.End < first || b.Start > last {
			continue
		}
		if part > 0 && part+b.Size > size && b.Start > from {
			if starts = append(starts, b.Start); len(starts) >= maxParts {
				return nil, ErrParts
			}
			part, from = 0, b.Start
		}
		part += b.Size
	}
	return starts, nil
}

// timedBlocks returns the blocks of the source that have messages, with their times. The size of
// one includes the blocks after it that have no messages: the rest of its last message, in a
// record. The error wraps storage.ErrUnsupported if no index has times.
func timedBlocks(ctx context.Context, job *Job) (blocks []storage.Block, err error) {
	src, err := recording.Open(ctx, job.Ref())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	all, err := src.TimedBlocks(ctx)
	for _, b := range all {
		if b.Timed {
			blocks = append(blocks, b)
		} else if len(blocks) > 0 {
			blocks[len(blocks)-1].Size += b.Size
		}
	}
	return blocks, err
}

// CountBefore counts, for each of the windows that Windows has returned, the messages that the job takes before it. As
// Job.Before of a run that writes that window alone they make Header.seq go on. It is nil if no counter is written.
// The index counts the messages, so messages that damage makes unreadable count, too. Without an index all messages
// are read once.
func CountBefore(ctx context.Context, job *Job, windows []selection.Window) ([][]int64, error) {
	if to, err := job.encoding(); err != nil || to != "ros1" || job.HeaderSeq == SeqZero {
		return nil, err
	}
	var counts [][]int64
	seq := false
	query := recording.Query{Select: job.Select, Threads: job.Threads}
	query.Edit.Latch = selection.NoLatch
	at := 0
	plan := func(info *storage.Info, _ []bool) ([]recording.Topic, error) {
		at, counts = 0, [][]int64{make([]int64, len(info.Topics))}
		for i := range info.Topics {
			seq = seq || info.Topics[i].Encoding != "ros1"
		}
		if !seq {
			return nil, errNoSeq
		}
		return make([]recording.Topic, len(info.Topics)), nil
	}
	write := func(m *storage.Message) error {
		for at+1 < len(windows) && m.LogTime >= windows[at+1].First {
			at++
			counts = append(counts, slices.Clone(counts[at-1]))
		}
		counts[at][m.Topic]++
		return nil
	}
	count := recording.Each{Topics: plan, Write: write}
	picked := query
	picked.Pick = &recording.Pick{NoData: true}
	_, err := recording.Read(ctx, job.Ref(), picked, count)
	if storage.IsDamage(err) { // there is no such index, or a wrong one
		_, err = recording.Read(ctx, job.Ref(), query, count)
	}
	if err != nil && !errors.Is(err, errNoSeq) {
		return nil, err
	}
	if !seq {
		return nil, nil
	}
	before := [][]int64{make([]int64, len(counts[0]))}
	for len(before) < len(windows) {
		before = append(before, counts[min(len(before), len(counts))-1])
	}
	return before, nil
}

var errNoSeq = errors.New("nothing is counted")
