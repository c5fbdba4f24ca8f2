package engine

import (
	"context"

	"github.com/bagconv/bagconv/internal/ordered"
	"github.com/bagconv/bagconv/storage"
)

// SourceOf makes a source of an open reader of which nothing was read, to be read once.
func SourceOf(r storage.Reader) (*Source, error) {
	s := &Source{Reader: r, files: &sourceFiles{}}
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
