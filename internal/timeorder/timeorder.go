// Package timeorder answers a storage.Query from an index: it merges the heads
// of messages (when, where) of the parts of a recording by time, and has only
// those messages read that are asked for.
//
//	parts, by their first time     |--- 0 ---|
//	                                    |--- 1 ---|
//	                                                 |- 2 -|
//	                                                          |- 3 -|
//
// A part is opened when the merge has come to its first time. Parts that lie
// wholly within what a query skips are not opened, where their index counts the
// messages: above, a query that skips as many messages as 0 and 1 have begins
// with 2. Where only the whole recording is counted, one message that is nearer to
// the end than to the start is looked for from there. Where neither tells enough, the
// parts that are passed over are opened ahead, several at once. Memory is that of the
// cursors of parts that overlap in time, and of those ahead.
//
// An index is believed, and found out where it contradicts itself: a head
// outside its part's times, or before the one before it, ends the query with an
// error that wraps storage.ErrCorrupt.
//
// Nothing here is for concurrent use; each query has a merge of its own.
package timeorder

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/bagconv/bagconv/internal/ahead"
	"github.com/bagconv/bagconv/storage"
)

// A Part is a piece of a recording with an index of its own.
type Part struct {
	Start, End int64 // least and greatest LogTime, when Timed
	Timed      bool  // false: its messages may be at any time
}

// A Head is what an index knows of a message.
type Head struct {
	Time int64
	Pos  int64 // grows in the order of the file within a part; what it is else is the source's affair
}

// A Source has the parts of a recording, in the order of the file.
type Source interface {
	// Count is the number of messages of a part that the query's topics have, or
	// -1 when that cannot be told without looking at their heads.
	Count(part int) (int64, error)

	// Total is the same of all parts, -1 where Count tells enough.
	Total() int64

	// Open gives the heads of a part's messages that the query asks for: of its
	// topics, in its range of time, in the order of time or in reverse.
	Open(part int, reverse bool) (Cursor, error)

	// Ahead is how many goroutines, beside the query's own, may open parts before the
	// merge comes to them. Above 0, Open is called concurrently, with itself and with the
	// cursors' methods.
	Ahead() int
}

// A Cursor goes over heads.
type Cursor interface {
	// Next gives the next head, or io.EOF.
	Next() (Head, error)

	// Read gives the message of the head that Next gave last. It is valid until
	// any cursor of the source is called again. Nil without an error: damage
	// makes it unreadable, which was said in a warning.
	Read() (*storage.Message, error)

	// Close frees what the cursor holds.
	Close() error
}

// Wanted checks q against a recording of n topics, and tells for each whether it
// is asked for. all is true when every one is.
func Wanted(q *storage.Query, n int) (wanted []bool, all bool, err error) {
	if q.Skip < 0 || q.Limit < 0 {
		return nil, false, fmt.Errorf("a query that skips %d messages and gives %d", q.Skip, q.Limit)
	}
	wanted = make([]bool, n)
	if q.Topics == nil {
		for i := range wanted {
			wanted[i] = true
		}
		return wanted, true, nil
	}
	distinct := 0
	for _, id := range q.Topics {
		if int64(id) >= int64(n) {
			return nil, false, fmt.Errorf("a query for topic %d of %d", id, n)
		}
		if !wanted[id] {
			wanted[id] = true
			distinct++
		}
	}
	return wanted, distinct == n, nil
}

var errIndex = fmt.Errorf("the index gives times that the messages do not have: %w", storage.ErrCorrupt)
var errCount = fmt.Errorf("the index counts more messages than there are: %w", storage.ErrCorrupt)

// Run returns what q asks for. Errors go through fail, as Fail makes it; it is not called
// with nil.
func Run(ctx context.Context, q storage.Query, parts []Part, src Source, fail func(error) error) iter.Seq2[*storage.Message, error] {
	return func(yield func(*storage.Message, error) bool) {
		give := func(msg *storage.Message) bool { return yield(msg, nil) }
		err := errUnread
		if t, ok := turn(q, src.Total()); ok {
			err = newMerge(ctx, t, src, true).all(parts, 1, give)
		}
		if errors.Is(err, errUnread) {
			err = newMerge(ctx, q, src, false).all(parts, q.Limit, give)
		}
		if err != nil && !errors.Is(err, errStopped) {
			yield(nil, fail(err))
		}
	}
}

// Fail returns a function that makes an error of a query on a recording a *storage.Error,
// unless it is one or the context has ended.
func Fail(format, path string) func(error) error {
	return func(err error) error {
		var e *storage.Error
		if errors.As(err, &e) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		e = &storage.Error{Format: format, Path: path, Offset: -1, What: "query", Err: err}
		if errors.Is(err, storage.ErrCorrupt) {
			e.Hint = "read all of it in the order of the file"
		}
		return e
	}
}

// turn makes of a query for one of total messages, the n-th from the start, one
// for the same message counted from the end; ok is false where that is no nearer.
func turn(q storage.Query, total int64) (t storage.Query, ok bool) {
	if q.Start != 0 || q.End != 0 || q.Limit != 1 || q.Skip >= total || q.Skip < total-q.Skip {
		return q, false
	}
	q.Skip, q.Reverse = total-1-q.Skip, !q.Reverse
	return q, true
}

