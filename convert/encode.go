package convert

import (
	"context"
	"sync"

	"github.com/bagconv/bagconv/storage"
)

// An encoder runs the costly part of a BlockWriter: it compresses full blocks in
// several goroutines and appends them to the file in order in one more.
type encoder struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	jobs   chan *encodeJob
	order  chan *encodeJob
	wg     sync.WaitGroup
	err    error // of the first block in order that failed; read after wait
}

type encodeJob struct {
	block    storage.PendingBlock
	done     chan error
	appended chan struct{} // closed when it is in the file, or never will be; nil: nobody waits for it
}

func newEncoder(ctx context.Context, workers int) *encoder {
	ctx, cancel := context.WithCancelCause(ctx)
	n := max(1, workers-1) // and one that is appended
	e := &encoder{ctx: ctx, cancel: cancel, jobs: make(chan *encodeJob, n), order: make(chan *encodeJob, n)}
	for range workers {
		e.wg.Add(1)
		go func() {
			defer e.wg.Done()
			for j := range e.jobs {
				j.done <- j.block.Encode()
			}
		}()
	}
	e.wg.Add(1)
	go func() {
		defer e.wg.Done()
		for j := range e.order {
			err := <-j.done
			if err == nil && e.err == nil {
				err = j.block.Append()
			}
			if err != nil && e.err == nil {
				e.err = err
				e.cancel(err)
			}
			if j.appended != nil {
				close(j.appended)
			}
		}
	}()
	return e
}

// add is the function for BlockWriter.OnBlock. It waits while too many blocks
// are on their way, which bounds memory.
func (e *encoder) add(block storage.PendingBlock) error {
	if e.ctx.Err() != nil {
		return context.Cause(e.ctx)
	}
	j := &encodeJob{block: block, done: make(chan error, 1)}
	if block.Lent() {
		j.appended = make(chan struct{})
	}
	select {
	case e.order <- j:
	case <-e.ctx.Done():
		return context.Cause(e.ctx)
	}
	e.jobs <- j // has as much room as order
	if j.appended != nil {
		<-j.appended
	}
	return nil
}

// wait ends the encoder when all blocks were added, and returns its error.
func (e *encoder) wait() error {
	close(e.jobs)
	close(e.order)
	e.wg.Wait()
	e.cancel(nil)
	return e.err
}
