// Package ordered does jobs on several goroutines, and what has to be in order in the order
// of the jobs.
//
//	next     1  2  3  4  5  6         one at a time; waits while the jobs have too many bytes
//	work     w1 w2 w3 w2 w1 ...       at the same time
//	finish   1  2  3  4  5  6         one at a time, by the worker that has done the work
//
// The first error in the order of the jobs wins, the same one in every run. A job that
// panics takes the program with it.
package ordered

import (
	"context"
	"math"
	"sync"
)

// A Line describes what is done with jobs. The functions are called until Run returns.
type Line[T any] struct {
	Workers int
	Limit   int64 // bytes of the jobs that are begun and not finished, see Gate

	Next   func() (job T, bytes int64, ok bool) // returns the next job; false: there are no more
	Work   func(worker int, job T) error
	Finish func(worker int, job T) error // nil: nothing has to be in order
}

// Run does all jobs. After an error no further job is begun; the jobs before it are finished,
// the jobs after it are not. When ctx ends no further job is begun, and Run returns the cause
// of ctx; Next must not wait any longer then.
func (l Line[T]) Run(ctx context.Context) error {
	r := &run[T]{Line: l, ctx: ctx, gate: NewGate(l.Limit), failed: math.MaxInt}
	r.changed.L = &r.mu
	var wg sync.WaitGroup
	for w := range l.Workers {
		wg.Go(func() {
			for r.one(w) {
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return r.err
}

// Each calls do for the numbers from 0 to n-1, so many at a time. After an error no further call begins.
func Each(ctx context.Context, workers, n int, do func(i int) error) error {
	i := -1
	return Line[int]{
		Workers: min(workers, n), Limit: int64(n),
		Next: func() (int, int64, bool) { i++; return i, 1, i < n },
		Work: func(_, i int) error { return do(i) },
	}.Run(ctx)
}

// A run is a Line at work.
type run[T any] struct {
	Line[T]
	ctx  context.Context
	gate *Gate

	begin   sync.Mutex // whoever has it begins the next job
	started int

	mu      sync.Mutex
	changed sync.Cond
	next    int   // number of the job to be finished next
	failed  int   // the first job that has failed
	err     error // its error
}

// one does a job. It is false if there is no more to do.
func (r *run[T]) one(worker int) bool {
	job, number, bytes, ok := r.take()
	if !ok {
		return false
	}
	defer r.gate.Leave(bytes)
	err := r.Work(worker, job)
	if err == nil && r.Finish != nil {
		if !r.wait(number) {
			return false
		}
		err = r.Finish(worker, job)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil && number < r.failed {
		r.failed, r.err = number, err
	}
	if err == nil && r.Finish != nil {
		r.next++
	}
	r.changed.Broadcast()
	return err == nil
}

// take begins the next job.
func (r *run[T]) take() (job T, number int, bytes int64, ok bool) {
	r.begin.Lock()
	defer r.begin.Unlock()
	if r.ctx.Err() != nil || r.hasFailed() {
		return job, 0, 0, false
	}
	if job, bytes, ok = r.Next(); !ok || r.gate.Enter(r.ctx, bytes) != nil {
		return job, 0, 0, false
	}
	r.started++
	return job, r.started - 1, bytes, true
}

func (r *run[T]) hasFailed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err != nil
}

// wait returns when it is the turn of a job; false: an earlier job has failed.
func (r *run[T]) wait(number int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.next != number && number < r.failed {
		r.changed.Wait()
	}
	return r.next == number
}

// A Gate lets jobs through while they fit into memory together. A job goes through alone
// whatever its size. Any goroutine may leave; one at a time may enter.
type Gate struct {
	mu    sync.Mutex
	used  int64
	limit int64
	freed chan struct{} // has a token when memory was returned
}

// NewGate returns a gate for a number of bytes.
func NewGate(limit int64) *Gate { return &Gate{limit: limit, freed: make(chan struct{}, 1)} }

// Enter waits until n bytes fit, or ctx ends: then it returns the cause of ctx.
func (g *Gate) Enter(ctx context.Context, n int64) error {
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

// Leave returns n bytes.
func (g *Gate) Leave(n int64) {
	g.mu.Lock()
	g.used -= n
	g.mu.Unlock()
	select {
	case g.freed <- struct{}{}:
	default:
	}
}
