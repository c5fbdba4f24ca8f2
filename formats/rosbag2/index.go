package rosbag2

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A block is a range of rowids in a part.
type block struct {
	part   *part
	lo, hi int64
	bytes  int64 // of the pages that hold its rows, about
}

const (
	blockBytes     = 2 << 20   // of a block's pages
	zstdBlockBytes = 512 << 10 // of rows that are compressed one by one
	maxTreeDepth   = 20        // SQLite's own limit
)

// blocks cuts a part into ranges of about equal size. It walks the tree of
// messages, but only its interior pages and those leaves whose rows are large:
// the page numbers tell how much lies between two leaves, because recordings
// are written in order. A tree that cannot be walked is cut by rowid alone.
func (p *part) blocks(ctx context.Context, src io.ReaderAt) ([]block, error) {
	if p.empty {
		return nil, nil
	}
	target := int64(blockBytes)
	if p.zstdRows {
		target = zstdBlockBytes
	}
	w := &treeWalk{ctx: ctx, src: src, page: p.head.size, usable: p.head.usable, total: p.real(), seen: map[int64]bool{}}
	err := w.interior(p.tables.root, maxRowID, 0)
	if err == nil {
		var list []block
		if list, err = w.cut(p, target); err == nil {
			return list, nil
		}
	}
	if !isDamage(err) {
		return nil, err
	}
	return p.guess(target), nil
}

// guess cuts by rowid, where the tree is damaged: the rows of sound pages are
// still found, range by range.
func (p *part) guess(target int64) []block {
	lo, hi, n := p.first, p.end, p.dense()
	if n < 0 || n > p.real()/8 {
		return []block{{part: p, lo: lo, hi: hi, bytes: p.real()}}
	}
	each := max(p.real()/max(n, 1), 1)
	step := max(target/each, 1)
	var list []block
	for ; lo <= hi; lo += step {
		end := hi
		if step-1 < hi-lo {
			end = lo + step - 1
		}
		list = append(list, block{part: p, lo: lo, hi: end, bytes: (end - lo + 1) * each})
		if end == hi {
			break
		}
	}
	return list
}

// A treeWalk lists the leaves of a table. A page of a table's tree is
// (https://www.sqlite.org/fileformat2.html section 1.6):
//
//	0  1  5 interior, 13 leaf
//	3  2  number of cells
//	8  4  interior only: page of the right-most child
//	then  2 bytes for each cell: its offset in the page
//
//	cell of an interior page:  page of the left child (4), greatest rowid there (varint)
//	cell of a leaf:            payload bytes (varint), rowid (varint), payload
//
// Page 1 has the 100 bytes of the database header before it. It is never the
// root of messages.
type treeWalk struct {
	ctx    context.Context
	src    io.ReaderAt
	page   int64
	usable int64
	total  int64 // bytes of the database: it has no more pages than this holds
	seen   map[int64]bool
	leaves []leaf
	buf    []byte
}

// A leaf is a page with rows, the last of which is at most upper.
type leaf struct{ page, upper int64 }

func (w *treeWalk) read(number int64, buf []byte) error {
	if number < 2 || number > w.total/w.page+1 {
		return fmt.Errorf("tree of messages: page %d: %w", number, storage.ErrCorrupt)
	}
	return iox.ReadFull(w.src, buf, (number-1)*w.page)
}

// interior lists the leaves under a page whose rows are at most upper. The
// children of an interior page are taken for leaves when the first of them is:
// all leaves of a tree are equally deep.
func (w *treeWalk) interior(number, upper int64, depth int) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if w.seen[number] || depth > maxTreeDepth {
		return fmt.Errorf("tree of messages: page %d comes twice, or is too deep: %w", number, storage.ErrCorrupt)
	}
	w.seen[number] = true
	buf := make([]byte, w.page)
	if err := w.read(number, buf); err != nil {
		return err
	}
	switch buf[0] {
	case 13:
		w.leaves = append(w.leaves, leaf{number, upper})
		return nil
	case 5:
	default:
		return fmt.Errorf("tree of messages: page %d is of kind %d: %w", number, buf[0], storage.ErrCorrupt)
	}
	cells := int64(binary.BigEndian.Uint16(buf[3:]))
	if 12+2*cells > w.usable || cells == 0 {
		return fmt.Errorf("tree of messages: page %d has %d cells: %w", number, cells, storage.ErrCorrupt)
	}
	leaves := false
	child := func(i int64, page, upper int64) error {
		if i == 0 {
			var kind [1]byte
			if err := w.read(page, kind[:]); err != nil {
				return err
			}
			leaves = kind[0] == 13
		}
		if !leaves {
			return w.interior(page, upper, depth+1)
		}
		if int64(len(w.leaves)) > w.total/w.page {
			return fmt.Errorf("tree of messages: more leaves than pages: %w", storage.ErrCorrupt)
		}
		w.leaves = append(w.leaves, leaf{page, upper})
		return nil
	}
	for i := range cells {
		at := int64(binary.BigEndian.Uint16(buf[12+2*i:]))
		if at < 12+2*cells || at+5 > w.usable {
			return fmt.Errorf("tree of messages: page %d: a cell at %d: %w", number, at, storage.ErrCorrupt)
		}
		key, n := varint(buf[at+4 : w.usable])
		if n == 0 {
			return fmt.Errorf("tree of messages: page %d: a rowid is cut: %w", number, storage.ErrCorrupt)
		}
		if err := child(i, int64(binary.BigEndian.Uint32(buf[at:])), key); err != nil {
			return err
		}
	}
	return child(cells, int64(binary.BigEndian.Uint32(buf[8:])), upper)
}