func newMerge(ctx context.Context, q storage.Query, src Source, turned bool) *merge {
	m := &merge{ctx: ctx, src: src, reverse: q.Reverse, turned: turned, skip: q.Skip}
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
		for _, o := range m.soon[:m.ahead.Stop()] {
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

// errStopped says that the caller has left its loop; errUnread, that damage makes
// the message unreadable that a turned query has come to: the one that the caller
// gets instead is behind it, in the order that was asked for.
var (
	errStopped = errors.New("stopped")
	errUnread  = errors.New("unreadable")
)

// A merge is a query that runs. Times are keys: as they are, or in reverse all
// bits turned over, so that the last is the least.
type merge struct {
	ctx         context.Context
	src         Source
	reverse     bool
	turned      bool   // the query is for one message, which is there
	first, last int64  // keys of the query's range
	skip        int64  // messages still to be left out
	parts       []part // by first key, those that may have something of the query
	open        cursors
	ahead       ahead.Queue // opens the first ones of parts
	soon        []*opening  // for them
	most        int64       // heads that a part had, as far as they are known
}

// A part is a Part by keys.
type part struct {
	i, order    int // its number; the same counted from the end in reverse
	first, last int64
	timed       bool
}

func (m *merge) key(t int64) int64 {
	if m.reverse {
		return ^t
	}
	return t
}

// list sorts the parts that may have something, and drops those that are skipped
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

// leap drops the parts of which no message can come after those that are
// skipped. The parts before k have no more messages than that, so a part that
// ends before k begins is among them as a whole. It counts as skipped where it
// is wholly in the range.
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

// run gives messages until there are no more, or limit is reached.
func (m *merge) run(limit int64, give func(*storage.Message) bool) error {
	for n, given := 0, int64(0); ; n++ {
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
			if m.turned {
				return errCount
			}
			return nil
		}
		top := m.open[0]
		if m.skip > 0 {
			m.skip--
		} else {
			msg, err := top.cursor.Read()
			if err != nil {
				return err
			}
			if msg == nil && m.turned {
				return errUnread
			}
			if msg != nil {
				if !give(msg) {
					return errStopped
				}
				if given++; given == limit {
					return nil
				}
			}
		}
		if err := m.advance(top); err == io.EOF {
			m.most = max(m.most, top.given)
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

// start opens a part.
func (m *merge) start(p part) error {
	if err := m.ctx.Err(); err != nil {
		return err
	}
	var got opening
	if len(m.soon) > 0 {
		m.ahead.Take()
		got, m.soon = *m.soon[0], m.soon[1:]
	} else {
		got.cursor, got.err = m.src.Open(p.i, m.reverse)
	}
	if got.err != nil {
		return got.err
	}
	m.openAhead()
	o := &opened{cursor: got.cursor, order: p.order, key: p.first, last: p.last, timed: p.timed}
	if err := m.advance(o); err != nil {
		if err == io.EOF {
			err = nil
		}
		return errors.Join(err, o.cursor.Close())
	}
	heap.Push(&m.open, o)
	return nil
}

// An opening is what Open gives.
type opening struct {
	cursor Cursor
	err    error
}

// maxAhead is how many parts are opened ahead at most.
const maxAhead = 64

// openAhead opens the parts behind the first one, as far as what is still to be
// skipped will need them: each is taken to have as many heads as the largest so far.
func (m *merge) openAhead() {
	m.ahead.Workers = m.src.Ahead()
	if m.most == 0 || m.ahead.Workers == 0 || len(m.soon) > maxAhead/2 {
		return
	}
	for n := min(m.skip/m.most, int64(len(m.parts)-1), maxAhead); int64(len(m.soon)) < n; {
		o, part := &opening{}, m.parts[1+len(m.soon)].i
		m.soon = append(m.soon, o)
		m.ahead.Add(func() { o.cursor, o.err = m.src.Open(part, m.reverse) })
	}
}

// advance moves a cursor to its next head.
func (m *merge) advance(o *opened) error {
	h, err := o.cursor.Next()
	if err != nil {
		return err
	}
	key := m.key(h.Time)
	if o.timed && (key < o.key || key > o.last) {
		return errIndex
	}
	o.given++
	o.key = key
	return nil
}

// An opened is a cursor in the merge. key is that of its head; before there is
// one, the least that it may have.
type opened struct {
	cursor    Cursor
	order     int
	key, last int64
	timed     bool
	given     int64 // heads so far
}

// cursors is a heap.
type cursors []*opened

func (c cursors) Len() int { return len(c) }
func (c cursors) Less(i, k int) bool {
	if c[i].key != c[k].key {
		return c[i].key < c[k].key
	}
	return c[i].order < c[k].order
}
func (c cursors) Swap(i, k int) { c[i], c[k] = c[k], c[i] }
func (c *cursors) Push(x any)   { *c = append(*c, x.(*opened)) }
func (c *cursors) Pop() any {
	old := *c
	o := old[len(old)-1]
	old[len(old)-1] = nil
	*c = old[:len(old)-1]
	return o
}
