package rosbag2

import (
	"fmt"
	"io"

	"github.com/bagconv/bagconv/internal/sqlitefile"
	"github.com/bagconv/bagconv/storage"
)

// Rows in the order of the index are read on two routes, as those of blocks are
// (rows.go): page by page, and by SQLite where the pages are of another kind.

// A pageRows reads the index and the heads of rows from pages: some rows at
// first, and more at once the longer it goes on.
type pageRows struct {
	k    *cursor
	f    *sqlitefile.Finder
	list []sqlitefile.Head
	at   int // in list, of the next one
	n    int // how many are asked for
	last sqlitefile.Head
}

// How many heads are looked for at once.
const (
	fewHeads  = 8
	manyHeads = 4096
)

func (k *cursor) pages(t *sqlitefile.Table) (indexed, error) {
	f, err := t.NewFinder(k.conn.src)
	if err != nil {
		return nil, err
	}
	return &pageRows{k: k, f: f, n: fewHeads}, nil
}

func (p *pageRows) next() (h sqlitefile.Head, err error) {
	if p.at == len(p.list) {
		var after *sqlitefile.Head
		if p.at > 0 {
			p.last = p.list[p.at-1]
			after = &p.last
		}
		p.list, err = p.f.After(p.list[:0], after, p.k.first, p.k.last, p.n, p.k.reverse)
		if err != nil {
			p.list = p.list[:0]
			return h, err
		}
		if len(p.list) == 0 {
			return h, io.EOF
		}
		p.at, p.n = 0, min(2*p.n, manyHeads)
	}
	p.at++
	return p.list[p.at-1], nil
}

func (p *pageRows) data(dst []byte) ([]byte, error) { return p.f.Append(dst, &p.list[p.at-1]) }

func (p *pageRows) close() {}

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

func (e *engineRows) close() {
	for _, s := range []*stmt{e.heads, e.row} {
		if s != nil {
			s.finalize()
		}
	}
}
