package timeorder

import (
	"container/heap"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/bagconv/bagconv/storage"
)

// A merge is a query that runs. Times are keys: as they are, or in reverse all
// bits turned over, so that the last is the least.
type merge struct {
	ctx         context.Context
	src         Source
	reverse     bool
	first, last int64           // keys of the query's range
	noData      bool            // heads are enough
	bare        storage.Message // of a head
	parts       []part          // the ones that may have something of the query, by first key
	open        cursors
}

// A part is a Part by keys.
type part struct {
	i, order    int // its number; the same counted from the end in reverse
	first, last int64
	timed       bool
}

func newMerge(ctx context.Context, q storage.Query, src Source) *merge {
	m := &merge{ctx: ctx, src: src, reverse: q.Reverse, noData: q.NoData}
	first, last := q.Range()
	m.first, m.last = m.key(first), m.key(last)
	if q.Reverse {
		m.first, m.last = m.last, m.first
	}
	return m
}

// all runs the merge, and closes what is open after it.
func (m *merge) all(parts []Part, limit int64, give func(*storage.Message) bool) (err error) {
	defer func() {
		for _, o := range m.open {
			err = errors.Join(err, o.cursor.Close())
		}
	}()
	m.list(parts)
	return m.run(limit, give)
}

func (m *merge) key(t int64) int64 {
	if m.reverse {
		return ^t
	}
	return t
}

// list sorts the parts that may have something.
func (m *merge) list(parts []Part) {
	for i, p := range parts {
		x := part{i: i, order: i, first: m.first, last: m.last, timed: p.Timed}
		if p.Timed {
			x.first, x.last = m.key(p.Start), m.key(p.End)
		}
		if m.reverse {
			x.order = -i
			if p.Timed {
				x.first, x.last = x.last, x.first
			}
		}
		if x.first <= m.last && x.last >= m.first {
			m.parts = append(m.parts, x)
		}
	}
	slices.SortFunc(m.parts, func(a, b part) int {
		if a.first != b.first {
			if a.first < b.first {
				return -1
			}
			return 1
		}
		return a.order - b.order
	})
}

// run passes on messages until there are no more, or limit is reached.
func (m *merge) run(limit int64, give func(*storage.Message) bool) error {
	for n, passed := 0, int64(0); ; n++ {
		if err := m.ctx.Err(); n&63 == 0 && err != nil {
			return err
		}
		for len(m.parts) > 0 && (len(m.open) == 0 || m.parts[0].first <= m.open[0].key) {
			if err := m.start(m.parts[0]); err != nil {
				return err
			}
			m.parts = m.parts[1:]
		}
		if len(m.open) == 0 {
			return nil
		}
		top := m.open[0]
		msg, err := m.read(top)
		if err != nil {
			return err
		}
		if msg != nil {
			if !give(msg) {
				return errStopped
			}
			if passed++; passed == limit {
				return nil
			}
		}
		if err := m.advance(top); err == io.EOF {
			heap.Pop(&m.open)
			err = top.cursor.Close()
			if err != nil {
				return err
			}
		} else if err != nil {
			return err
		} else {
			heap.Fix(&m.open, 0)
		}
	}
}

// read returns the message that a part has come to.
func (m *merge) read(o *openPart) (*storage.Message, error) {
	if !m.noData {
		return o.cursor.Read()
	}
	m.bare = storage.Message{Topic: o.head.Topic, LogTime: o.head.Time}
	return &m.bare, nil
}

// start opens a part.
func (m *merge) start(p part) error {
	if err := m.ctx.Err(); err != nil {
		return err
	}
	c, err := m.src.Open(p.i, m.reverse)
	if err != nil {
		return err
	}
	o := &openPart{cursor: c, order: p.order, key: p.first, last: p.last, timed: p.timed}
	if err := m.advance(o); err != nil {
		if err == io.EOF {
			err = nil
		}
		return errors.Join(err, o.cursor.Close())
	}
	heap.Push(&m.open, o)
	return nil
}

// advance moves a cursor to its next head.
func (m *merge) advance(o *openPart) error {
	h, err := o.cursor.Next()
	if err != nil {
		return err
	}
	key := m.key(h.Time)
	if o.timed && (key < o.key || key > o.last) {
		return errIndex
	}
	o.key, o.head = key, h
	return nil
}

// An openPart is a cursor in the merge. key is the key of its head; before it
// has a head, the least key that the head may have.
type openPart struct {
	cursor    Cursor
	order     int
	key, last int64
	head      Head
	timed     bool
}

// cursors is a heap.
type cursors []*openPart

func (c cursors) Len() int { return len(c) }
func (c cursors) Less(i, k int) bool {
	if c[i].key != c[k].key {
		return c[i].key < c[k].key
	}
	return c[i].order < c[k].order
}
func (c cursors) Swap(i, k int) { c[i], c[k] = c[k], c[i] }
func (c *cursors) Push(x any)   { *c = append(*c, x.(*openPart)) }
func (c *cursors) Pop() any {
	old := *c
	o := old[len(old)-1]
	old[len(old)-1] = nil
	*c = old[:len(old)-1]
	return o
}
