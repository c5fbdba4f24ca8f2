package rosbag2

import (
	"io"

	"github.com/bagconv/bagconv/internal/ahead"
	"github.com/bagconv/bagconv/internal/ordered"
	"github.com/bagconv/bagconv/internal/sqlitefile"
)

// A pageRows reads the index and the heads of rows from pages: some rows at first,
// and more at once the longer it goes on. Then it looks at some ahead, several steps
// at once.
//
//	index   keys of step 1, 2, 3, ...
//	heads        1 |--------|
//	              2  |--------|
//	               3   |--------|
type pageRows struct {
	k     *cursor
	keys  *sqlitefile.Finder
	last  sqlitefile.Head // whose key came last from the index
	some  bool            // there is one
	end   bool            // the index has no more
	n     int             // how many are asked for
	seen  int64           // rows, up to the rows of cur
	cur   *step           // whose rows are returned
	at    int             // index of the next row in the list of cur
	soon  []*step         // steps after cur, in their order
	ahead ahead.Queue     // looks at the steps
	free  []*step
}

// How many rows are looked at in a step, and how many steps ahead.
const (
	fewHeads  = 8
	manyHeads = 512
	maxSteps  = 4
)

// A step is rows that are looked at together.
type step struct {
	f    *sqlitefile.Finder
	list []sqlitefile.Head
	rows int // that were looked at: list has the rows that may be asked for
	err  error
}

func (k *cursor) pages() (*pageRows, error) {
	f, err := k.conn.part.table.NewFinder(k.conn.src)
	if err != nil {
		return nil, err
	}
	f.Few = k.x.q.Limit > 0 && k.x.q.Limit < fewHeads
	p := &pageRows{k: k, keys: f, n: fewHeads, cur: &step{f: f}}
	p.ahead.Workers = ordered.QueryWorkers()
	return p, nil
}

func (p *pageRows) next() (h sqlitefile.Head, err error) {
	for p.at == len(p.cur.list) {
		if err := p.advance(); err != nil {
			return h, err
		}
	}
	p.at++
	return p.cur.list[p.at-1], nil
}

// advance goes on to the next step, and adds some after it: so many that what is
// read in vain in the end is no more than a quarter of the rest.
func (p *pageRows) advance() error {
	if err := p.k.x.context(); err != nil {
		return err
	}
	s := p.cur
	if len(p.soon) == 0 {
		p.begin(s)
		p.look(s)
	} else {
		p.ahead.Take()
		p.cur, p.soon = p.soon[0], p.soon[1:]
		if s.f != p.keys {
			p.free = append(p.free, s)
		}
	}
	s, p.at = p.cur, 0
	if s.err != nil {
		s.list = s.list[:0]
		return s.err
	}
	if s.rows == 0 {
		return io.EOF
	}
	p.seen += int64(s.rows)
	if p.ahead.Workers == 0 || len(p.soon) > maxSteps/2 {
		return nil
	}
	for n := min(maxSteps, int(p.seen/4/manyHeads)); len(p.soon) < n && !p.end; {
		s := p.spare()
		p.begin(s)
		p.soon = append(p.soon, s)
		p.ahead.Add(func() { p.look(s) })
	}
	return nil
}

// begin takes the next keys of the index into a step.
func (p *pageRows) begin(s *step) {
	var after *sqlitefile.Head
	if p.some {
		after = &p.last
	}
	s.list, s.err = p.keys.After(s.list[:0], after, p.k.first, p.k.last, p.n, p.k.reverse)
	if s.rows = len(s.list); s.rows > 0 {
		p.last, p.some = s.list[s.rows-1], true
	}
	p.end = s.err != nil || s.rows < p.n
	p.n = min(2*p.n, manyHeads)
}

// spare returns a step with a finder of its own.
func (p *pageRows) spare() *step {
	if n := len(p.free); n > 0 {
		s := p.free[n-1]
		p.free = p.free[:n-1]
		return s
	}
	return &step{f: p.keys.Another(p.k.conn.src.Another())}
}

// look fills in the list of a step, and drops what is of other topics.
func (p *pageRows) look(s *step) {
	if s.err == nil {
		s.err = s.f.Heads(s.list)
	}
	if s.err != nil {
		return
	}
	ids, rest := &p.k.conn.part.ids, s.list[:0]
	for i := range s.list {
		if topic, ok := ids.get(s.list[i].Topic); !ok || p.k.x.wanted[topic] {
			rest = append(rest, s.list[i])
		}
	}
	s.list = rest
}

func (p *pageRows) data(dst []byte) ([]byte, error) { return p.cur.f.Append(dst, &p.cur.list[p.at-1]) }

func (p *pageRows) close() { p.ahead.Stop() }
