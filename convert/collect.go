package convert

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/bagconv/bagconv/convert/selection"
	"github.com/bagconv/bagconv/storage"
)

// maxSpares bounds the blocks that wait for others to be held back.
const maxSpares = 2

// collect takes the blocks in order and writes their messages.
func (p *pipeline) collect(seq []int, bounds []key, free *pool, order <-chan *batch) error {
	// Blocks that the merger holds are missing in the pool: spares stand in for
	// them, so that the dispatcher never waits for a block that waits for it.
	lent := 0
	var spares []*batch
	giveBack := func(b *batch) {
		if lent > 0 {
			lent--
			if len(spares) < maxSpares {
				spares = append(spares, b)
			}
			return
		}
		free.put(b)
	}
	lend := func() {
		lent++
		if n := len(spares); n > 0 {
			free.put(spares[n-1])
			spares = spares[:n-1]
			return
		}
		free.put(nil)
	}

	m := newMerger(p.tempDir, p.budget.held, p.emit, p.encodeLate, p.copyBlock, giveBack)
	defer m.close()
	for _, to := range p.sinks {
		if len(to.state) == 0 {
			continue
		}
		b := &batch{index: repeatedBlock, done: make(chan error, 1)}
		b.in.Messages = slices.Clone(to.state)
		if err := p.reencode(b, p.counts, to); err != nil {
			return err
		}
		if bounds == nil {
			if err := p.emitAll(b); err != nil {
				return err
			}
			continue
		}
		lent++ // it is not of the pool
		if err := m.add(b); err != nil {
			return err
		}
	}
	k := 0
	for b := range order {
		err := <-b.done
		p.gate.Leave(b.taken)
		if err != nil {
			return err
		}
		if bounds == nil {
			if err := p.emitAll(b); err != nil {
				return err
			}
			free.put(b)
			continue
		}
		if k >= len(bounds) {
			return errors.New("the recording has grown while it was read; try again when it is complete")
		}
		lend()
		if err := m.add(b); err != nil {
			return err
		}
		if err := m.advance(bounds[k]); err != nil {
			return err
		}
		k++
	}
	return m.advance(key{math.MaxInt64, math.MaxInt})
}

func (p *pipeline) emitAll(b *batch) error {
	if copied, err := p.copyBlock(b); copied || err != nil {
		return err
	}
	for i := range b.in.Messages {
		if whole, err := p.encodeLate(b, i); err != nil {
			return err
		} else if !whole {
			continue
		}
		if err := p.emit(&b.in.Messages[i], b.index); err != nil {
			return err
		}
	}
	return nil
}

// copyBlock has the sink take a whole block as it is stored, where it can be.
func (p *pipeline) copyBlock(b *batch) (bool, error) {
	to := b.whole
	if to == nil {
		return false, nil
	}
	b.whole = nil // asked once: from here on its messages are changed
	return to.copier.CopyBlock(&b.in)
}

// copied lists what becomes of topics whose messages go through unchanged, for
// BlockCopier.CopyFrom.
func copied(routes []route) []storage.TopicID {
	topics := make([]storage.TopicID, len(routes))
	for i := range routes {
		topics[i] = storage.NoTopic
		if rt := &routes[i]; !rt.drop && !rt.skip && rt.plan == nil && rt.thin == nil && rt.stamp == nil && rt.mark == nil {
			topics[i] = rt.sink
		}
	}
	return topics
}

// emit writes one message of a block to the sink.
func (p *pipeline) emit(m *storage.Message, block int) error {
	rt := &p.routes[m.Topic]
	if block != repeatedBlock && rt.thin != nil && !rt.thin.Keep(m.LogTime) {
		p.counts[m.Topic].thinned++
		return nil
	}
	if offset := rt.to.offset; offset != 0 {
		m.LogTime += offset // reencode has seen to it that this fits
		m.PublishTime = selection.Shift(m.PublishTime, offset)
	}
	if rt.mark != nil && !rt.mark.Set(m.Data, m.LogTime) {
		p.counts[m.Topic].unstamped++
	}
	if rt.seq != nil {
		binary.LittleEndian.PutUint32(m.Data[rt.seqAt:], rt.seq.next)
		rt.seq.next++
	}
	if !rt.to.format.PublishTime && m.PublishTime != m.LogTime {
		p.counts[m.Topic].publishTimes++
	}
	if !rt.to.format.Sequence && m.Sequence != 0 {
		p.counts[m.Topic].sequences++
	}
	m.Topic = rt.sink
	err := rt.to.write(m)
	if err != nil {
		p.failed = rt.to
	}
	return err
}
