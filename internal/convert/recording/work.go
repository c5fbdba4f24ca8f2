package recording

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bagconv/bagconv/internal/convert/edit"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/storage"
)

// process reads and re-encodes one block. Messages that the sink does not take
// are left out and counted.
func (p *Pipeline) process(ctx context.Context, b *batch, tally []Count) error {
	b.errand.ctx = ctx
	defer b.errand.done(p.Through)
	if p.Source.blockReader == nil {
		p.meter.read(int64(len(b.in.Buf)), len(b.in.Messages))
		if err := p.reencode(b, tally, nil); err != nil {
			return err
		}
		return p.visit(b)
	}
	own := p.spares.take()
	defer func() { p.spares.put(own) }()
	own.lend(&b.in)
	if err := p.read(ctx, b); err != nil {
		return err
	}
	if err := p.reencode(b, tally, nil); err != nil || b.whole != nil {
		return err // a block that may be copied needs both buffers
	}
	if err := p.visit(b); err != nil {
		return err
	}
	own.takeBack(&b.in, p.inPlace(b))
	return nil
}

// inPlace reports whether messages of a block lie in the buffer that it was read into:
// messages of routes without a plan, and late ones.
func (p *Pipeline) inPlace(b *batch) bool {
	if b.deferred != nil {
		return true
	}
	for i := range b.in.Messages {
		if p.routes[b.in.Messages[i].Topic].Program == nil {
			return true
		}
	}
	return false
}

// read fills b with its block.
func (p *Pipeline) read(ctx context.Context, b *batch) error {
	b.in.File, b.in.Wanted = "", p.chosen
	if err := p.Source.blockReader.ReadBlock(ctx, b.index, &b.in); err != nil {
		return err
	}
	p.meter.read(p.Source.blocks[b.index].Size, len(b.in.Messages))
	if p.Source.need != nil && p.Window == nil {
		return p.Source.checkIndex(b.index, b.in.Messages)
	}
	return nil
}

// reencode converts a block's messages for their sinks; Message.Topic becomes the index of a route.
// Messages that are repeated at the start of a sink are for that sink alone: they are counted as
// repeated, and keep their time.
func (p *Pipeline) reencode(b *batch, tally []Count, repeated *Sink) error {
	if p.whole {
		return p.keep(b, tally)
	}
	room := p.reserve(b)
	r := reencoding{p: p, b: b, tally: tally, repeated: repeated, room: room, sorted: true, last: math.MinInt64}
	all := len(b.in.Messages)
	if r.kept = b.in.Messages[:0]; p.copies { // they may become more
		r.kept = make([]storage.Message, 0, all)
	}
	for i := range b.in.Messages {
		m := b.in.Messages[i]
		if err := checkTopic(&m, len(p.takers)); err != nil {
			return err
		}
		t := &p.takers[m.Topic]
		routes := t.routes
		if len(routes) > 1 && t.disjoint {
			routes = t.at(p, m.LogTime)
		}
		for k, route := range routes {
			if k > 0 {
				m = b.in.Messages[i]
			}
			if to := p.routes[route].to; repeated != nil && to != repeated || repeated == nil && !to.Choice.Holds(m.LogTime) {
				continue
			}
			if err := r.add(&m, route); err != nil {
				return err
			}
		}
	}
	b.in.Messages, b.whole = r.kept, nil
	if b.in.Stored != nil && !b.errand.changed && !p.Dedupe && p.Prior == nil && len(r.kept) == all && !r.several &&
		all > 0 && !p.copies && (r.sorted || p.Order == OrderFile) {
		if r.to.Copier != nil {
			b.whole = r.to
		}
	}
	if !r.sorted && p.Order == OrderTime {
		b.sort()
	}
	return nil
}

// keep is reencode for a visitor that takes all messages as they are.
func (p *Pipeline) keep(b *batch, tally []Count) error {
	sorted, last := true, int64(math.MinInt64)
	for i := range b.in.Messages {
		m := &b.in.Messages[i]
		if err := checkTopic(m, len(p.takers)); err != nil {
			return err
		}
		tally[m.Topic].Read++
		sorted, last = sorted && m.LogTime >= last, m.LogTime
	}
	if b.deferred = nil; !sorted && p.Order == OrderTime {
		b.sort()
	}
	return nil
}

// A reencoding is the messages of a block on their way to the sinks.
type reencoding struct {
	p        *Pipeline
	b        *batch
	tally    []Count
	repeated *Sink
	room     int
	kept     []storage.Message
	sorted   bool  // they are
	to       *Sink // of the last one
	several  bool  // they go to several sinks
	last     int64
}

