package engine

import (
	"context"
	"errors"

	"github.com/bagconv/bagconv/storage"
)

// A Visitor looks at the messages of a recording in two steps: Work on all cores, Take in order. See Visit.
type Visitor interface {
	// Plan is called before the first message. See StreamPlan.
	Plan(info *storage.Info, selected []bool) ([]StreamTopic, error)

	// Work looks at selected messages of one block, in their order in it, at the same time as other calls at
	// other blocks. It returns what Take needs to know. made is what an earlier call has returned, and is not used any
	// more, or nil. Of msgs nothing may be kept but in what Work returns.
	Work(at storage.Block, msgs []storage.Message, made any) (any, error)

	// Take takes the next messages in the order of the job: msgs[from:to] of those that Work was called with,
	// and what it has made of all of them. One call is made at a time. ErrEnough ends the visit without an error.
	Take(at storage.Block, msgs []storage.Message, from, to int, made any) error
}

// Visit is Stream for a Visitor. A block of a format that has no blocks is a run of messages, with Offset -1. A
// block whose messages overlap in time with others is taken in several pieces. Messages that went through the spill
// file are taken one by one, and Work sees each of them a second time. The error is the one of the first block that
// has an error, the same in every run. The job may not shift times.
func Visit(ctx context.Context, job StreamJob, v Visitor) (*StreamResult, error) {
	if job.Edit.Offset != 0 {
		return nil, errors.New("internal error: a visit does not shift times")
	}
	return job.run(ctx, &reading{plan: v.Plan, visitor: v})
}

// A taking is the messages of one block that a visitor is to take next.
type taking struct {
	b        *batch
	from, to int
	err      error // of a visitor, when a block was to be used again
	one      any   // what Work has made of a single message
}

// block describes a block to a visitor.
func (p *Pipeline) block(i int, b *batch) storage.Block {
	if p.Source.blockReader != nil && i >= 0 {
		return p.Source.blocks[i]
	}
	at := storage.Block{Offset: -1}
	if b != nil {
		at.Size = int64(len(b.in.Buf))
	}
	return at
}

// visit has a visitor look at the messages of a block.
func (p *Pipeline) visit(b *batch) (err error) {
	if p.Visitor != nil && len(b.in.Messages) > 0 {
		b.seen, err = p.Visitor.Work(p.block(b.index, b), b.in.Messages, b.seen)
	}
	return err
}

// take has a visitor take a message: number i of b, or one from the spill file if b is nil.
func (p *Pipeline) take(m *storage.Message, block int, b *batch, i int) (err error) {
	t := &p.taking
	if t.b != nil && t.b == b && t.to == i {
		t.to++
		return t.err
	}
	if err = p.flush(); err != nil {
		return err
	}
	if b != nil {
		t.b, t.from, t.to = b, i, i+1
		return nil
	}
	msgs := []storage.Message{*m}
	if t.one, err = p.Visitor.Work(p.block(block, nil), msgs, t.one); err != nil {
		return err
	}
	return p.Visitor.Take(p.block(block, nil), msgs, 0, 1, t.one)
}

// flush has the visitor take what it was not told of yet.
func (p *Pipeline) flush() error {
	t := &p.taking
	if b := t.b; b != nil && t.err == nil {
		t.b = nil
		t.err = p.Visitor.Take(p.block(b.index, b), b.in.Messages, t.from, t.to, b.seen)
	}
	return t.err
}

// done takes back a block whose messages are all written.
func (p *Pipeline) done(free *batches, b *batch) {
	if p.taking.b == b {
		_ = p.flush() // the error is kept for the next call
	}
	free.put(b)
}
