package engine

import (
	"context"
	"io"

	"github.com/bagconv/bagconv/internal/ordered"
	"github.com/bagconv/bagconv/storage"
)

// A BlockWorker looks at the blocks of a recording, see EachBlock.
type BlockWorker interface {
	// Work looks at a block, at the same time as other workers at others.
	Work(b *storage.Batch) error

	// InOrder looks at the same block again, after Work. All workers' calls
	// are one at a time and in the order of the file.
	InOrder(at storage.Block, b *storage.Batch) error
}

// EachBlock reads the whole of r, on several cores if the format allows it,
// for analyses that do their work on many cores and draw their conclusions in
// the order of the file. threads 0 is one per core, 12 at most; worker is called once for
// each. It must be called before anything else is read from r; damage is in
// r.Damage() afterwards. Batches are used again: nothing of them may be
// kept. Blocks of a format that has none are runs of messages with Offset -1.
//
// The error is that of the first block that has one, the same in every run.
func EachBlock(ctx context.Context, r storage.Reader, threads int, progress func(Progress), worker func() BlockWorker) error {
	s, err := sourceOf(r)
	if err != nil {
		return err
	}
	meter := newMeter(s, progress)
	defer meter.stop()
	if s.blockReader == nil {
		return s.eachSequential(ctx, meter, worker())
	}
	threads = workers(threads, s.memory)
	team := make([]BlockWorker, threads)
	for i := range team {
		team[i] = worker()
	}
	seq := make([]int, len(s.blocks))
	for i := range seq {
		seq[i] = i
	}
	return s.parallel(ctx, seq, threads, func(w, _ int, b *storage.Batch) error {
		if err := s.checkTopics(b); err != nil {
			return err
		}
		return team[w].Work(b)
	}, func(w, i int, b *storage.Batch) error {
		if err := team[w].InOrder(s.blocks[i], b); err != nil {
			return err
		}
		meter.read(s.blocks[i].Size, len(b.Messages))
		return nil
	})
}

func (s *Source) eachSequential(ctx context.Context, meter *meter, w BlockWorker) error {
	var b storage.Batch
	for ctx.Err() == nil {
		err := s.sequential(&b)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = s.checkTopics(&b)
		}
		if err == nil {
			err = w.Work(&b)
		}
		if err == nil {
			err = w.InOrder(storage.Block{Offset: -1, Size: int64(len(b.Buf))}, &b)
		}
		if err != nil {
			return err
		}
		meter.read(int64(len(b.Buf)), len(b.Messages))
	}
	return ctx.Err()
}

func (s *Source) checkTopics(b *storage.Batch) error {
	for i := range b.Messages {
		if err := checkTopic(&b.Messages[i], len(s.Info.Topics)); err != nil {
			return err
		}
	}
	return nil
}

// sourceOf makes a source of an open reader, to be read once.
func sourceOf(r storage.Reader) (*Source, error) {
	s := &Source{Reader: r}
	return s, s.look()
}

// parallel reads the blocks in seq on a number of workers, as many at once as fit into
// memory. It calls work with each and its place in seq, at the same time for different ones,
// and then inOrder in the order of seq; nil: nothing. The error is that of the first block in
// the order of seq that has one. Of b nothing may be kept.
func (s *Source) parallel(ctx context.Context, seq []int, threads int, work, inOrder func(worker, k int, b *storage.Batch) error) error {
	spares, next := new(spares), 0
	batches := make([]storage.Batch, threads) // by worker; their buffers are spares'
	release := func(w int) {
		spares.put(buffers{batches[w].Buf, batches[w].Scratch})
		batches[w].Buf, batches[w].Scratch = nil, nil
	}
	line := ordered.Line[int]{
		Workers: threads, Limit: budgetOf(s.memory).blocks,
		Next: func() (k int, bytes int64, ok bool) {
			if next == len(seq) {
				return 0, 0, false
			}
			next++
			return next - 1, rawMemory * s.blocks[seq[next-1]].RawSize, true
		},
		Work: func(w, k int) error {
			b, own := &batches[w], spares.take()
			b.Buf, b.Scratch = own.buf, own.scratch
			err := s.blockReader.ReadBlock(ctx, seq[k], b)
			if err == nil {
				err = work(w, k, b)
			}
			if inOrder == nil {
				release(w)
			}
			return err
		},
	}
	if inOrder != nil {
		line.Finish = func(w, k int) error {
			defer release(w)
			return inOrder(w, k, &batches[w])
		}
	}
	return line.Run(ctx)
}

// rawMemory is how many times its raw size a block takes: as it is in the file, and
// unpacked.
const rawMemory = 2
