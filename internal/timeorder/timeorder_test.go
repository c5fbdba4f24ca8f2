package timeorder

import (
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// A model is a recording of messages that have a time and a number.
type model struct {
	q      storage.Query
	parts  [][]storage.Message // in the order of the file
	counts bool                // Count returns it
	total  int64               // what Total returns
	heads  int                 // that were returned
	opened []int
	active int // cursors that are not closed
	broken error
	lost   int64 // messages at that time cannot be read, unless 0

	mu       sync.Mutex
	ahead    int
	unopened int // the part, from 1, that cannot be opened
}

var errUnopened = errors.New("unopened")

func (m *model) Count(i int) (int64, error) {
	if m.counts {
		return int64(len(m.parts[i])), nil
	}
	return -1, nil
}

func (m *model) Total() int64 { return m.total }

func (m *model) Ahead() int { return m.ahead }

func (m *model) Open(i int, reverse bool) (Cursor, error) {
	m.mu.Lock()
	m.opened = append(m.opened, i)
	m.active++
	m.mu.Unlock()
	if m.unopened == i+1 {
		m.mu.Lock()
		m.active--
		m.mu.Unlock()
		return nil, errUnopened
	}
	c := &modelCursor{m: m, part: m.parts[i]}
	start, end := m.q.Range()
	for k, msg := range c.part {
		if msg.LogTime >= start && msg.LogTime <= end {
			c.Add(Head{Time: msg.LogTime, Pos: int64(k), Topic: msg.Topic})
		}
	}
	c.Sort(reverse)
	return c, nil
}

type modelCursor struct {
	Heads
	m    *model
	part []storage.Message
}

func (c *modelCursor) Next() (Head, error) {
	if c.m.heads++; c.m.broken != nil && c.m.heads == 30 {
		return Head{}, c.m.broken
	}
	return c.Heads.Next()
}
func (c *modelCursor) Read() (*storage.Message, error) {
	msg := &c.part[c.Current().Pos]
	if c.m.lost != 0 && msg.LogTime == c.m.lost {
		return nil, nil
	}
	return msg, nil
}
func (c *modelCursor) Close() error {
	c.m.mu.Lock()
	c.m.active--
	c.m.mu.Unlock()
	return nil
}

// random makes parts that follow each other or overlap.
func random(rng *rand.Rand) (m *model, parts []Part, all []storage.Message) {
	m = &model{counts: rng.IntN(3) > 0, total: -1, ahead: max(rng.IntN(6)-2, 0)}
	jitter := []int64{1, 3, 40, 1000}[rng.IntN(4)]
	n := rng.IntN(300)
	for i := range n {
		all = append(all, storage.Message{LogTime: int64(i/3) + rng.Int64N(jitter) - 50, Sequence: uint32(i)})
	}
	if rng.IntN(5) == 0 && n > 0 {
		all[0].LogTime, all[n-1].LogTime = math.MinInt64, math.MaxInt64
	}
	for rest := all; len(rest) > 0; {
		k := 1 + rng.IntN(min(len(rest), 40))
		p := Part{Start: rest[0].LogTime, End: rest[0].LogTime, Timed: rng.IntN(10) > 0}
		for _, x := range rest[:k] {
			p.Start, p.End = min(p.Start, x.LogTime), max(p.End, x.LogTime)
		}
		if !p.Timed {
			p.Start, p.End = 5, 1
		}
		m.parts, parts, rest = append(m.parts, rest[:k]), append(parts, p), rest[k:]
	}
	if rng.IntN(2) == 0 {
		m.total = int64(n)
	}
	return m, parts, all
}

// want is the answer by sorting.
func want(all []storage.Message, q storage.Query) (out []uint32) {
	start, end := q.Range()
	var list []storage.Message
	for _, m := range all {
		if m.LogTime >= start && m.LogTime <= end {
			list = append(list, m)
		}
	}
	slices.SortStableFunc(list, func(a, b storage.Message) int {
		if a.LogTime < b.LogTime {
			return -1
		}
		if a.LogTime > b.LogTime {
			return 1
		}
		return 0
	})
	if q.Reverse {
		slices.Reverse(list)
	}
	for i, m := range list {
		if int64(i) >= q.Skip && (q.Limit == 0 || int64(i) < q.Skip+q.Limit) {
			out = append(out, m.Sequence)
		}
	}
	return out
}

func TestRun(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		m, parts, all := random(rng)
		m.q = storage.Query{Reverse: rng.IntN(2) == 0}
		if rng.IntN(2) == 0 {
			m.q.Skip = rng.Int64N(int64(len(all)) + 2)
		}
		if rng.IntN(2) == 0 {
			m.q.Limit = 1 + rng.Int64N(10)*rng.Int64N(2)
		}
		if rng.IntN(2) == 0 {
			m.q.Start = rng.Int64N(100) - 50
			m.q.End = m.q.Start + rng.Int64N(60)
		}
		var got []uint32
		for msg, err := range Run(context.Background(), m.q, parts, m, func(err error) error { return err }) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, msg.Sequence)
		}
		if w := want(all, m.q); !slices.Equal(got, w) {
			t.Fatalf("%+v of %+v: %v, want %v", m.q, parts, got, w)
		}
		if m.active != 0 {
			t.Fatalf("%d cursors are open", m.active)
		}
	}
}

