package sqlitefile

import (
	"encoding/binary"
	"slices"
)

// writeIndex writes the tree of timestamp_idx but for its root. Entries are
// (timestamp, rowid) in that order.
//
// An index is a B-tree: an entry that no longer fits into its page goes up as the
// separator to the next one, and is not in a leaf.
func (l *Loader) writeIndex() error {
	x := indexTree{l: l}
	var cell [32]byte
	err := l.times.each(func(t, rowid int64) error {
		tt, rt := serial(t), serial(rowid)
		cell[1], cell[2], cell[3] = 3, tt, rt
		n := 4 + putInt(cell[4:], t, tt)
		n += putInt(cell[n:], rowid, rt)
		cell[0] = byte(n - 1)
		return x.push(0, 0, cell[:n])
	})
	if err != nil {
		return err
	}
	return x.end()
}

// An indexTree is the index while it is written. Level 0 is the leaves.
type indexTree struct {
	l      *Loader
	levels []*level
}

func (x *indexTree) kind(height int) byte {
	if height == 0 {
		return indexLeaf
	}
	return indexInterior
}

// push adds an entry to a level; above the leaves child is what lies before it.
func (x *indexTree) push(height int, child uint32, entry []byte) error {
	if height == len(x.levels) {
		x.levels = append(x.levels, &level{cur: newPage(x.l.size, x.kind(height))})
	}
	lv := x.levels[height]
	n := len(entry)
	if height > 0 {
		n += 4
	}
	if lv.cur.fits(n) {
		x.set(lv.cur, height, child, entry)
		return nil
	}
	// The page is full: the entry goes up, and child is the page's right child.
	spare := lv.full
	if spare != nil {
		if err := x.put(height, spare, lv.up); err != nil {
			return err
		}
		spare.reset(x.kind(height))
	} else {
		spare = newPage(x.l.size, x.kind(height))
	}
	if height > 0 {
		lv.cur.setRight(child)
	}
	lv.full, lv.cur = lv.cur, spare
	lv.up = append(lv.up[:0], entry...)
	return nil
}

func (x *indexTree) set(p *page, height int, child uint32, entry []byte) {
	if height == 0 {
		copy(p.b[p.reserve(len(entry)):], entry)
		return
	}
	at := p.reserve(4 + len(entry))
	binary.BigEndian.PutUint32(p.b[at:], child)
	copy(p.b[at+4:], entry)
}

// put writes a page and sends the entry after it up.
func (x *indexTree) put(height int, p *page, up []byte) error {
	no, err := x.l.put(p)
	if err != nil {
		return err
	}
	return x.push(height+1, no, slices.Clone(up))
}

// end writes what is left. The last page of each level must have a cell: if it
// has none, its neighbour's last cell goes up, and what went up comes down.
func (x *indexTree) end() error {
	right := uint32(0) // the last page of the level below
	for height := 0; ; height++ {
		lv := x.levels[height]
		if height > 0 {
			lv.cur.setRight(right)
		}
		if lv.full == nil {
			x.l.indexRoot = lv.cur
			return nil
		}
		if lv.cur.cells == 0 {
			moved := slices.Clone(lv.full.last())
			lv.full.drop()
			child := uint32(0)
			if height > 0 {
				child = binary.BigEndian.Uint32(lv.full.b[8:]) // the neighbour's right child comes along
				lv.full.setRight(binary.BigEndian.Uint32(moved))
				moved = moved[4:]
			}
			x.set(lv.cur, height, child, lv.up)
			lv.up = moved
		}
		if err := x.put(height, lv.full, lv.up); err != nil {
			return err
		}
		no, err := x.l.put(lv.cur)
		if err != nil {
			return err
		}
		right = no
	}
}
