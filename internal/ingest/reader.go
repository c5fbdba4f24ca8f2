package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/bagconv/bagconv/internal/ingest/build"
	"github.com/bagconv/bagconv/storage"
)

// A reader is an input as a recording.
type reader struct {
	path     string
	inputs   []*input
	strict   bool
	info     *storage.Info
	blocks   []storage.Block
	parts    []part // how each is decoded
	numbered bool   // some messages have a sequence number
	sequence storage.Sequence

	mu       sync.Mutex
	outcomes outcomes
	told     []bool // blocks whose outcomes are counted
	odd      []storage.Warning
}

// A part makes messages of a block of the input.
type part interface {
	// read fills b with the messages of a block, and returns what became of values.
	read(block *storage.Block, b *storage.Batch) ([]outcome, error)
}

// An outcome is what became of the values of a topic.
type outcome struct {
	topic   storage.TopicID
	refused int64 // messages that are left out
	first   error // of them
	build.Doubts
}

// outcomes are the outcomes of a block, by topic.
type outcomes []outcome

// of returns the outcome of a topic.
func (o *outcomes) of(id storage.TopicID) *outcome {
	for i := range *o {
		if (*o)[i].topic == id {
			return &(*o)[i]
		}
	}
	*o = append(*o, outcome{topic: id})
	return &(*o)[len(*o)-1]
}

// Info describes the input. See storage.Reader.
func (r *reader) Info() *storage.Info { return r.info.Clone() }

// Damage returns what is left out or changed. See storage.Reader.
func (r *reader) Damage() (d storage.Damage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	d.Warnings = slices.Clone(r.odd)
	warn := func(topic storage.TopicID, code string, n int64, damage bool, what, more string) {
		if n > 0 {
			d.Warnings = append(d.Warnings, storage.Warning{Code: code, Offset: -1, Damage: damage,
				Message: fmt.Sprintf("topic %s: messages %s: %d%s", r.info.Topics[topic].Name, what, n, more)})
		}
	}
	for i := range r.outcomes {
		o := &r.outcomes[i]
		d.Lost.Messages += o.refused
		warn(o.topic, "values-refused", o.refused, true, "that are left out, because the type has no such values",
			fmt.Sprintf("; the first: %v", o.first))
		warn(o.topic, "values-unknown", o.Unknown, true, "with values for which the type has no field", "")
		warn(o.topic, "values-rounded", o.Rounded, true, "with numbers of which the type has only the nearest", "")
		warn(o.topic, "values-null", o.Null, false, "with null where the type has no absent values; it is zero", "")
	}
	return d
}

// ReadNext returns the messages in the order of the input. See storage.Reader.
func (r *reader) ReadNext() (*storage.Message, error) {
	return r.sequence.Next(context.Background(), r, len(r.blocks))
}

// Blocks lists the blocks. See storage.BlockReader.
func (r *reader) Blocks(context.Context, *storage.TimeRange) ([]storage.Block, storage.Order, error) {
	return slices.Clone(r.blocks), storage.OrderBlocks, nil
}

// ReadBlock reads a block. See storage.BlockReader.
func (r *reader) ReadBlock(ctx context.Context, i int, b *storage.Batch) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	b.Messages, b.Stored = b.Messages[:0], nil
	list, err := r.parts[i].read(&r.blocks[i], b)
	if err != nil || len(list) == 0 {
		return err
	}
	for _, o := range list {
		if r.strict && o.refused > 0 {
			return &storage.Error{Path: r.info.Topics[o.topic].Name, Offset: -1, What: "the type has no such values",
				Err: errors.Join(o.first, storage.ErrCorrupt)}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.told[i] {
		return nil
	}
	r.told[i] = true
	for _, o := range list {
		sum := r.outcomes.of(o.topic)
		if sum.refused += o.refused; sum.first == nil {
			sum.first = o.first
		}
		sum.Add(o.Doubts)
	}
	return nil
}

// again reads bytes of the input at an offset.
func (in *input) again(b []byte, offset int64) error {
	if _, err := in.file.ReadAt(b, offset); err != nil {
		return in.wrong(offset, "the input cannot be read again", err)
	}
	return nil
}

// changed is the error of a block that is not what it was when the input was scanned.
func (in *input) changed(block *storage.Block) error {
	return in.wrong(block.Offset, "the input has changed", storage.ErrCorrupt)
}

// A maker makes messages of the values of a block, in memory of its own.
type maker struct{ buf []byte }

// makerBytes is how much memory is taken at once.
const makerBytes = 256 << 10

// json makes the message of an object in JSON; not ok: it is left out.
func (m *maker) json(p *build.Program, text []byte, o *outcome) ([]byte, bool) {
	return m.message(o, func(dst []byte) ([]byte, error) { return p.JSON(dst, text, &o.Doubts) })
}

// message makes a message by f, which appends it.
func (m *maker) message(o *outcome, f func([]byte) ([]byte, error)) ([]byte, bool) {
	if cap(m.buf)-len(m.buf) < makerBytes/4 {
		m.buf = make([]byte, 0, makerBytes) // the old one stays with its messages
	}
	from := len(m.buf)
	out, err := f(m.buf)
	if err != nil {
		if o.refused++; o.first == nil {
			o.first = err
		}
		return nil, false
	}
	m.buf = out
	return out[from:len(out):len(out)], true
}

// Close closes the input, or removes what was kept of it.
func (r *reader) Close() error {
	r.sequence.Stop(fmt.Errorf("the input is closed: %w", storage.ErrUnsupported))
	var err error
	for _, in := range r.inputs {
		err = errors.Join(err, in.file.Close())
	}
	return err
}

var _ storage.BlockReader = (*reader)(nil)