// add sends a message on a route. It may change m.
func (r *reencoding) add(m *storage.Message, route int) error {
	p, b := r.p, r.b
	rt, n, source := &p.routes[route], &r.tally[route], m.Topic
	m.Topic = storage.TopicID(route)
	if r.repeated != nil {
		n.Repeated++
	} else {
		n.Read++
	}
	if rt.Drop {
		return nil
	}
	if f := rt.to.Choice.Filters; f != nil && f[source] != nil {
		if holds, err := f[source].Holds(m.Data, m.LogTime); err != nil {
			return p.undecided(n, b.index, m, err)
		} else if !holds {
			n.Filtered++
			return nil
		}
	}
	logTime := m.LogTime
	if rt.ReadStamp != nil && r.repeated == nil {
		if !restamp(rt.ReadStamp, m) {
			n.Unstamped++
		}
	}
	f, offset := rt.to.Format, rt.to.Edit.Offset
	at := m.LogTime + offset
	if (f.Holds.MinTime != 0 || f.Holds.MaxTime != 0) && (at < f.Holds.MinTime || at > f.Holds.MaxTime) ||
		(at < m.LogTime) != (offset < 0) {
		n.OutOfRange++
		return nil
	}
	if p.Through != nil && p.Through.topics[source] != nil {
		if err := b.errand.ask(p.Through, p.Through.topics[source], m, logTime, n); err != nil {
			return err
		}
	}
	if rt.HeaderSeq == mapping.SeqToSequence && len(m.Data) >= 4 {
		m.Sequence = binary.LittleEndian.Uint32(m.Data)
	}
	deferred := rt.Program != nil && b.made > r.room
	switch {
	case deferred:
	case rt.Program != nil:
		data, err := b.encode(rt.Program, m.Data, m.LogTime)
		if err != nil {
			return p.refuse(n, b.index, m, err)
		}
		m.Data = data
	case p.copies && rt.WriteStamp != nil: // which changes it
		m.Data = slices.Clone(m.Data)
	}
	if !deferred && p.tooLarge(n, m) {
		return nil
	}
	if r.repeated != nil {
		m.PublishTime = m.LogTime
	}
	if deferred {
		b.markLate(len(r.kept))
	} else {
		n.Written++
	}
	r.sorted = r.sorted && m.LogTime >= r.last
	r.last = m.LogTime
	if r.to != rt.to {
		r.several, r.to = r.several || r.to != nil, rt.to
	}
	r.kept = append(r.kept, *m)
	return nil
}

// refuse counts a message that cannot be re-encoded. It is an error in strict runs, unless an edit has emptied it.
func (p *Pipeline) refuse(n *Count, block int, m *storage.Message, err error) error {
	if errors.Is(err, edit.ErrEmpty) {
		n.Emptied++
		return nil
	}
	if p.Strict {
		return p.badMessage(m, err)
	}
	if errors.Is(err, edit.ErrRefused) {
		if n.Unedited == 0 || block < n.uneditedBlock {
			n.FirstUnedited, n.uneditedBlock = p.badMessage(m, err), block
		}
		n.Unedited++
		return nil
	}
	if n.Bad == 0 || block < n.firstBadBlock {
		n.FirstBad, n.firstBadBlock = p.badMessage(m, err), block
	}
	n.Bad++
	return nil
}

// undecided counts a message that a condition cannot decide. It is an error in strict runs.
func (p *Pipeline) undecided(n *Count, block int, m *storage.Message, err error) error {
	if p.Strict {
		return p.badMessage(m, err)
	}
	if n.Undecided == 0 || block < n.undecidedBlock {
		n.FirstUndecided, n.undecidedBlock = p.badMessage(m, err), block
	}
	n.Undecided++
	return nil
}

// tooLarge counts a message that the sink cannot hold.
func (p *Pipeline) tooLarge(n *Count, m *storage.Message) bool {
	most := p.routes[m.Topic].to.Format.Holds.MaxMessage
	if most == 0 || int64(len(m.Data)) <= most {
		return false
	}
	n.TooLarge++
	return true
}

// reserve empties the arena of a block, and makes it large enough for what its
// messages become. It returns how many bytes they may become before the others are
// deferred.
func (p *Pipeline) reserve(b *batch) (room int) {
	room = max(lateGrowth*len(b.in.Buf), int(p.budget.blocks)/(p.workers+1))
	need := 0
	for i := range b.in.Messages {
		m := &b.in.Messages[i]
		if int(m.Topic) < len(p.takers) && len(p.takers[m.Topic].routes) > 0 {
			if rt := &p.routes[p.takers[m.Topic].routes[0]]; rt.Program != nil && !rt.Drop {
				need += rt.Program.SizeHint(len(m.Data))
			}
		}
	}
	b.made, b.deferred = 0, nil
	if b.out = b.out[:0]; cap(b.out) < min(need, room) {
		b.out = storage.Grow(nil, min(need, room))[:0]
	}
	return room
}

// encode re-encodes src into the batch's arena. When the arena is full a new
// one begins; slices into the old one stay good.
func (b *batch) encode(plan mapping.Program, src []byte, logTime int64) ([]byte, error) {
	if need := plan.SizeHint(len(src)); cap(b.out)-len(b.out) < need { // a hint was too small
		b.out = make([]byte, 0, max(need, 64<<10))
	}
	at := len(b.out)
	out, err := mapping.AppendAt(plan, b.out, src, logTime)
	if err != nil {
		return nil, err
	}
	b.out = out
	b.made += len(out) - at
	return out[at:len(out):len(out)], nil
}

func (p *Pipeline) badMessage(m *storage.Message, err error) error {
	t := &p.Source.Info.Topics[int(m.Topic)%len(p.takers)]
	return fmt.Errorf("topic %s, message of %s at time %d: %w", t.Name, t.Type, m.LogTime, err)
}
