package recording

import (
	"context"

	"github.com/bagconv/bagconv/storage"
)

// A Visitor looks at the messages of a recording in two steps: Work on all cores, Take in order. See Read.
type Visitor interface {
	// Plan is called before the first message, with a description that has the names of the query's Edit. It decides
	// what becomes of each topic.
	Plan(info *storage.Info, selected []bool) ([]Topic, error)

	// Work looks at selected messages of one block, in their order in it, at the same time as other calls at
	// other blocks. It returns what Take needs to know. made is what an earlier call has returned, and is not used any
	// more, or nil. Of msgs nothing may be kept but in what Work returns. Their times do not have Edit.Offset added yet.
	Work(at storage.Block, msgs []storage.Message, made any) (any, error)

	// Take takes the next messages in the order of the query: msgs[from:to] of the messages that Work was called with,
	// and what Work has made of all of them. One call is made at a time, and the messages are valid until it returns.
	// ErrEnough ends the reading without an error.
	Take(at storage.Block, msgs []storage.Message, from, to int, made any) error
}

// Read reads a recording on all cores and has a visitor look at its messages, in the order of the query: by log time,
// and in the order of the file if times are equal. It writes nothing but, if times are far out of order, a temporary
// file.
//
// When the index of the recording turns out to be wrong, all begins again: Plan is called once more, what the visitor
// has taken until then is void, and all messages come anew. Messages keep the number of their topic. A message that its
// program refuses is left out and counted.
//
// A block of a format that has no blocks is a run of messages, with Offset -1. A block whose messages overlap in time
// with others is taken in several pieces. Messages that went through the spill file, or have become very large, are
// taken one by one, and Work may see each of them a second time. The error is the error of the first block that has
// one, the same in every run; errors of the visitor are returned as they are.
func Read(ctx context.Context, ref Ref, q Query, v Visitor) (res *Result, err error) {
	err = Use(ctx, []Ref{ref}, func(sources []*Source) (err error) {
		res, err = sources[0].Read(ctx, q, v)
		return err
	})
	return res, err
}

// Each is a Visitor that has no work to do on all cores.
type Each struct {
	Topics func(info *storage.Info, selected []bool) ([]Topic, error) // as Visitor.Plan; nil: all messages as they are
	Write  func(*storage.Message) error                               // takes one message after the other, as Visitor.Take
}

// Plan implements Visitor.
func (e Each) Plan(info *storage.Info, selected []bool) ([]Topic, error) {
	if e.Topics == nil {
		return make([]Topic, len(info.Topics)), nil
	}
	return e.Topics(info, selected)
}

// Work implements Visitor.
func (e Each) Work(storage.Block, []storage.Message, any) (any, error) { return nil, nil }

// Take implements Visitor.
func (e Each) Take(_ storage.Block, msgs []storage.Message, from, to int, _ any) error {
	for i := from; i < to; i++ {
		if err := e.Write(&msgs[i]); err != nil {
			return err
		}
	}
	return nil
}

// A taking is the messages of one block that a visitor is to take next.
type taking struct {
	b        *batch
	from, to int
	err      error              // of a visitor, when a block was to be used again
	single   [1]storage.Message // a message that is taken by itself
	one      any                // what Work has made of it
}

// block describes a block to a visitor.
func (p *Pipeline) block(i int) storage.Block {
	if p.Source.blockReader != nil && i >= 0 {
		return p.Source.blocks[i]
	}
	return storage.Block{Offset: -1}
}

// visit has a visitor look at the messages of a block, unless there are late ones: then each one is taken by itself.
func (p *Pipeline) visit(b *batch) (err error) {
	if p.Visitor != nil && len(b.in.Messages) > 0 && b.deferred == nil {
		b.seen, err = p.Visitor.Work(p.block(b.index), b.in.Messages, b.seen)
	}
	return err
}

// take has a visitor take a message: number i of b, or a message of the spill file or an index if b is nil.
func (p *Pipeline) take(m *storage.Message, block int, b *batch, i int) (err error) {
	t := &p.taking
	if t.b != nil && t.b == b && t.to == i {
		t.to++
		return t.err
	}
	if err = p.flush(); err != nil {
		return err
	}
	if b != nil && b.deferred == nil {
		t.b, t.from, t.to = b, i, i+1
		return nil
	}
	t.single[0] = *m
	if t.one, err = p.Visitor.Work(p.block(block), t.single[:], t.one); err != nil {
		return err
	}
	return p.Visitor.Take(p.block(block), t.single[:], 0, 1, t.one)
}

// takeBlock has a visitor take a whole block of which nothing was taken.
func (p *Pipeline) takeBlock(b *batch) error {
	if err := p.flush(); err != nil {
		return err
	}
	return p.Visitor.Take(p.block(b.index), b.in.Messages, 0, len(b.in.Messages), b.seen)
}

// flush has the visitor take what it was not told of yet.
func (p *Pipeline) flush() error {
	t := &p.taking
	if b := t.b; b != nil && t.err == nil {
		t.b = nil
		t.err = p.Visitor.Take(p.block(b.index), b.in.Messages, t.from, t.to, b.seen)
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
