package recording

import (
	"context"

	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/internal/through"
	"github.com/bagconv/bagconv/storage"
)

// A Through has programs change the messages of some topics, before they are re-encoded and after everything that
// selects messages but the rates. A block is a run of messages for one process. A single process gets the blocks in the
// order in which they are begun. A message whose answer equals it counts as unchanged, so that blocks are still copied.
type Through struct {
	Select selection.Selection // the topics, with nothing else set
	Pool   *through.Pool

	topics []*through.Topic // index = TopicID of the source; nil: not this one
	latest chan struct{}    // of the block that was begun last, closed when it has asked; nil: there is none
}

// begin makes ready for a run.
func (t *Through) begin(info *storage.Info) error {
	choice, err := t.Select.Resolve(info)
	if err != nil {
		return err
	}
	t.topics, t.latest = make([]*through.Topic, len(info.Topics)), nil
	for i, chosen := range choice.Topics {
		if topic := &info.Topics[i]; chosen {
			t.topics[i] = through.TopicOf(topic.Encoding, topic.Type, topic.Name)
		}
	}
	t.Pool.Begin()
	return nil
}

// around runs the programs while move moves the messages. A nil Through has no program.
func (t *Through) around(ctx context.Context, info *storage.Info, move func(context.Context) error) error {
	if t == nil {
		return move(ctx)
	}
	if err := t.begin(info); err != nil {
		return err
	}
	err := move(ctx)
	if err == nil {
		err = t.Pool.End(ctx)
	}
	t.Pool.Abort()
	return err
}

// An errand is the messages of one block on their way through a process.
type errand struct {
	ctx           context.Context
	before, after chan struct{} // of the block before, if the blocks have an order, and of this one; nil: none
	process       *through.Process
	changed       bool // one of the messages
}

// errand returns the errand of the block that is begun next.
func (t *Through) errand() (e errand) {
	if t != nil && t.Pool.Processes <= 1 {
		e.before, e.after = t.latest, make(chan struct{})
		t.latest = e.after
	}
	return e
}

// wait waits until the block before has asked.
func (e *errand) wait() error {
	if e.before == nil {
		return nil
	}
	select {
	case <-e.before:
		return nil
	case <-e.ctx.Done():
		return context.Cause(e.ctx)
	}
}

// ask replaces the data of a message by the answer, and counts it.
func (e *errand) ask(t *Through, topic *through.Topic, m *storage.Message, logTime int64, n *Count) (err error) {
	if e.process == nil {
		if err := e.wait(); err != nil {
			return err
		}
		if e.process, err = t.Pool.Take(e.ctx); err != nil {
			return err
		}
	}
	answer, changed, err := e.process.Ask(e.ctx, topic, logTime, m.Data)
	if n.Through++; err == nil && changed {
		n.Changed++
		m.Data, e.changed = answer, true
	}
	return err
}

// done gives the process back, and lets the next block ask.
func (e *errand) done(t *Through) {
	if e.process != nil {
		t.Pool.Give(e.process)
		e.process = nil
	}
	if e.after != nil {
		_ = e.wait() // the error of ctx is the error of the run
		close(e.after)
		e.after = nil
	}
}
