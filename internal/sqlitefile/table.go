package sqlitefile

import (
	"io"

	"github.com/bagconv/bagconv/internal/sqlite"
)

// A Table is messages of a database that is only read. It holds no file: the
// database comes with each call, so that every goroutine can have its own. It is
// safe for concurrent use.
type Table struct {
	h     sqlite.Header
	size  int64 // bytes of the database
	root  uint32
	index uint32 // root of the index of timestamps; 0: no index of the usual kind
}

// Indexed reports whether there is an index for NewFinder.
func (t *Table) Indexed() bool { return t.index != 0 }

// NewTable looks at the database of size bytes that r shows. What is not of the
// kind that this package knows is an error that wraps ErrDeclined; what
// contradicts itself, one that wraps storage.ErrCorrupt or storage.ErrTruncated.
//
// Auto-vacuum and reserved bytes are fine: neither changes how a tree is read. A
// header with a write-ahead log is declined, because r may not be the whole database. A caller that
// has applied the log shows a header without one.
func NewTable(r io.ReaderAt, size int64) (*Table, error) {
	h, err := sqlite.ReadHeader(r, size)
	if err != nil {
		return nil, err
	}
	switch {
	case h.WAL:
		return nil, declined("the database has a write-ahead log")
	case h.Text != 1:
		return nil, declined("the text is not UTF-8")
	case h.Format < 1 || h.Format > 4:
		return nil, declined("schema format %d", h.Format)
	}
	list, err := readSchema(r, size, h)
	if err != nil {
		return nil, err
	}
	e, err := findMessages(list)
	if err != nil {
		return nil, err
	}
	return &Table{h: h, size: size, root: e.root, index: findIndex(list)}, nil
}

// A Row is a row of messages. It is valid during the call that gets it.
type Row struct {
	ID    int64 // rowid
	Topic int64 // topic_id
	Time  int64 // timestamp, ns since 1970
	Size  int   // bytes of data; no more than the database has

	// What is of other types than rosbag2 writes: Time is 0, or there is no data.
	NoTime, NoData bool

	local []byte // the data, or the start of it; with tail, if it has all
	next  uint32 // overflow page with what follows
	tail  int    // bytes of the columns after the data, if a salvaged table has some
}

// Local returns the data as far as it lies in the leaf: all of it, when it is Size
// bytes long.
func (r *Row) Local() []byte { return r.local[:min(len(r.local), r.Size)] }

// NewRow returns a row that was read in another way, with its data. data is nil if only
// its size is known.
func NewRow(id, topic, time int64, size int, data []byte) *Row {
	return &Row{ID: id, Topic: topic, Time: time, Size: size, local: data}
}

// A Scanner reads rows of a table, in the order of their rowids. It belongs to
// one goroutine.
type Scanner struct {
	walker
	root  uint32
	limit int64  // payload bytes that a scan may still return
	spare []byte // for a copy of the leaf while chains are followed
	row   Row
	f     func(*Row) error
}

// NewScanner makes a scanner that reads the table from r, which shows the same
// database as NewTable's r, block bytes at once. It keeps 8 such blocks.
func (t *Table) NewScanner(r io.ReaderAt, block int64) *Scanner {
	s := &Scanner{root: t.root, spare: make([]byte, t.h.Page)}
	s.pager = newPager(r, t.size, t.h, block)
	s.walker.leaf = s.leaf
	return s
}

// Scan calls f for the rows from lo to hi, in order, and returns the first error:
// the error of f as it is, or damage, which wraps storage.ErrCorrupt or
// storage.ErrTruncated. f was called with all rows before it. Rows that together claim
// more bytes than the database has are damage.
func (s *Scanner) Scan(lo, hi int64, f func(*Row) error) error {
	s.lo, s.hi, s.f = lo, hi, f
	s.limit = s.size
	err := s.walk(s.root)
	s.f = nil
	return err
}

// leaf passes on the rows of a leaf, all of which must be from lo to hi.
func (s *Scanner) leaf(no uint32, b []byte, lo, hi int64) error {
	if no == 1 {
		return corrupt("page 1 in the tree of messages")
	}
	n := cells(b)
	if n < 0 {
		return corrupt("page %d: %d cells", no, n)
	}
	copied := false
	var c cell
	var m message
	for i := range n {
		at := cellAt(b, i)
		if at < 8+2*n || at >= len(b) || !s.cell(b, at, &c) {
			return corrupt("page %d: cell %d of %d at %d", no, i, n, at)
		}
		if c.rowid < lo || c.rowid > hi {
			return corrupt("page %d: rowid %d is not between %d and %d", no, c.rowid, lo, hi)
		}
		if c.rowid < s.lo {
			lo = c.rowid + 1
			continue
		}
		if c.rowid > s.hi {
			return nil
		}
		if parseRow(c.local, c.total, &m) > isOdd {
			return corrupt("page %d: the record of row %d", no, c.rowid)
		}
		if s.limit -= int64(c.total); s.limit < 0 {
			return corrupt("page %d: rows of more bytes than the database has", no)
		}
		if c.next != 0 && !copied { // its block may be replaced while a chain is read
			b, copied = s.spare[:copy(s.spare, b)], true
			s.cell(b, at, &c)
		}
		s.row = Row{ID: c.rowid, Topic: m.topic, Time: m.time, Size: m.size, NoTime: m.noTime, NoData: m.noData,
			local: c.local[m.start:], next: c.next}
		if err := s.f(&s.row); err != nil {
			return err
		}
		if c.rowid == hi { // and hi may be the greatest of all
			if i+1 < n {
				return corrupt("page %d: rows after rowid %d", no, hi)
			}
			return nil
		}
		lo = c.rowid + 1
	}
	return nil
}

// Append appends the data of a row to dst, from within the call that got the row.
// With an error dst is as long as before.
func (s *Scanner) Append(dst []byte, row *Row) ([]byte, error) { return s.append(dst, row) }

func (p *pager) append(dst []byte, row *Row) ([]byte, error) {
	if len(row.local) >= row.Size {
		return append(dst, row.Local()...), nil
	}
	n := len(dst)
	dst = grow(dst, row.Size+row.tail)
	k := copy(dst[n:], row.local)
	if err := p.chain(dst[n+k:], row.next); err != nil {
		return dst[:n], err
	}
	return dst[:n+row.Size], nil
}

// grow makes dst n bytes longer, by half at least if it must move.
func grow(dst []byte, n int) []byte {
	if cap(dst)-len(dst) >= n {
		return dst[:len(dst)+n]
	}
	more := make([]byte, len(dst)+n, max(len(dst)+n, cap(dst)+cap(dst)/2))
	copy(more, dst)
	return more
}
