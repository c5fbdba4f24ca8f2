package timeorder

import (
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// A model is a recording of messages that have a time and a number.
type model struct {
	q      storage.Query
	parts  [][]storage.Message // in the order of the file
	heads  int                 // that were returned
	opened int
	active int // cursors that are not closed
	broken error
	lost   int64 // messages at that time cannot be read, unless 0

	unopened int // the part, from 1, that cannot be opened
}

var errUnopened = errors.New("unopened")

func (m *model) Open(i int, reverse bool) (Cursor, error) {
	if m.unopened == i+1 {
		return nil, errUnopened
	}
	m.opened++
	m.active++
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
	c.m.active--
	return nil
}

// random makes parts that follow each other or overlap.
func random(rng *rand.Rand) (m *model, parts []Part, all []storage.Message) {
	m = &model{}
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
		if q.Limit == 0 || int64(i) < q.Limit {
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

// TestOpened: the merge opens a part when it comes to it. A part that cannot be opened, or a message that cannot be
// read, is an error only then.
func TestOpened(t *testing.T) {
	for _, unopened := range []int{0, 3, 8, 9} {
		m := &model{unopened: unopened, lost: 71, q: storage.Query{Start: 20, End: 95, Limit: 53}}
		var parts []Part
		for i := range 10 {
			var list []storage.Message
			for k := range 10 {
				list = append(list, storage.Message{LogTime: int64(i*10 + k)})
			}
			m.parts, parts = append(m.parts, list), append(parts, Part{Start: int64(i * 10), End: int64(i*10 + 9), Timed: true})
		}
		n := 0
		var last error
		for _, err := range Run(context.Background(), m.q, parts, m, func(err error) error { return err }) {
			if last = err; err == nil {
				n++
			}
		}
		fails := unopened == 3 || unopened == 8
		if errors.Is(last, errUnopened) != fails || !fails && n != 53 || m.opened > 6 || m.active != 0 {
			t.Errorf("without part %d: %d messages, %v; %d parts are opened, %d cursors are left", unopened-1, n, last,
				m.opened, m.active)
		}
	}
}

// TestErrors: an index that lies, a cursor that fails, a context that ends, and a
// caller that leaves.
func TestErrors(t *testing.T) {
	two := func() (*model, []Part) {
		m := &model{parts: [][]storage.Message{nil, nil}}
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
		err  bool
	}{
		{storage.Query{}, []bool{true, true, true}, false},
		{storage.Query{Topics: []storage.TopicID{}}, []bool{false, false, false}, false},
		{storage.Query{Topics: []storage.TopicID{2, 2}}, []bool{false, false, true}, false},
		{storage.Query{Topics: []storage.TopicID{2, 0, 1, 1}}, []bool{true, true, true}, false},
		{storage.Query{Topics: []storage.TopicID{3}}, nil, true},
		{storage.Query{Limit: -1}, nil, true},
	} {
		got, err := Wanted(&c.q, 3)
		if !slices.Equal(got, c.want) || (err != nil) != c.err {
			t.Errorf("%+v: %v, %v", c.q, got, err)
		}
	}
}
