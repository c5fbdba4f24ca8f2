package sqlitefile

import (
	"encoding/binary"
	"slices"
)

// A level is the interior pages of a tree at one height. The page that is full
// is held back until the one after it has enough: the last page of a level would
// otherwise be left with too little, and could not take from its neighbour.
type level struct {
	full *page // held back; nil at first
	cur  *page
	up   []byte // what goes up with full: the table's key as a varint, the index's cell
}

// A root is a page to be written in place at the end.
type root struct {
	no uint32
	b  []byte
}

// pushTable adds a child to a level of the table. key is its greatest rowid.
//
// Every child is a cell at first; when its page is full the last one becomes the
// right child, and its key goes up.
func (l *Loader) pushTable(height int, child uint32, key uint64) error {
	if height == len(l.levels) {
		l.levels = append(l.levels, &level{cur: newPage(l.size, tableInterior)})
	}
	lv := l.levels[height]
	var buf [16]byte
	binary.BigEndian.PutUint32(buf[:], child)
	cell := buf[:4+putVarint(buf[4:], key)]
	if !lv.cur.fits(len(cell)) {
		spare := lv.full
		if spare != nil {
			if err := l.putTable(height, spare); err != nil {
				return err
			}
			spare.reset(tableInterior)
		} else {
			spare = newPage(l.size, tableInterior)
		}
		lv.full, lv.cur = lv.cur, spare
	}
	copy(lv.cur.b[lv.cur.reserve(len(cell)):], cell)
	return nil
}

// putTable writes an interior page, its last cell as the right child, and returns
// the level above.
func (l *Loader) putTable(height int, p *page) error {
	key := closeTable(p)
	no, err := l.put(p)
	if err != nil {
		return err
	}
	return l.pushTable(height+1, no, key)
}

func closeTable(p *page) (key uint64) {
	cell := p.last()
	p.setRight(binary.BigEndian.Uint32(cell))
	for _, c := range cell[4:] {
		key = key<<7 | uint64(c&0x7f)
	}
	p.drop()
	return key
}

// endTable writes what is left of the table but for its root.
func (l *Loader) endTable() error {
	if l.leaf.cells == 0 && l.lone != nil {
		l.restoreLone()
	}
	if !l.flushed {
		return nil // all rows are in one leaf, which becomes the root
	}
	if l.leaf.cells > 0 { // else a Checkpoint has written the last one
		if err := l.flushLeaf(l.rows); err != nil {
			return err
		}
	}
	for height := 0; l.levels[height].full != nil; height++ {
		lv := l.levels[height]
		if lv.cur.cells == 1 { // a right child alone: it takes one from its neighbour
			cell := slices.Clone(lv.cur.last())
			lv.cur.reset(tableInterior)
			moved := lv.full.last()
			copy(lv.cur.b[lv.cur.reserve(len(moved)):], moved)
			lv.full.drop()
			copy(lv.cur.b[lv.cur.reserve(len(cell)):], cell)
		}
		if err := l.putTable(height, lv.full); err != nil {
			return err
		}
		if err := l.putTable(height, lv.cur); err != nil {
			return err
		}
	}
	return nil
}

// roots returns the root pages.
func (l *Loader) roots() []root {
	if l.rows == 0 {
		return nil
	}
	table := l.leaf
	if l.flushed {
		for _, lv := range l.levels {
			if lv.full == nil {
				table = lv.cur
				break
			}
		}
		closeTable(table)
	}
	table.finish()
	out := []root{{l.base.table, table.b}}
	if l.indexRoot != nil {
		l.indexRoot.finish()
		out = append(out, root{l.base.index, l.indexRoot.b})
	}
	return out
}