// TestSkip: parts that are skipped are not opened, also where they overlap.
func TestSkip(t *testing.T) {
	var parts []Part
	m := &model{counts: true, total: -1, q: storage.Query{Skip: 5005, Limit: 1}}
	for i := range 100 {
		var list []storage.Message
		for k := range 100 {
			list = append(list, storage.Message{LogTime: int64(i*100 + k*2)})
		}
		m.parts = append(m.parts, list)
		parts = append(parts, Part{Start: int64(i * 100), End: int64(i*100 + 198), Timed: true})
	}
	for _, err := range Run(context.Background(), m.q, parts, m, func(err error) error { return err }) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(m.opened) > 4 || !slices.Contains(m.opened, 50) {
		t.Errorf("parts %v are opened", m.opened)
	}
}

// tens adds to a model n parts of ten messages each, one at each time from 0 on.
func (m *model) tens(n int) (parts []Part) {
	for i := range n {
		var list []storage.Message
		for k := range 10 {
			list = append(list, storage.Message{LogTime: int64(i*10 + k)})
		}
		m.parts, parts = append(m.parts, list), append(parts, Part{Start: int64(i * 10), End: int64(i*10 + 9), Timed: true})
	}
	return parts
}

// TestAhead: parts that are opened ahead are those that are needed, and one of them
// that cannot be opened matters when the merge has come to it.
func TestAhead(t *testing.T) {
	for _, ahead := range []int{0, 1, 4} {
		for _, unopened := range []int{0, 30, 73, 75} {
			m := &model{total: -1, ahead: ahead, unopened: unopened, q: storage.Query{Skip: 735, Limit: 2}}
			parts := m.tens(100)
			var got []int64
			var last error
			for msg, err := range Run(context.Background(), m.q, parts, m, func(err error) error { return err }) {
				if last = err; err == nil {
					got = append(got, msg.LogTime)
				}
			}
			if found := slices.Equal(got, []int64{735, 736}); found == errors.Is(last, errUnopened) ||
				found != (unopened == 0 || unopened > 74) {
				t.Errorf("%d ahead, without part %d: %v, %v", ahead, unopened-1, got, last)
			}
			if n := len(m.opened); n > 74 || n < 74 && unopened == 0 || m.active != 0 {
				t.Errorf("%d ahead, without part %d: %d parts are opened, %d cursors are left", ahead, unopened-1, n, m.active)
			}
		}
	}
}

// TestTurn: one message is looked for from the nearer end, and a count that proves
// wrong is an error.
func TestTurn(t *testing.T) {
	m := &model{total: 100}
	parts := m.tens(10)
	for _, total := range []int64{-1, 100, 1000} {
		for _, reverse := range []bool{false, true} {
			m.total, m.opened, m.q = total, nil, storage.Query{Skip: 73, Limit: 1, Reverse: reverse}
			if total == 1000 {
				m.q.Skip = 600
			}
			var got []int64
			var last error
			for msg, err := range Run(context.Background(), m.q, parts, m, func(err error) error { return err }) {
				if last = err; err == nil {
					got = append(got, msg.LogTime)
				}
			}
			want, opened := int64(73), map[int64]int{-1: 8, 100: 3, 1000: 10}[total]
			if reverse {
				want = 99 - 73
			}
			switch {
			case len(m.opened) != opened:
				t.Errorf("total %d, reverse %v: parts %v are opened", total, reverse, m.opened)
			case total == 1000 && (len(got) > 0 || !errors.Is(last, storage.ErrCorrupt)):
				t.Errorf("a wrong total: %v, %v", got, last)
			case total < 1000 && (last != nil || !slices.Equal(got, []int64{want})):
				t.Errorf("total %d, reverse %v: %v, %v", total, reverse, got, last)
			}
		}
	}
}

