package recording

import (
	"context"

	"github.com/bagconv/bagconv/internal/ordered"
	"github.com/bagconv/bagconv/storage"
)

// An encoder runs the costly part of BlockWriters: it compresses full blocks in several
// goroutines, and appends them to their files in order.
type encoder struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	blocks chan *pending
	done   chan struct{} // closed at the end
	err    error         // of the first block in order that failed; read after done
}

// A pending is a block on its way.
type pending struct {
	storage.PendingBlock
	appended chan struct{} // closed when it is in the file; nil: nobody waits for it
}

func newEncoder(ctx context.Context, workers int) *encoder {
	e := &encoder{blocks: make(chan *pending), done: make(chan struct{})}
	e.ctx, e.cancel = context.WithCancelCause(ctx)
	line := ordered.Line[*pending]{
		Workers: workers,
		Next: func() (b *pending, bytes int64, ok bool) {
			select {
			case b, ok = <-e.blocks:
			case <-e.ctx.Done(): // or a block has failed
			}
			return b, 0, ok
		},
		Work: func(_ int, b *pending) error {
			err := b.Encode()
			if err != nil {
				e.cancel(err)
			}
			return err
		},
		Finish: func(_ int, b *pending) error {
			err := b.Append()
			if err != nil {
				e.cancel(err)
			} else if b.appended != nil {
				close(b.appended)
			}
			return err
		},
	}
	go func() {
		defer close(e.done)
		e.err = line.Run(ctx)
		e.cancel(e.err)
	}()
	return e
}

// add is the function for BlockWriter.OnBlock. It waits while too many blocks
// are on their way, which bounds memory.
func (e *encoder) add(block storage.PendingBlock) error {
	b := &pending{PendingBlock: block}
	if block.Lent() {
		b.appended = make(chan struct{})
	}
	select {
	case e.blocks <- b:
	case <-e.ctx.Done():
		return context.Cause(e.ctx)
	}
	if b.appended != nil {
		select {
		case <-b.appended:
		case <-e.done: // nobody looks at it any more
		}
	}
	return nil
}

// wait ends the encoder when all blocks were added, and returns its error.
func (e *encoder) wait() error {
	close(e.blocks)
	<-e.done
	return e.err
}
