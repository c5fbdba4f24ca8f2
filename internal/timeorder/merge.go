package timeorder

import (
	"container/heap"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/bagconv/bagconv/internal/ahead"
	"github.com/bagconv/bagconv/storage"
)

// A merge is a query that runs. Times are keys: as they are, or in reverse all
// bits turned over, so that the last is the least.
type merge struct {
	ctx         context.Context
	src         Source
	reverse     bool
	single      bool            // the query is for one message, which is there
	first, last int64           // keys of the query's range
	skip        int64           // messages still to be left out
	noData      bool            // heads are enough
	bare        storage.Message // of a head
	parts       []part          // the ones that may have something of the query, by first key
	open        cursors
	ahead       ahead.Queue // opens the first of parts
	queued      []*opening  // for them
	largest     int64       // heads that a part had, as far as they are known
}

// A part is a Part by keys.
type part struct {
	i, order    int // its number; the same counted from the end in reverse
	first, last int64
	timed       bool
}

func newMerge(ctx context.Context, q storage.Query, src Source, single bool) *merge {
	m := &merge{ctx: ctx, src: src, reverse: q.Reverse, single: single, skip: q.Skip, noData: q.NoData}
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
		for _, o := range m.queued[:m.ahead.Stop()] {
			if o.err == nil {
				err = errors.Join(err, o.cursor.Close())
			}
		}
	}()
	if err := m.list(parts); err != nil {
		return err
	}
	return m.run(limit, give)
}

func (m *merge) key(t int64) int64 {
	if m.reverse {
		return ^t
	}
	return t
}

// list sorts the parts that may have something, and drops parts that are skipped
// as a whole.
func (m *merge) list(parts []Part) error {
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
	if m.skip == 0 {
		return nil
	}
	return m.leap()
}

// leap drops the parts whose messages are all skipped. The parts before k have
// no more messages than are skipped, so a part that ends before part k begins is
// skipped as a whole. It is dropped if it also lies wholly in the range.
func (m *merge) leap() error {
	sum, k := int64(0), 0
	counts := make([]int64, 0, 64)
	for ; k < len(m.parts); k++ {
		if err := m.ctx.Err(); k&255 == 0 && err != nil {
			return err
		}
		n := int64(-1)
		if m.parts[k].timed {
			var err error
			if n, err = m.src.Count(m.parts[k].i); err != nil {
				return err
			}
		}
		if n < 0 || n > m.skip-sum {
			break
		}
		sum += n
		counts = append(counts, n)
	}
	rest := m.parts[:0]
	for i, p := range m.parts {
		whole := p.first >= m.first && p.last <= m.last
		if i < k && whole && (k == len(m.parts) || p.last < m.parts[k].first) {
			m.skip -= counts[i]
			continue
		}
		rest = append(rest, p)
	}
	m.parts = rest
	return nil
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
			if m.single {
				return errCount
			}
			return nil
		}
		top := m.open[0]
		if m.skip > 0 {
			m.skip--
		} else {
			msg, err := m.read(top)
			if err != nil {
				return err
			}
			if msg == nil && m.single {
				return errUnread
			}
			if msg != nil {
				if !give(msg) {
					return errStopped
				}
				if passed++; passed == limit {
					return nil
				}
			}
		}
		if err := m.advance(top); err == io.EOF {
			m.largest = max(m.largest, top.passed)
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
	var got opening
	if len(m.queued) > 0 {
		m.ahead.Take()
		got, m.queued = *m.queued[0], m.queued[1:]
	} else {
		got.cursor, got.err = m.src.Open(p.i, m.reverse)
	}
	if got.err != nil {
		return got.err
	}
	m.openAhead()
	o := &openPart{cursor: got.cursor, order: p.order, key: p.first, last: p.last, timed: p.timed}
	if err := m.advance(o); err != nil {
		if err == io.EOF {
			err = nil
		}
		return errors.Join(err, o.cursor.Close())
	}
	heap.Push(&m.open, o)
	return nil
}

// An opening is what Open returns.
type opening struct {
	cursor Cursor
	err    error
}

// openAhead opens the parts after the first one, as far as what is still to be
// skipped will need them: each is taken to have as many heads as the largest so far.
func (m *merge) openAhead() {
	m.ahead.Workers = m.src.Ahead()
	if m.largest == 0 || m.ahead.Workers == 0 || len(m.queued) > maxAhead/2 {
		return
	}
	for n := min(m.skip/m.largest, int64(len(m.parts)-1), maxAhead); int64(len(m.queued)) < n; {
		o, part := &opening{}, m.parts[1+len(m.queued)].i
		m.queued = append(m.queued, o)
		m.ahead.Add(func() { o.cursor, o.err = m.src.Open(part, m.reverse) })
	}
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
	o.passed++
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
	passed    int64 // heads so far
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
