package convert

import (
	"context"
	"slices"
	"sync"

	"github.com/bagconv/bagconv/storage"
)

// DefaultMemory is Job.MaxMemory where it is not set, in bytes.
const DefaultMemory = 256 << 20

// A budget is how a conversion's memory is shared out. Each part may always hold
// one block, however large that is: a recording with a message of 1 GB is
// converted with more memory, not refused.
type budget struct {
	blocks int64 // on their way between the dispatcher and the collector
	spare  int64 // that are kept for those that come
	held   int64 // held back for their order before they move to a file
	writer int64 // of the writer's own
}

func budgetOf(total int64) budget {
	if total <= 0 {
		total = DefaultMemory
	}
	return budget{blocks: total / 4, spare: total / 8, held: total / 5, writer: total / 4}
}

// A gate lets blocks through while they fit into memory together. One goes
// through alone whatever its size.
type gate struct {
	mu    sync.Mutex
	used  int64
	limit int64
	freed chan struct{} // has a token when memory was given back
}

func newGate(limit int64) *gate { return &gate{limit: limit, freed: make(chan struct{}, 1)} }

// enter waits until n bytes fit. Only one goroutine may be waiting.
func (g *gate) enter(ctx context.Context, n int64) error {
	for {
		g.mu.Lock()
		if g.used == 0 || g.used+n <= g.limit {
			g.used += n
			g.mu.Unlock()
			return nil
		}
		g.mu.Unlock()
		select {
		case <-g.freed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// leave gives n bytes back.
func (g *gate) leave(n int64) {
	g.mu.Lock()
	g.used -= n
	g.mu.Unlock()
	select {
	case g.freed <- struct{}{}:
	default:
	}
}

// spares keeps buffers that are not used now. Blocks take what fits them, so that
// their memory is that of what is in them, whatever passed before, and what is used
// one after the other is one buffer, however many workers there are.
type spares struct {
	mu    sync.Mutex
	list  [][]byte // the one that came last is at the end
	bytes int64
	limit int64
}

// take gives an empty buffer for n bytes, the smallest that is large enough, or nil.
func (s *spares) take(n int64) []byte {
	if n <= 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	best := -1
	for i, b := range slices.Backward(s.list) {
		if c := int64(cap(b)); c >= n && (best < 0 || c < int64(cap(s.list[best]))) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	b := s.list[best]
	s.list = slices.Delete(s.list, best, best+1)
	s.bytes -= int64(cap(b))
	return b
}

// put takes a buffer, and drops those that came first where they are too many.
func (s *spares) put(b []byte) {
	if cap(b) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, b[:0])
	s.bytes += int64(cap(b))
	for s.bytes > s.limit {
		s.bytes -= int64(cap(s.list[0]))
		s.list = slices.Delete(s.list, 0, 1)
	}
}

// borrow gives a batch buffers for a block.
func (s *spares) borrow(b *storage.Batch, of *storage.Block) {
	b.Buf = s.take(of.RawSize)
	if of.Size < of.RawSize {
		b.Scratch = s.take(of.Size)
	}
}

// giveBack takes the buffers of a batch.
func (s *spares) giveBack(b *storage.Batch) {
	s.put(b.Buf)
	s.put(b.Scratch)
	b.Buf, b.Scratch = nil, nil
}

// A pool is a fixed number of blocks, which are made when they are first needed.
type pool struct {
	mu     sync.Mutex
	blocks []*batch
	tokens chan struct{}
}

func newPool(n int) *pool {
	p := &pool{tokens: make(chan struct{}, n)}
	for range n {
		p.tokens <- struct{}{}
	}
	return p
}

// take waits for a block.
func (p *pool) take(ctx context.Context) (*batch, error) {
	select {
	case <-p.tokens:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.blocks)
	if n == 0 {
		return &batch{done: make(chan error, 1)}, nil
	}
	b := p.blocks[n-1]
	p.blocks = p.blocks[:n-1]
	return b, nil
}

// put gives a block back, or lets another be made: nil.
func (p *pool) put(b *batch) {
	if b != nil {
		p.mu.Lock()
		p.blocks = append(p.blocks, b)
		p.mu.Unlock()
	}
	p.tokens <- struct{}{}
}
