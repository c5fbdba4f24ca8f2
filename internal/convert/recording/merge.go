package recording

import (
	"math"

	"github.com/bagconv/bagconv/storage"
)

// The merger puts blocks that overlap in time into one stream, ordered by
// (log time, place in the file). It holds only the blocks that still overlap
// with what may follow, and when these take more than its budget, their
// messages move to sorted runs in a temporary file (spill.go).
//
//	add(block) ... advance(bound) emits everything that lies before bound
type merger struct {
	heap     []*mergeCursor // least key first
	emit     func(m *storage.Message, block int, b *batch, i int) error
	finish   func(b *batch, i int) (bool, error) // makes message i of a block ready to be emitted; false: it is left out
	copy     func(*batch) (bool, error)          // emits a block as a whole, if that can be
	free     func(*batch)                        // takes back a block whose messages are all emitted
	budget   int64                               // bytes of memory held back before spilling
	buffered int64
	spill    *spillFile
	last     orderKey // of the last message emitted
}

// A mergeCursor walks over messages that are in order: the rest of a block, or a run
// in the spill file.
type mergeCursor struct {
	key  orderKey // of the next message
	msgs []storage.Message
	pos  int

	owner *batch // of a block
	size  int64  // memory of owner

	run *spillRun // of the spill file; then msgs has one message
}

func newMerger(dir string, budget int64, emit func(m *storage.Message, block int, b *batch, i int) error,
	finish func(b *batch, i int) (bool, error),
	copyBlock func(*batch) (bool, error), free func(*batch)) *merger {
	return &merger{emit: emit, finish: finish, copy: copyBlock, free: free, budget: budget, spill: newSpill(dir),
		last: orderKey{math.MinInt64, -1}}
}

func (m *merger) close() { m.spill.close() }

// add takes a block whose messages are in order of time.
func (m *merger) add(b *batch) error {
	msgs := b.in.Messages
	if len(msgs) == 0 {
		m.free(b)
		return nil
	}
	c := &b.mergeCursor
	*c = mergeCursor{key: orderKey{msgs[0].LogTime, b.index}, msgs: msgs, owner: b, size: b.memory()}
	if c.key.less(m.last) {
		return errIndex
	}
	m.buffered += c.size
	m.push(c)
	return nil
}

// advance emits all messages before bound, and spills what is left if that is
// more than the budget.
func (m *merger) advance(bound orderKey) error {
	for len(m.heap) > 0 && m.heap[0].key.less(bound) {
		c := m.heap[0]
		stop := bound
		for _, child := range m.heap[1:min(3, len(m.heap))] {
			if child.key.less(stop) {
				stop = child.key
			}
		}
		if c.owner != nil && c.pos == 0 && c.end().less(stop) { // nothing comes between its messages
			copied, err := m.copy(c.owner)
			if err != nil {
				return err
			}
			if copied {
				m.last = c.end()
				m.pop()
				m.down()
				continue
			}
		}
		for c.key.less(stop) {
			m.last = c.key
			ready, err := c.ready(m.finish)
			if err == nil && ready {
				err = m.emit(&c.msgs[c.pos], c.key.block, c.owner, c.pos)
			}
			if err != nil {
				return err
			}
			more, err := c.next()
			if err != nil {
				return err
			}
			if !more {
				m.pop()
				break
			}
		}
		m.down()
	}
	if m.buffered > m.budget && len(m.heap) > 1 {
		return m.spillHeld()
	}
	return nil
}

// spillHeld moves the rest of all held blocks into one run.
func (m *merger) spillHeld() error {
	var runs, blocks []*mergeCursor
	for _, c := range m.heap {
		if c.run != nil {
			runs = append(runs, c)
		} else {
			blocks = append(blocks, c)
		}
	}
	m.heap = m.heap[:0]
	for _, c := range runs {
		m.push(c)
	}
	r, err := m.spill.write(blocks, m.finish, m.release)
	if err != nil {
		return err
	}
	if r != nil {
		m.push(r)
	}
	return m.compact()
}

// compact keeps the number of runs small: when too many have the same level,
// they become one run of the next.
func (m *merger) compact() error {
	for level := 0; ; level++ {
		var same, rest []*mergeCursor
		higher := false
		for _, c := range m.heap {
			if c.run != nil && c.run.level == level {
				same = append(same, c)
			} else {
				rest = append(rest, c)
			}
			higher = higher || c.run != nil && c.run.level > level
		}
		if len(same) >= maxRuns {
			r, err := m.spill.write(same, m.finish, func(*mergeCursor) {})
			if err != nil {
				return err
			}
			r.run.level = level + 1
			m.heap = m.heap[:0]
			for _, c := range append(rest, r) {
				m.push(c)
			}
		} else if !higher {
			return nil
		}
	}
}

func (m *merger) release(c *mergeCursor) {
	if c.owner != nil {
		m.buffered -= c.size
		m.free(c.owner)
		c.owner = nil
	}
}

// ready makes the next message ready to be emitted, see merger.finish.
func (c *mergeCursor) ready(finish func(b *batch, i int) (bool, error)) (bool, error) {
	if c.owner == nil || c.owner.deferred == nil {
		return true, nil
	}
	return finish(c.owner, c.pos)
}

// end returns the key of the last message.
func (c *mergeCursor) end() orderKey { return orderKey{c.msgs[len(c.msgs)-1].LogTime, c.key.block} }

// next moves to the following message; false at the end.
func (c *mergeCursor) next() (bool, error) {
	if c.run != nil {
		return c.run.next(c)
	}
	c.pos++
	if c.pos >= len(c.msgs) {
		return false, nil
	}
	c.key.time = c.msgs[c.pos].LogTime
	return true, nil
}

// The heap. container/heap would go through an interface for each message.

func (m *merger) push(c *mergeCursor) {
	h := append(m.heap, c)
	i := len(h) - 1
	for i > 0 {
		p := (i - 1) / 2
		if !h[i].key.less(h[p].key) {
			break
		}
		h[i], h[p] = h[p], h[i]
		i = p
	}
	m.heap = h
}

// pop removes the first cursor; the heap is in order after down.
func (m *merger) pop() {
	c := m.heap[0]
	n := len(m.heap) - 1
	m.heap[0] = m.heap[n]
	m.heap[n] = nil
	m.heap = m.heap[:n]
	m.release(c)
}

// down moves the first cursor to its place after its key has grown.
func (m *merger) down() {
	h := m.heap
	for i := 0; ; {
		c := 2*i + 1
		if c >= len(h) {
			return
		}
		if c+1 < len(h) && h[c+1].key.less(h[c].key) {
			c++
		}
		if !h[c].key.less(h[i].key) {
			return
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
}
