package sqlitefile

import (
	"context"
	"io"
	"math"
)

// A Range is rows that can be scanned by themselves.
type Range struct {
	Lo, Hi int64 // rowids, both included
	Bytes  int64 // of the pages that hold them, about
	Size   int64 // of the rows by the function that Ranges got; Bytes without one
}

// Ranges cuts the table, as r shows it, into ranges of about target bytes, which
// together are all rowids. It reads the interior pages of the tree, and
// leaves whose rows are large: the page numbers show how much lies between two
// leaves, because recordings are written in order.
//
// If size is not nil it returns how large a row is for the reader, in bytes, and
// target is about that. All leaves are then read. The row has only what is Local.
func (t *Table) Ranges(ctx context.Context, r io.ReaderAt, target int64, size func(*Row) int64) ([]Range, error) {
	block := int64(0)
	if size != nil {
		block = scanBlock
	}
	w := &walker{pager: newPager(r, t.size, t.h, block), lo: math.MinInt64, hi: math.MaxInt64}
	c := &cutter{w: w, target: target, size: size, left: t.size, seen: make([]uint64, (uint64(w.pages)+64)/64)}
	c.open.Lo = math.MinInt64
	w.large = max(target/16, int64(t.h.Page)) / int64(t.h.Page)
	w.leaf = func(no uint32, _ []byte, lo, hi int64) error {
		if c.leaves++; c.leaves&1023 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		return c.leaf(no, lo, hi)
	}
	var err error
	if w.depth, err = w.height(t.root); err != nil {
		return nil, err
	}
	if err := w.walk(t.root); err != nil {
		return nil, err
	}
	return c.end()
}

// height returns how many levels lie above the leaves.
func (w *walker) height(no uint32) (int, error) {
	for h := range maxDepth {
		b, err := w.get(no)
		if err != nil {
			return 0, err
		}
		if b[0] != tableInterior || no == 1 {
			return h, nil // the walk reports what is wrong with it
		}
		at := int(get16(b[12:]))
		if get16(b[3:]) == 0 {
			no = get32(b[8:])
		} else if at+4 <= len(b) {
			no = get32(b[at:])
		} else {
			return 0, corrupt("page %d: a cell at %d", no, at)
		}
	}
	return 0, corrupt("page %d: the tree is too deep", no)
}

// A cutter joins leaves, or the rows of a leaf with large ones, to ranges.
type cutter struct {
	w      *walker
	target int64
	size   func(*Row) int64
	left   int64    // bytes that rows may still claim
	seen   []uint64 // a bit for each page: leaves
	leaves int

	last   leafRange // waits for the next one, which shows its size
	before uint32    // the leaf before last, 0 for none
	open   Range
	list   []Range
}

type leafRange struct {
	no     uint32
	lo, hi int64
}

func (c *cutter) leaf(no uint32, lo, hi int64) error {
	if no < 2 || no > c.w.pages {
		return corrupt("page %d of %d in the tree of messages", no, c.w.pages)
	}
	bit := uint64(1) << (no % 64)
	if c.seen[no/64]&bit != 0 {
		return corrupt("page %d comes twice in the tree of messages", no)
	}
	c.seen[no/64] |= bit
	if c.last.no != 0 {
		if err := c.add(int64(no)); err != nil {
			return err
		}
		c.before = c.last.no
	}
	c.last = leafRange{no, lo, hi}
	return nil
}

// end closes the last range.
func (c *cutter) end() ([]Range, error) {
	if err := c.add(int64(c.w.pages) + 1); err != nil {
		return nil, err
	}
	if c.open.Bytes > 0 {
		c.list = append(c.list, c.open)
	}
	c.list[len(c.list)-1].Hi = math.MaxInt64
	return c.list, nil
}

// add takes the leaf that waits; next is the page of the one after it.
func (c *cutter) add(next int64) error {
	no := int64(c.last.no)
	pages := distance(no, next)
	if c.before != 0 {
		pages = max(pages, distance(int64(c.before), no))
	}
	page := int64(c.w.page)
	if c.size != nil || pages*page > max(c.target/16, page) {
		return c.rows()
	}
	c.push(c.last.hi, pages*page, pages*page)
	return nil
}

// distance returns how many pages there are from one leaf to the next. Backwards means
// that the order shows nothing.
func distance(a, b int64) int64 {
	if b <= a {
		return 1 << 30
	}
	return b - a
}

// rows adds the rows of the leaf that waits one by one, with their sizes.
func (c *cutter) rows() error {
	b, err := c.w.get(c.last.no)
	if err != nil {
		return err
	}
	n := cells(b)
	if b[0] != tableLeaf || n < 0 {
		return corrupt("page %d is not a leaf", c.last.no)
	}
	var cell cell
	lo := c.last.lo
	for i := range n {
		at := cellAt(b, i)
		if at < 8+2*n || at >= len(b) || !c.w.cell(b, at, &cell) {
			return corrupt("page %d: cell %d of %d at %d", c.last.no, i, n, at)
		}
		if cell.rowid < lo || cell.rowid > c.last.hi || i > 0 && cell.rowid == lo {
			return corrupt("page %d: rowid %d is not between %d and %d", c.last.no, cell.rowid, lo, c.last.hi)
		}
		if c.left -= int64(cell.total); c.left < 0 {
			return corrupt("page %d: rows of more bytes than the database has", c.last.no)
		}
		lo = cell.rowid
		if i == n-1 {
			cell.rowid = c.last.hi
		}
		bytes := int64(max(cell.total, 1))
		size := bytes
		var m message
		if c.size != nil && parseRow(cell.local, cell.total, &m) <= isOdd && !m.noData {
			size = max(c.size(&Row{ID: cell.rowid, Topic: m.topic, Time: m.time, Size: m.size, local: cell.local[m.start:]}), 1)
		}
		c.push(cell.rowid, bytes, size)
	}
	if n == 0 {
		c.push(c.last.hi, 1, 1)
	}
	return nil
}

// push adds what ends with rowid hi.
func (c *cutter) push(hi, bytes, size int64) {
	if c.open.Size > 0 && c.open.Size+size > c.target+c.target/2 {
		c.cut()
	}
	c.open.Hi = hi
	c.open.Bytes += bytes
	c.open.Size += size
	if c.open.Size >= c.target && hi != math.MaxInt64 {
		c.cut()
	}
}

func (c *cutter) cut() {
	c.list = append(c.list, c.open)
	c.open = Range{Lo: c.open.Hi + 1}
}
