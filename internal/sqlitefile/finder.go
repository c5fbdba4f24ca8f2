package sqlitefile

import (
	"cmp"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/iox"
)

// A Finder reads rows of a table in the order of time, by the index of timestamps:
// first the keys of many rows, then their heads, then the data of rows that are
// wanted. Of the table it reads the pages on the way to a row and the leaf in which
// the row begins, leaves that follow each other at once; pages that large rows
// overflow into are read for data only. It belongs to one goroutine; others may read
// the heads of other rows with finders of their own.
type Finder struct {
	Few bool // the data of few rows is asked for: leaves are not kept for them

	index  indexWalk
	leaves walker
	table  *Table
	order  []int32 // of heads, by rowid
	list   []leafRef
	buf    []byte // of leaves: all in list when they are kept, else of one run
	kept   bool
	chain  []byte // of overflow pages
}

// A Head is what stands before a row's data. The time is the index's.
type Head struct {
	Time, ID, Topic int64

	NoTime, NoData bool // of the row: see Row

	leaf uint32
	slot int32 // in Finder.list
	at   int32 // of the cell in it
}

// A leafRef is a leaf with heads that are asked for: order[first:] begins with them.
type leafRef struct {
	no     uint32
	lo, hi int64
	first  int
}

// NewFinder makes a finder that reads the table from r, which shows the same
// database as NewTable's r. Without an index on the timestamps alone the error
// wraps ErrDeclined.
func (t *Table) NewFinder(r io.ReaderAt) (f *Finder, err error) {
	if !t.Indexed() {
		return nil, declined("messages has no index on the timestamps alone")
	}
	f = t.newFinder(r)
	f.leaves.depth, err = f.leaves.height(t.root)
	return f, err
}

// findIndex returns the root of the index of timestamps, 0 if there is none.
func findIndex(list []entry) uint32 {
	for _, e := range list {
		if e.kind != "index" || !strings.EqualFold(e.table, "messages") || len(e.sql) < 3 || e.root < 2 {
			continue
		}
		e.sql[2] = "" // its name
		switch strings.Join(e.sql, " ") {
		case "create index  on messages ( timestamp )", "create index  on messages ( timestamp asc )":
			return e.root
		}
	}
	return 0
}

func (t *Table) newFinder(r io.ReaderAt) *Finder {
	f := &Finder{table: t, index: indexWalk{pager: newPager(r, t.size, t.h, 0), root: t.index}}
	f.leaves.pager = newPager(r, t.size, t.h, 0)
	return f
}

// Another makes a finder of the same table that reads from r.
func (f *Finder) Another(r io.ReaderAt) *Finder {
	g := f.table.newFinder(r)
	g.Few = f.Few
	g.leaves.depth = f.leaves.depth
	return g
}

// After returns the times and rowids of up to n rows with times from first to last that
// come after a row, nil for the start: in the order of time and then of rowids, or
// in reverse. They are appended to list.
func (f *Finder) After(list []Head, after *Head, first, last int64, n int, reverse bool) ([]Head, error) {
	had := len(list)
	x := &f.index
	x.lo, x.hi = indexKey{first, math.MinInt64}, indexKey{last, math.MaxInt64}
	if after != nil {
		var ok bool
		if k := (indexKey{after.Time, after.ID}); reverse {
			x.hi, ok = k.before()
		} else {
			x.lo, ok = k.after()
		}
		if !ok {
			return list, nil
		}
	}
	if x.hi.less(x.lo) {
		return list, nil
	}
	x.out, x.n, x.reverse = list, had+n, reverse
	if _, err := x.visit(x.root, minKey, maxKey, 0); err != nil {
		return list, err
	}
	list, x.out = x.out, nil
	return list, nil
}

// Heads fills in what the table has of rows that After of any finder of the table gave.
// An entry of the index without a row, or with a row of another time, is damage.
func (f *Finder) Heads(list []Head) error {
	if len(list) == 0 {
		return nil
	}
	f.order = f.order[:0]
	for i := range list {
		f.order = append(f.order, int32(i))
	}
	byID := func(a, b int32) int { return cmp.Compare(list[a].ID, list[b].ID) }
	if list[0].ID > list[len(list)-1].ID {
		slices.Reverse(f.order)
	}
	if !slices.IsSortedFunc(f.order, byID) {
		slices.SortFunc(f.order, byID)
	}
	id := func(i int) int64 { return list[f.order[i]].ID }
	w, next := &f.leaves, 0
	w.lo, w.hi = id(0), id(len(list)-1)
	f.list = f.list[:0]
	w.leaf = func(no uint32, _ []byte, lo, hi int64) error {
		if next == len(list) || id(next) > hi {
			return nil
		}
		f.list = append(f.list, leafRef{no, lo, hi, next})
		for next < len(list) && id(next) <= hi {
			next++
		}
		if next < len(list) {
			w.lo = id(next) // leaves before it are skipped
		}
		return nil
	}
	if err := w.walk(f.table.root); err != nil {
		return err
	}
	return f.read(list)
}

const (
	maxRun  = 128 << 10 // how much is read of leaves at once, bytes
	maxKept = 2 << 20   // how much of the leaves is kept for the data of small rows
)