// cut joins the leaves, or the rows of a leaf with large ones, to blocks.
func (w *treeWalk) cut(p *part, target int64) ([]block, error) {
	var list []block
	open := block{part: p, lo: minRowID}
	add := func(upper, bytes int64) {
		if open.bytes > 0 && open.bytes+bytes > target+target/2 {
			list = append(list, open)
			open = block{part: p, lo: open.hi + 1}
		}
		open.hi = upper
		open.bytes += bytes
		if open.bytes >= target && upper != maxRowID {
			list = append(list, open)
			open = block{part: p, lo: upper + 1}
		}
	}
	before := minRowIDUpper
	for i, l := range w.leaves {
		if l.upper < before || l.upper == before && i > 0 {
			return nil, fmt.Errorf("tree of messages: rowids do not ascend: %w", storage.ErrCorrupt)
		}
		before = l.upper
		gap := int64(1)
		if i > 0 {
			gap = max(gap, distance(w.leaves[i-1].page, l.page))
		}
		if i+1 < len(w.leaves) {
			gap = max(gap, distance(l.page, w.leaves[i+1].page))
		} else {
			gap = max(gap, distance(l.page, w.total/w.page+1))
		}
		if gap*w.page <= max(target/16, w.page) {
			add(l.upper, gap*w.page)
		} else if err := w.rows(l, add); err != nil {
			return nil, err
		}
	}
	if open.bytes > 0 {
		open.hi = maxRowID
		list = append(list, open)
	}
	return list, nil
}

const minRowIDUpper = int64(minRowID)

// distance is how many pages there are from one leaf to the next. Backwards
// means that the order tells nothing.
func distance(a, b int64) int64 {
	if b <= a {
		return 1 << 30
	}
	return b - a
}

// rows adds the rows of a leaf one by one, with their true sizes.
func (w *treeWalk) rows(l leaf, add func(upper, bytes int64)) error {
	if w.buf == nil {
		w.buf = make([]byte, w.page)
	}
	if err := w.read(l.page, w.buf); err != nil {
		return err
	}
	cells := int64(binary.BigEndian.Uint16(w.buf[3:]))
	if w.buf[0] != 13 || 8+2*cells > w.usable {
		return fmt.Errorf("tree of messages: page %d is no leaf: %w", l.page, storage.ErrCorrupt)
	}
	if cells == 0 {
		add(l.upper, 1)
		return nil
	}
	before := minRowIDUpper
	for i := range cells {
		at := int64(binary.BigEndian.Uint16(w.buf[8+2*i:]))
		if at < 8+2*cells || at >= w.usable {
			return fmt.Errorf("tree of messages: page %d: a cell at %d: %w", l.page, at, storage.ErrCorrupt)
		}
		size, n := varint(w.buf[at:w.usable])
		id, m := varint(w.buf[min(at+int64(n), w.usable):w.usable])
		if n == 0 || m == 0 || size < 0 || size > w.total || id > l.upper || i > 0 && id <= before {
			return fmt.Errorf("tree of messages: page %d: a row of %d bytes: %w", l.page, size, storage.ErrCorrupt)
		}
		before = id
		if i == cells-1 {
			id = l.upper
		}
		add(id, max(size, 1))
	}
	return nil
}

// varint reads SQLite's big-endian number of 1 to 9 bytes; n is 0 when it is cut.
func varint(b []byte) (v int64, n int) {
	var u uint64
	for i, c := range b {
		if i == 8 {
			return int64(u<<8 | uint64(c)), 9
		}
		u = u<<7 | uint64(c&0x7f)
		if c < 0x80 {
			return int64(u), i + 1
		}
	}
	return 0, 0
}
