package rosbag2

import (
	"fmt"
	"io"
	"runtime"

	"github.com/bagconv/bagconv/internal/ahead"
	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/internal/sqlitefile"
	"github.com/bagconv/bagconv/storage"
)

// Rows in the order of the index are read on two routes, as those of blocks are
// (rows.go): page by page, and by SQLite where the pages are of another kind.

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
	seen  int64           // rows, up to those of cur
	upTo  sqlitefile.Head // the last of them
	cur   *step           // whose rows are given
	at    int             // in its list, of the next one
	soon  []*step         // behind it, in their order
	ahead ahead.Queue     // looks at them
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
	rows int             // that were looked at: list has those that may be asked for
	last sqlitefile.Head // of them
	err  error
}

func (k *cursor) pages(t *sqlitefile.Table) (indexed, error) {
	f, err := t.NewFinder(k.conn.src)
	if err != nil {
		return nil, err
	}
	f.Few = k.x.q.Limit > 0 && k.x.q.Limit < fewHeads
	p := &pageRows{k: k, keys: f, n: fewHeads, cur: &step{f: f}}
	p.ahead.Workers = min(runtime.GOMAXPROCS(0)-1, 3)
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

// advance goes on to the next step, and adds some behind it: so many that what is
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
	p.seen, p.upTo = p.seen+int64(s.rows), s.last
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

// begin gives a step the next keys of the index.
func (p *pageRows) begin(s *step) {
	var after *sqlitefile.Head
	if p.some {
		after = &p.last
	}
	s.list, s.err = p.keys.After(s.list[:0], after, p.k.first, p.k.last, p.n, p.k.reverse)
	if s.rows = len(s.list); s.rows > 0 {
		s.last = s.list[s.rows-1]
		p.last, p.some = s.last, true
	}
	p.end = s.err != nil || s.rows < p.n
	p.n = min(2*p.n, manyHeads)
}

// spare gives a step that looks by itself.
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

func (p *pageRows) given() (int64, *sqlitefile.Head) {
	if p.seen == 0 {
		return 0, nil
	}
	return p.seen, &p.upTo
}

// The rows of a time range, and a row by its id. A row's topic is looked at in the
// table, where it stands before the payload: that is not read.
const (
	selectHeads     = "SELECT rowid, topic_id, timestamp FROM messages WHERE timestamp BETWEEN ? AND ? ORDER BY timestamp, rowid"
	selectHeadsBack = "SELECT rowid, topic_id, timestamp FROM messages WHERE timestamp BETWEEN ? AND ? ORDER BY timestamp DESC, rowid DESC"
	selectRow       = "SELECT data, timestamp FROM messages WHERE rowid = ?"
)

// An engineRows has SQLite read the index.
type engineRows struct {
	k     *cursor
	heads *sqlite.Stmt
	row   *sqlite.Stmt
	after *sqlitefile.Head // rows up to this one were given before
	head  sqlitefile.Head
	n     int64 // rows so far, with those before
}

// engine begins after a row, the n-th, or nil for the start.
func (k *cursor) engine(n int64, after *sqlitefile.Head) (indexed, error) {
	e := &engineRows{k: k, after: after, n: n}
	if err := e.prepare(); err != nil {
		e.close()
		return nil, err
	}
	return e, nil
}

func (e *engineRows) prepare() (err error) {
	k := e.k
	if err := k.conn.engine(0); err != nil {
		return err
	}
	text := selectHeads
	if k.reverse {
		text = selectHeadsBack
	}
	if e.heads, err = k.conn.db.Prepare(text); err == nil {
		e.row, err = k.conn.db.Prepare(selectRow)
	}
	if err != nil {
		return err
	}
	first, last := k.first, k.last
	switch {
	case e.after == nil:
	case k.reverse:
		last = e.after.Time
	default:
		first = e.after.Time
	}
	return e.heads.Bind(first, last)
}

func (e *engineRows) next() (sqlitefile.Head, error) {
	for {
		more, err := e.heads.Step()
		if err != nil {
			return e.head, err
		}
		if !more {
			return e.head, io.EOF
		}
		h := sqlitefile.Head{ID: e.heads.Int(0), Topic: e.heads.Int(1), Time: e.heads.Int(2)}
		if a := e.after; a != nil && h.Time == a.Time && (h.ID == a.ID || (h.ID < a.ID) != e.k.reverse) {
			continue
		}
		e.head = h
		e.n++
		return h, nil
	}
}

func (e *engineRows) given() (int64, *sqlitefile.Head) { return e.n, &e.head }

func (e *engineRows) data(dst []byte) ([]byte, error) {
	defer e.row.Reset()
	if err := e.row.Bind(e.head.ID); err != nil {
		return dst, err
	}
	more, err := e.row.Step()
	if err != nil {
		return dst, err
	}
	if !more {
		return dst, fmt.Errorf("row %d, which the index has, is not there: %w", e.head.ID, storage.ErrCorrupt)
	}
	if !e.row.IsBytes(0) {
		return dst, errNoData
	}
	if !e.row.IsInt(1) {
		if err := e.k.x.r.warn("row", true, e.k.conn.part.path, "the time of row %d is no integer; it is taken from the index of times", e.head.ID); err != nil {
			return dst, err
		}
	} else if at := e.row.Int(1); at != e.head.Time {
		return dst, fmt.Errorf("row %d is at %d ns, the index says %d: %w", e.head.ID, at, e.head.Time, storage.ErrCorrupt)
	}
	return append(dst, e.row.Bytes(0)...), nil // SQLite's memory is not the caller's to change
}

func (e *engineRows) close() {
	for _, s := range []*sqlite.Stmt{e.heads, e.row} {
		if s != nil {
			s.Finalize()
		}
	}
}