// read reads the leaves in list, and leaves that follow each other at once.
func (f *Finder) read(list []Head) error {
	w := &f.leaves
	keep := !f.Few && len(f.list)*w.page <= maxKept
	f.kept = false
	for i := 0; i < len(f.list); {
		no, n := f.list[i].no, 1
		for n < maxRun/w.page && i+n < len(f.list) && f.list[i+n].no == no+uint32(n) {
			n++
		}
		if no < 2 || uint64(no)+uint64(n)-1 > uint64(w.pages) {
			return corrupt("page %d of %d in the tree of messages", no, w.pages)
		}
		from := 0
		if keep {
			from = i * w.page
		}
		f.buf = slices.Grow(f.buf[:from], n*w.page)[:from+n*w.page]
		if err := iox.ReadFull(w.r, f.buf[from:], int64(no-1)*int64(w.page)); err != nil {
			return err
		}
		for k := range n {
			next := len(list)
			if i+k+1 < len(f.list) {
				next = f.list[i+k+1].first
			}
			l := &f.list[i+k]
			if err := f.leaf(i+k, f.buf[from+k*w.page:][:w.usable], list, f.order[l.first:next]); err != nil {
				return err
			}
		}
		i += n
	}
	f.kept = keep
	return nil
}

// leaf fills in the heads that the leaf in slot has. order lists them by rowid.
func (f *Finder) leaf(slot int, b []byte, list []Head, order []int32) error {
	l, n := &f.list[slot], cells(b)
	if b[0] != tableLeaf || n < 0 {
		return corrupt("page %d is not a leaf of messages", l.no)
	}
	var c cell
	var m message
	lo := l.lo
	for i := 0; i < n && len(order) > 0; i++ {
		at := cellAt(b, i)
		if at < 8+2*n || at >= len(b) || !f.leaves.cell(b, at, &c) {
			return corrupt("page %d: cell %d of %d at %d", l.no, i, n, at)
		}
		if c.rowid < lo || c.rowid > l.hi || i > 0 && c.rowid == lo {
			return corrupt("page %d: rowid %d is not between %d and %d", l.no, c.rowid, lo, l.hi)
		}
		lo = c.rowid
		h := &list[order[0]]
		if c.rowid < h.ID {
			continue
		}
		if c.rowid > h.ID {
			break
		}
		if parseRow(c.local, c.total, &m) > isOdd {
			return corrupt("page %d: the record of row %d", l.no, c.rowid)
		}
		if m.time != h.Time && !m.noTime {
			return corrupt("row %d is at %d ns, the index says %d", h.ID, m.time, h.Time)
		}
		h.NoTime, h.NoData = m.noTime, m.noData
		h.Topic, h.leaf, h.slot, h.at = m.topic, l.no, int32(slot), int32(at)
		order = order[1:]
	}
	if len(order) > 0 {
		return corrupt("row %d, which the index has, is not there", list[order[0]].ID)
	}
	return nil
}

// Append appends the data of a row that Heads was called with last to dst. With an error dst is as long as before.
func (f *Finder) Append(dst []byte, h *Head) ([]byte, error) {
	w := &f.leaves
	b, err := f.get(h)
	if err != nil {
		return dst, err
	}
	var c cell
	var m message
	if int(h.at) >= len(b) || !w.cell(b, int(h.at), &c) || c.rowid != h.ID || parseRow(c.local, c.total, &m) > isOdd {
		return dst, corrupt("page %d: row %d has changed", h.leaf, h.ID)
	}
	if m.noData {
		return dst, nil
	}
	n := len(dst)
	dst = grow(dst, m.size)
	k := n + copy(dst[n:], c.local[m.start:])
	if c.next == 0 {
		return dst, nil
	}
	if err := f.overflow(dst[k:], c.next); err != nil {
		return dst[:n], err
	}
	return dst, nil
}

// get returns the leaf of a row, which has been read before.
func (f *Finder) get(h *Head) ([]byte, error) {
	w, slot := &f.leaves, int(h.slot)
	if f.kept && slot < len(f.list) && f.list[slot].no == h.leaf {
		return f.buf[slot*w.page:][:w.usable], nil
	}
	return w.get(h.leaf)
}

// overflow copies a chain of pages into dst, which it fills. They are taken to
// follow each other, as recorders write them; if they do not, the next ones are
// read one by one, and more at once the longer they do again.
func (f *Finder) overflow(dst []byte, no uint32) error {
	w := &f.leaves
	for run := maxRun / w.page; len(dst) > 0; {
		n := min((len(dst)+w.usable-5)/(w.usable-4), run, max(maxRun/w.page, 1))
		if no == 0 || no > w.pages {
			return corrupt("overflow: page %d of %d", no, w.pages)
		}
		n = int(min(int64(n), int64(w.pages-no)+1))
		f.chain = slices.Grow(f.chain[:0], n*w.page)[:n*w.page]
		if err := iox.ReadFull(w.r, f.chain, int64(no-1)*int64(w.page)); err != nil {
			return err
		}
		run *= 2
		for k := range n {
			b := f.chain[k*w.page:][:w.usable]
			here := no
			no = get32(b)
			dst = dst[copy(dst, b[4:]):]
			if no != here+1 && k+1 < n {
				run = 1
				break
			}
		}
	}
	if no != 0 {
		return corrupt("overflow: goes on with page %d after a row's end", no)
	}
	return nil
}
