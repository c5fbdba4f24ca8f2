package sqlitefile

import (
	"encoding/binary"
	"math"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/sqlite"
)

// maxDepth is the most levels of a tree, SQLite's own limit.
const maxDepth = 20

// A walker visits the leaves of a table's tree, in the order of rowids, as far as
// they can have rows from lo to hi. A page is
// (https://www.sqlite.org/fileformat2.html section 1.6):
//
//	0  1  5 interior, 13 leaf
//	3  2  number of cells
//	5  2  where the cells begin
//	8  4  interior only: page of the right-most child
//	then  2 bytes for each cell: its offset in the page
//
//	cell of an interior page:  page of the left child (4), greatest rowid there (varint)
//	cell of a leaf:            payload bytes (varint), rowid (varint), payload
//
// Keys must ascend and stay between the parent's keys. So each page with a key
// is visited once at most, whatever a damaged tree points at, and a page without
// keys has one child and adds to the depth.
type walker struct {
	*pager
	lo, hi int64
	paths  [maxDepth + 1][]byte // copies of the interior pages on the way down

	// leaf is called with each leaf; its rows must be from lo to hi. b is nil
	// if depth is set.
	leaf func(no uint32, b []byte, lo, hi int64) error

	// depth, unless 0, is where the leaves are: they are not read.
	depth int

	// large is, with depth, from how many pages between two leaves on the rows of the first are
	// large: the function leaf then reads that leaf. 0: it reads no leaf.
	large int64
}

// walk visits the tree under page no.
func (w *walker) walk(no uint32) error {
	return w.visit(no, math.MinInt64, math.MaxInt64, 0)
}

func (w *walker) visit(no uint32, lo, hi int64, depth int) error {
	if depth > 0 && depth == w.depth {
		return w.leaf(no, nil, lo, hi)
	}
	b, err := w.get(no)
	if err != nil {
		return err
	}
	if no == 1 {
		b = b[sqlite.HeaderLen:] // offsets are from the page's start: see cells
	}
	switch b[0] {
	case tableLeaf:
		return w.leaf(no, b, lo, hi)
	case tableInterior:
	default:
		return corrupt("page %d: kind %d in a table's tree", no, b[0])
	}
	if depth == maxDepth {
		return corrupt("page %d: the tree is too deep", no)
	}
	if w.paths[depth] == nil {
		w.paths[depth] = make([]byte, w.page)
	}
	path := w.paths[depth][:len(b)]
	copy(path, b)
	base := w.usable - len(path)
	cells := int(binary.BigEndian.Uint16(path[3:]))
	if 12+2*cells > len(path) {
		return corrupt("page %d: %d cells", no, cells)
	}
	w.prefetch(path, base, cells, depth+1 == w.depth)
	for i := range cells {
		at := int(binary.BigEndian.Uint16(path[12+2*i:])) - base
		if at < 12+2*cells || at+5 > len(path) {
			return corrupt("page %d: a cell at %d", no, at+base)
		}
		key, n := varint(path[at+4:])
		if n == 0 || key < lo || key > hi {
			return corrupt("page %d: rowid %d is not between %d and %d", no, key, lo, hi)
		}
		if key >= w.lo {
			if err := w.visit(binary.BigEndian.Uint32(path[at:]), lo, key, depth+1); err != nil {
				return err
			}
		}
		if key >= w.hi {
			return nil
		}
		if key == math.MaxInt64 {
			return corrupt("page %d: no rowid is greater than %d", no, key)
		}
		lo = key + 1
	}
	if lo > hi {
		return corrupt("page %d: nothing is left for its last child", no)
	}
	return w.visit(binary.BigEndian.Uint32(path[8:]), lo, hi, depth+1)
}

// prefetch begins to read the children of an interior page that will be read, of a distant file.
// leaves is set if the children are leaves: only leaves that large makes necessary are read.
func (w *walker) prefetch(path []byte, base, cells int, leaves bool) {
	if !iox.Distant(w.r) || w.lo == w.hi || leaves && w.large == 0 {
		return
	}
	var children []uint32
	last := binary.BigEndian.Uint32(path[8:])
	for i := range cells {
		at := int(binary.BigEndian.Uint16(path[12+2*i:])) - base
		if at < 0 || at+5 > len(path) {
			return // visit reports it
		}
		key, _ := varint(path[at+4:])
		if key >= w.lo {
			children = append(children, binary.BigEndian.Uint32(path[at:]))
		}
		if key >= w.hi {
			last = 0
			break
		}
	}
	if last != 0 {
		children = append(children, last)
	}
	var soon []iox.Span
	for i, no := range children {
		near := i+1 < len(children) && distance(int64(no), int64(children[i+1])) <= w.large
		if before := i == 0 || distance(int64(children[i-1]), int64(no)) <= w.large; !leaves || !near || !before {
			soon = append(soon, iox.Span{Off: (int64(no) - 1) * int64(w.page), Len: int64(w.page)})
		}
	}
	iox.Prefetch(w.r, soon...)
}

// A cell is a row in a leaf.
type cell struct {
	rowid int64
	total int    // bytes of its record
	local []byte // the bytes that are in the leaf
	next  uint32 // the first overflow page, 0 without
}

// maxPayload bounds what a record claims, before it is read.
func (p *pager) maxPayload() int64 { return min(p.size, math.MaxInt32) }

// cell reads the cell at an offset in a leaf.
func (p *pager) cell(b []byte, at int, c *cell) bool {
	b = b[at:]
	total, n := varint(b)
	if n == 0 || total < 0 || total > p.maxPayload() {
		return false
	}
	rowid, m := varint(b[n:])
	if m == 0 {
		return false
	}
	b = b[n+m:]
	c.rowid, c.total, c.next = rowid, int(total), 0
	local := localSize(c.total, p.usable)
	if local > len(b) {
		return false
	}
	c.local = b[:local]
	if local < c.total {
		if local+4 > len(b) {
			return false
		}
		c.next = binary.BigEndian.Uint32(b[local:])
	}
	return true
}

// cellAt returns the offset of cell i in a leaf, which cells has passed.
func cellAt(b []byte, i int) int { return int(binary.BigEndian.Uint16(b[8+2*i:])) }

// cells returns the number of cells of a leaf, -1 when it cannot be.
func cells(b []byte) int {
	n := int(binary.BigEndian.Uint16(b[3:]))
	if 8+2*n > len(b) {
		return -1
	}
	return n
}

func get16(b []byte) uint16 { return binary.BigEndian.Uint16(b) }
func get32(b []byte) uint32 { return binary.BigEndian.Uint32(b) }
