package convert

import (
	"context"
	"sync"
)

// DefaultMemory is Job.MaxMemory where it is not set, in bytes.
const DefaultMemory = 256 << 20

// A budget is how a conversion's memory is shared out. Each part may always hold
// one block, however large that is: a recording with a message of 1 GB is
// converted with more memory, not refused.
type budget struct {
	blocks int64 // on their way between the dispatcher and the collector
	held   int64 // held back for their order before they move to a file
	writer int64 // of the writer's own
}

func budgetOf(total int64) budget {
	if total <= 0 {
		total = DefaultMemory
	}
	return budget{blocks: total / 3, held: total / 5, writer: total / 4}
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
