package rosbag2

import (
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/bagconv/bagconv/internal/sqlitefile"
	"github.com/bagconv/bagconv/storage"
)

// Rows in the order of the index are read on two routes, as those of blocks are
// (rows.go): page by page, and by SQLite where the pages are of another kind.

// A pageRows reads the index and the heads of rows from pages: some rows at first,
// and more at once the longer it goes on. Then it looks at some ahead, several steps
// at once.
//
//	index (on the cursor's connection)   keys of step 1, 2, 3, ...
//	heads (a connection for each step)        1 |--------|
//	                                          2  |--------|
//	                                          3   |--------|
type pageRows struct {
	k     *cursor
	keys  *sqlitefile.Finder
	last  sqlitefile.Head // whose key came last from the index
	some  bool            // there is one
	end   bool            // the index has no more
	n     int             // how many are asked for
	given int             // heads, up to those of cur
	cur   *step           // whose rows are given
	at    int             // in its list, of the next one
	soon  []*step         // ahead, in their order
	free  []*step
}

// How many rows are looked at in a step, and how many steps at once.
const (
	fewHeads  = 8
	manyHeads = 1024
	maxSteps  = 4
)

// A step is rows that are looked at together.
type step struct {
	conn *conn // of its own, or nil: the cursor's
	f    *sqlitefile.Finder
	list []sqlitefile.Head
	done chan error
}

func (k *cursor) pages(t *sqlitefile.Table) (indexed, error) {
	f, err := t.NewFinder(k.conn.src)
	if err != nil {
		return nil, err
	}
	return &pageRows{k: k, keys: f, n: fewHeads, cur: &step{f: f, done: make(chan error, 1)}}, nil
}

func (p *pageRows) next() (h sqlitefile.Head, err error) {
	if p.at == len(p.cur.list) {
		if err := p.advance(); err != nil {
			return h, err
		}
	}
	p.at++
	return p.cur.list[p.at-1], nil
}

// advance goes on to the next step, and has those behind it begin: so many that what
// is read in vain in the end is no more than a quarter of the rest.
func (p *pageRows) advance() error {
	if len(p.soon) == 0 {
		p.begin(p.cur, false)
	} else if p.cur.conn != nil {
		p.free = append(p.free, p.cur)
	}
	p.cur, p.at, p.soon = p.soon[0], 0, p.soon[1:]
	if err := <-p.cur.done; err != nil {
		p.cur.list = p.cur.list[:0]
		return err
	}
	if len(p.cur.list) == 0 {
		return io.EOF
	}
	p.given += len(p.cur.list)
	most := min(runtime.GOMAXPROCS(0), maxSteps, p.given/4/manyHeads)
	for most > 1 && len(p.soon) < most && !p.end {
		s, err := p.spare()
		if err != nil {
			return err
		}
		p.begin(s, true)
	}
	return nil
}

// begin has a step look at the next rows of the index; aside while others do.
func (p *pageRows) begin(s *step, aside bool) {
	var after *sqlitefile.Head
	if p.some {
		after = &p.last
	}
	var err error
	s.list, err = p.keys.After(s.list[:0], after, p.k.first, p.k.last, p.n, p.k.reverse)
	if n := len(s.list); n > 0 {
		p.last, p.some = s.list[n-1], true
	}
	p.end = err != nil || len(s.list) < p.n
	p.n = min(2*p.n, manyHeads)
	p.soon = append(p.soon, s)
	switch {
	case err != nil:
		s.done <- err
	case aside:
		go func() { s.done <- s.f.Heads(s.list) }()
	default:
		s.done <- s.f.Heads(s.list)
	}
}

// spare gives a step that has a connection of its own.
func (p *pageRows) spare() (*step, error) {
	if n := len(p.free); n > 0 {
		s := p.free[n-1]
		p.free = p.free[:n-1]
		return s, nil
	}
	c, err := p.k.x.r.acquire(p.k.conn.part)
	if err != nil {
		return nil, err
	}
	return &step{conn: c, f: p.keys.Another(c.src), done: make(chan error, 1)}, nil
}

func (p *pageRows) data(dst []byte) ([]byte, error) { return p.cur.f.Append(dst, &p.cur.list[p.at-1]) }

func (p *pageRows) close() (err error) {
	for _, s := range p.soon {
		<-s.done
	}
	for _, s := range append(append(p.free, p.soon...), p.cur) {
		if s.conn != nil {
			err = errors.Join(err, p.k.x.r.release(s.conn))
		}
	}
	return err
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
	heads *stmt
	row   *stmt
	after *sqlitefile.Head // rows up to this one were given before
	head  sqlitefile.Head
}

// engine begins after a row, nil for the start.
func (k *cursor) engine(after *sqlitefile.Head) (indexed, error) {
	e := &engineRows{k: k, after: after}
	if err := e.prepare(); err != nil {
		return nil, errors.Join(err, e.close())
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
	if e.heads, err = k.conn.db.prepare(text); err == nil {
		e.row, err = k.conn.db.prepare(selectRow)
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
	return e.heads.bind(first, last)
}

func (e *engineRows) next() (sqlitefile.Head, error) {
	for {
		more, err := e.heads.step()
		if err != nil {
			return e.head, err
		}
		if !more {
			return e.head, io.EOF
		}
		h := sqlitefile.Head{ID: e.heads.int(0), Topic: e.heads.int(1), Time: e.heads.int(2)}
		if a := e.after; a != nil && h.Time == a.Time && (h.ID == a.ID || (h.ID < a.ID) != e.k.reverse) {
			continue
		}
		e.head = h
		return h, nil
	}
}

func (e *engineRows) data(dst []byte) ([]byte, error) {
	defer e.row.reset()
	if err := e.row.bind(e.head.ID); err != nil {
		return dst, err
	}
	more, err := e.row.step()
	if err != nil {
		return dst, err
	}
	if !more {
		return dst, fmt.Errorf("row %d, which the index has, is not there: %w", e.head.ID, storage.ErrCorrupt)
	}
	if at := e.row.int(1); at != e.head.Time {
		return dst, fmt.Errorf("row %d is at %d ns, the index says %d: %w", e.head.ID, at, e.head.Time, storage.ErrCorrupt)
	}
	return append(dst, e.row.bytes(0)...), nil // SQLite's memory is not the caller's to change
}

func (e *engineRows) close() error {
	for _, s := range []*stmt{e.heads, e.row} {
		if s != nil {
			s.finalize()
		}
	}
	return nil
}
