package recording

import (
	"sync"

	"github.com/bagconv/bagconv/internal/ordered"
	"github.com/bagconv/bagconv/storage"
)

// DefaultMemory is what a run may use if nothing else is asked for, in bytes.
const DefaultMemory = 256 << 20

// A budget is how a conversion's memory is shared out. Each part may always hold
// one block, however large that is: a recording with a message of 1 GB is
// converted with more memory, not refused.
type budget struct {
	blocks   int64 // on their way to the collector
	ordering int64 // held back for their order before they move to a file
	writer   int64 // of the writer's own
	reader   int64 // of the reader's own
}

func budgetOf(total int64) budget {
	if total <= 0 {
		total = DefaultMemory
	}
	return budget{blocks: total / 4, ordering: total / 5, writer: total / 4, reader: total / 4}
}

// MaxThreads is the largest number of workers, whatever Threads is.
const MaxThreads = ordered.MaxWorkers

// workers returns how many workers a run has; memory 0 is DefaultMemory.
func workers(threads int, memory int64) int {
	if memory <= 0 {
		memory = DefaultMemory
	}
	return ordered.Workers(threads, memory)
}

// WriterMemory is for the writer of one of the sinks, in bytes.
func (p *Pipeline) WriterMemory() int64 { return p.budget.writer / int64(len(p.Sinks)) }

// buffers are what a block is read into.
type buffers struct{ buf, scratch []byte }

// lend lends a batch the buffers that are larger than its own.
func (o *buffers) lend(b *storage.Batch) {
	if cap(o.buf) > cap(b.Buf) {
		b.Buf, o.buf = o.buf, b.Buf
	}
	if cap(o.scratch) > cap(b.Scratch) {
		b.Scratch, o.scratch = o.scratch, b.Scratch
	}
}

// takeBack takes the buffers again: the second, and the first unless messages lie in it.
func (o *buffers) takeBack(b *storage.Batch, used bool) {
	if cap(b.Scratch) > cap(o.scratch) {
		o.scratch = b.Scratch
	}
	b.Scratch = nil
	if used {
		return
	}
	if cap(b.Buf) > cap(o.buf) {
		o.buf = b.Buf
	}
	b.Buf = nil
}

// spares keeps buffers that are not used now. The buffer that came last goes first: what
// is never used at the same time shares its memory, however many workers there are.
type spares struct {
	mu   sync.Mutex
	list []buffers
}

func (s *spares) take() (o buffers) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.list); n > 0 {
		o, s.list = s.list[n-1], s.list[:n-1]
	}
	return o
}

func (s *spares) put(o buffers) {
	s.mu.Lock()
	s.list = append(s.list, o)
	s.mu.Unlock()
}

// batches keeps blocks that are not used now, to be used again.
type batches struct {
	limit int

	mu   sync.Mutex
	list []*batch
}

func (l *batches) take() *batch {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.list)
	if n == 0 {
		return &batch{}
	}
	b := l.list[n-1]
	l.list = l.list[:n-1]
	return b
}

func (l *batches) put(b *batch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) < l.limit {
		l.list = append(l.list, b)
	}
}