// TestTurnUnread: in the place of a message that cannot be read comes the next one
// in the order of the query, from wherever it was looked for.
func TestTurnUnread(t *testing.T) {
	for _, total := range []int64{-1, 10} {
		for _, reverse := range []bool{false, true} {
			m := &model{total: total, lost: 6, q: storage.Query{Skip: 6, Limit: 1, Reverse: reverse},
				parts: make([][]storage.Message, 1)}
			want := int64(7)
			if reverse {
				m.q.Skip, m.lost, want = 7, 2, 1
			}
			for i := range int64(10) {
				m.parts[0] = append(m.parts[0], storage.Message{LogTime: i})
			}
			var got []int64
			for msg, err := range Run(context.Background(), m.q, []Part{{0, 9, true}}, m, func(err error) error { return err }) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, msg.LogTime)
			}
			if !slices.Equal(got, []int64{want}) || m.active != 0 {
				t.Errorf("total %d, reverse %v: %v, want %d; %d cursors are open", total, reverse, got, want, m.active)
			}
		}
	}
}

// TestErrors: an index that lies, a cursor that fails, a context that ends, and a
// caller that leaves.
func TestErrors(t *testing.T) {
	two := func() (*model, []Part) {
		m := &model{total: -1, parts: [][]storage.Message{nil, nil}}
		for i := range 100 {
			m.parts[i%2] = append(m.parts[i%2], storage.Message{LogTime: int64(i)})
		}
		return m, []Part{{0, 98, true}, {1, 99, true}}
	}
	run := func(ctx context.Context, m *model, parts []Part, leave int) (n int, err error) {
		for _, err = range Run(ctx, m.q, parts, m, func(err error) error { return errors.Join(errors.New("here"), err) }) {
			if n++; err != nil || n == leave {
				break
			}
		}
		if m.active != 0 {
			t.Errorf("%d cursors are open", m.active)
		}
		return n, err
	}
	for _, p := range []Part{{5, 98, true}, {0, 50, true}} {
		for _, reverse := range []bool{false, true} {
			m, parts := two()
			m.q.Reverse = reverse
			parts[0] = p
			if n, err := run(context.Background(), m, parts, -1); !errors.Is(err, storage.ErrCorrupt) || n > 100 {
				t.Errorf("an index that says %+v, reverse %v: %d messages, %v", p, reverse, n, err)
			}
		}
	}
	m, parts := two()
	m.broken = io.ErrClosedPipe
	if n, err := run(context.Background(), m, parts, -1); !errors.Is(err, io.ErrClosedPipe) || n < 20 || n > 30 {
		t.Errorf("a cursor that fails: %d messages, %v", n, err)
	}
	m, parts = two()
	if n, err := run(context.Background(), m, parts, 7); n != 7 || err != nil || m.heads > 12 {
		t.Errorf("a caller that leaves: %d messages, %v, %d heads", n, err, m.heads)
	}
	m, parts = two()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if n, err := run(ctx, m, parts, -1); n != 1 || !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %d messages, %v", n, err)
	}
}

func TestWanted(t *testing.T) {
	for _, c := range []struct {
		q    storage.Query
		want []bool
		all  bool
		err  bool
	}{
		{storage.Query{}, []bool{true, true, true}, true, false},
		{storage.Query{Topics: []storage.TopicID{}}, []bool{false, false, false}, false, false},
		{storage.Query{Topics: []storage.TopicID{2, 2}}, []bool{false, false, true}, false, false},
		{storage.Query{Topics: []storage.TopicID{2, 0, 1, 1}}, []bool{true, true, true}, true, false},
		{storage.Query{Topics: []storage.TopicID{3}}, nil, false, true},
		{storage.Query{Skip: -1}, nil, false, true},
		{storage.Query{Limit: -1}, nil, false, true},
	} {
		got, all, err := Wanted(&c.q, 3)
		if !slices.Equal(got, c.want) || all != c.all || (err != nil) != c.err {
			t.Errorf("%+v: %v, %v, %v", c.q, got, all, err)
		}
	}
}
