package convert

import (
	"context"
	"errors"
	"io"
	"math"
	"sync"
	"sync/atomic"

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

// EachBlock reads the whole of r, on several cores where the format allows it,
// for analyses that do their work on many cores and draw their conclusions in
// the order of the file. threads 0 is one per core, 12 at most; worker is called once for
// each. It must be called before anything else is read from r; damage is in
// r.Info().Warnings afterwards. Batches are used again: nothing of them may be
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
	line := newQueue()
	seq := make([]int, len(s.blocks))
	for i := range seq {
		seq[i] = i
	}
	return s.parallel(ctx, seq, threads, func(w, i int, b *storage.Batch, err error) error {
		if err == nil {
			err = s.checkTopics(b)
		}
		if err == nil {
			err = team[w].Work(b)
		}
		if err == nil {
			if !line.wait(i) {
				return errStopped
			}
			err = team[w].InOrder(s.blocks[i], b)
		}
		if err != nil {
			line.stop(i)
			return err
		}
		line.next()
		meter.read(s.blocks[i].Size, len(b.Messages))
		return nil
	})
}

func (s *source) eachSequential(ctx context.Context, meter *meter, w BlockWorker) error {
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

func (s *source) checkTopics(b *storage.Batch) error {
	for i := range b.Messages {
		if err := checkTopic(&b.Messages[i], len(s.info.Topics)); err != nil {
			return err
		}
	}
	return nil
}

// sourceOf makes a source of an open reader, to be read once.
func sourceOf(r storage.Reader) (*source, error) {
	s := &source{reader: r}
	return s, s.look()
}

// parallel reads the blocks in seq on a number of workers, and calls f with each and its
// place in seq, also with one that could not be read, and why. As many are read at
// once as fit into memory. After an error of f no further one is begun. It returns
// that of the first block in the order of seq that has one. Of b nothing may be kept.
func (s *source) parallel(ctx context.Context, seq []int, threads int, f func(worker, k int, b *storage.Batch, err error) error) error {
	gate, spares := newGate(budgetOf(s.memory).blocks), new(spares)
	errs := make([]error, threads)
	first := make([]int, threads) // whose error it is
	var mu sync.Mutex             // whoever has it begins the next block
	next := 0
	begin := func() (k int, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		if next == len(seq) {
			return 0, false
		}
		next++
		return next - 1, gate.enter(ctx, rawMemory*s.blocks[seq[next-1]].RawSize) == nil
	}
	var failed atomic.Bool
	var wg sync.WaitGroup
	for w := range threads {
		wg.Go(func() {
			var messages []storage.Message
			for !failed.Load() && ctx.Err() == nil {
				k, ok := begin()
				if !ok {
					return
				}
				block := &s.blocks[seq[k]]
				own := spares.take()
				b := storage.Batch{Messages: messages, Buf: own.buf, Scratch: own.scratch}
				err := f(w, k, &b, s.blockReader.ReadBlock(ctx, seq[k], &b))
				spares.put(buffers{b.Buf, b.Scratch})
				messages = b.Messages
				gate.leave(rawMemory * block.RawSize)
				if err != nil {
					errs[w], first[w] = err, k
					failed.Store(true)
					return
				}
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	least, err := len(seq), error(nil)
	for w, e := range errs {
		if e != nil && first[w] < least {
			least, err = first[w], e
		}
	}
	return err
}

// rawMemory is how many times its raw size a block takes: as it is in the file, and
// unpacked.
const rawMemory = 2

// errStopped is the error of a block that has not been looked at because one
// before it failed.
var errStopped = errors.New("stopped by a failure before")

// A queue lets numbers through in their order.
type queue struct {
	mu      sync.Mutex
	changed *sync.Cond
	turn    int
	stopped int // numbers above it never have their turn
}

func newQueue() *queue {
	q := &queue{stopped: math.MaxInt}
	q.changed = sync.NewCond(&q.mu)
	return q
}

// wait returns when it is i's turn, with false when it will never be.
func (q *queue) wait(i int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.turn != i && i < q.stopped {
		q.changed.Wait()
	}
	return q.turn == i
}

func (q *queue) next() {
	q.mu.Lock()
	q.turn++
	q.mu.Unlock()
	q.changed.Broadcast()
}

// stop says that number i has failed.
func (q *queue) stop(i int) {
	q.mu.Lock()
	q.stopped = min(q.stopped, i)
	q.mu.Unlock()
	q.changed.Broadcast()
}
