package convert

import (
	"context"
	"fmt"
	"math"

	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/storage"
)

// process reads and re-encodes one block. Messages that the sink does not take
// are left out and counted.
func (p *pipeline) process(ctx context.Context, b *batch, tally []topicCount) error {
	if p.src.blockReader == nil {
		p.meter.read(int64(len(b.in.Buf)), len(b.in.Messages))
		return p.reencode(b, tally, false)
	}
	own := p.spares.take()
	defer func() { p.spares.put(own) }()
	own.lend(&b.in)
	if err := p.read(ctx, b); err != nil {
		return err
	}
	if err := p.reencode(b, tally, false); err != nil || b.whole {
		return err // a block that may be copied needs both buffers
	}
	own.takeBack(&b.in, p.inPlace(b))
	return nil
}

// inPlace tells whether messages of a block lie in the buffer that it was read into:
// those of routes without a plan, and late ones.
func (p *pipeline) inPlace(b *batch) bool {
	if b.late != nil {
		return true
	}
	for i := range b.in.Messages {
		if p.routes[b.in.Messages[i].Topic].plan == nil {
			return true
		}
	}
	return false
}

// read fills b with its block.
func (p *pipeline) read(ctx context.Context, b *batch) error {
	if err := p.src.blockReader.ReadBlock(ctx, b.index, &b.in); err != nil {
		return err
	}
	p.meter.read(p.src.blocks[b.index].Size, len(b.in.Messages))
	if p.src.need != nil {
		return p.src.checkIndex(b.index, b.in.Messages)
	}
	return nil
}

// reencode makes the messages of a block those of the sink. Repeated ones are
// counted as such, and keep their time.
func (p *pipeline) reencode(b *batch, tally []topicCount, repeated bool) error {
	room := p.reserve(b)
	sorted, last := true, int64(math.MinInt64)
	limited := p.format.MinTime != 0 || p.format.MaxTime != 0
	all, kept := len(b.in.Messages), b.in.Messages[:0]
	for i := range b.in.Messages {
		m := b.in.Messages[i]
		if err := checkTopic(&m, len(p.routes)); err != nil {
			return err
		}
		rt, n := &p.routes[m.Topic], &tally[m.Topic]
		if rt.skip || !repeated && p.choice != nil && !p.choice.Holds(m.LogTime) {
			continue
		}
		if repeated {
			n.repeated++
		} else {
			n.read++
		}
		if rt.drop {
			continue
		}
		if rt.stamp != nil && !repeated {
			if !restamp(rt.stamp, &m) {
				n.unstamped++
			}
		}
		at := m.LogTime + p.offset
		if limited && (at < p.format.MinTime || at > p.format.MaxTime) || (at < m.LogTime) != (p.offset < 0) {
			n.outOfRange++
			continue
		}
		late := rt.plan != nil && b.made > room
		if rt.plan != nil && !late {
			data, err := b.encode(rt.plan, m.Data, m.LogTime)
			if err != nil {
				if err = p.refuse(n, b.index, &m, err); err != nil {
					return err
				}
				continue
			}
			m.Data = data
		}
		if !late && p.tooLarge(n, &m) {
			continue
		}
		if repeated {
			m.PublishTime = m.LogTime
		}
		if late {
			b.isLate(len(kept))
		} else {
			n.written++
		}
		sorted = sorted && m.LogTime >= last
		last = m.LogTime
		kept = append(kept, m)
	}
	b.in.Messages = kept
	b.whole = p.copier != nil && b.in.Stored != nil && len(kept) == all && (sorted || p.order == OrderFile)
	if !sorted && p.order == OrderTime {
		b.sort()
	}
	return nil
}

// refuse counts a message that cannot be re-encoded. It is an error in strict runs.
func (p *pipeline) refuse(n *topicCount, block int, m *storage.Message, err error) error {
	if p.strict {
		return p.badMessage(m, err)
	}
	if n.bad == 0 || block < n.firstBadBlock {
		n.firstBad, n.firstBadBlock = p.badMessage(m, err), block
	}
	n.bad++
	return nil
}

// tooLarge counts a message that the sink cannot hold.
func (p *pipeline) tooLarge(n *topicCount, m *storage.Message) bool {
	most := p.format.MaxMessage
	if most == 0 || int64(len(m.Data)) <= most {
		return false
	}
	n.tooLarge++
	return true
}

// reserve empties the arena of a block, and makes it large enough for what its
// messages become. It returns how many bytes they may become before the others are
// late.
func (p *pipeline) reserve(b *batch) (room int) {
	room = max(lateGrowth*len(b.in.Buf), int(p.budget.blocks)/(p.workers+1))
	need := 0
	for i := range b.in.Messages {
		m := &b.in.Messages[i]
		if int(m.Topic) < len(p.routes) {
			if rt := &p.routes[m.Topic]; rt.plan != nil && !rt.drop && !rt.skip {
				need += rt.plan.SizeHint(len(m.Data))
			}
		}
	}
	b.made, b.late = 0, nil
	if b.out = b.out[:0]; cap(b.out) < min(need, room) {
		b.out = make([]byte, 0, min(need, room))
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

func (p *pipeline) badMessage(m *storage.Message, err error) error {
	t := &p.src.info.Topics[m.Topic]
	return fmt.Errorf("topic %s, message of %s at time %d: %w", t.Name, t.Type, m.LogTime, err)
}
