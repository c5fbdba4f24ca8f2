package sqlitefile

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/storage"
)

// Checkpoint writes all rows so far, or hands them out, so that a Salvage finds them if the loader
// is never finished. It costs up to a page each time. records are rows of other tables, in the
// form of Found.Records, which the Salvage finds too: the tables themselves can be filled only
// after Finish. Spare then returns the pages of records.
func (l *Loader) Checkpoint(records [][]Value) error {
	if l.err == nil && !l.ended {
		l.err = l.checkpoint(records)
	}
	return l.err
}

func (l *Loader) checkpoint(records [][]Value) error {
	if l.leaf.cells > 0 {
		var lone *page
		if !l.flushed {
			leaf := *l.leaf
			leaf.b = slices.Clone(leaf.b)
			lone = &leaf
		}
		if err := l.flushLeaf(l.rows); err != nil {
			return err
		}
		l.lone = lone
	}
	first := l.next
	if err := l.putRecords(records); err != nil {
		return err
	}
	for no := first; no < l.next; no++ {
		if no != l.lock {
			l.spare = append(l.spare, no)
		}
	}
	return l.flushBuffer()
}

// putRecords writes leaves with rows of other tables.
func (l *Loader) putRecords(records [][]Value) error {
	leaf := newPage(l.size, tableLeaf)
	for _, values := range records {
		rec, rowid := recordOf(values)
		if len(rec) > sqlite.MaxRow {
			return fmt.Errorf("internal error: a row of %d bytes in a small table", len(rec))
		}
		var prefix [20]byte
		m := putVarint(prefix[:], uint64(len(rec)))
		m += putVarint(prefix[m:], uint64(rowid))
		local, need := cellSize(m, len(rec), l.size)
		if !leaf.fits(need) {
			if _, err := l.put(leaf); err != nil {
				return err
			}
			leaf.reset(tableLeaf)
		}
		if err := l.fill(leaf, need, local, prefix[:m], nil, rec); err != nil {
			return err
		}
	}
	if leaf.cells == 0 {
		return nil
	}
	_, err := l.put(leaf)
	return err
}

// recordOf returns the record of a row whose last value is its rowid. Its other values are numbers,
// text and NULL.
func recordOf(values []Value) (rec []byte, rowid int64) {
	rowid, values = values[len(values)-1].Int, values[:len(values)-1]
	var types, data []byte
	var b [16]byte
	for _, v := range values {
		switch v.Kind {
		case Null:
			types = append(types, 0)
		case Int:
			t := serial(v.Int)
			types = append(types, t)
			data = append(data, b[:putInt(b[:], v.Int, t)]...)
		default: // Text
			types = append(types, b[:putVarint(b[:], uint64(13+2*len(v.Data)))]...)
			data = append(data, v.Data...)
		}
	}
	head := len(types) + 1
	if head > 0x7f {
		head++
	}
	rec = append(rec, b[:putVarint(b[:], uint64(head))]...)
	return append(append(rec, types...), data...), rowid
}

// restoreLone undoes the writing of a leaf that stayed the only one: it becomes the root.
func (l *Loader) restoreLone() {
	l.spare = append(l.spare, binary.BigEndian.Uint32(l.levels[0].cur.last()))
	l.leaf, l.levels, l.flushed, l.lone = l.lone, nil, false, nil
}

// Spare returns the pages of records that were given to Checkpoint, after Finish. They are for Free,
// when the tables have these rows.
func (l *Loader) Spare() []uint32 { return l.spare }

// Free adds pages of a database to its list of free pages. Nobody else may have the file open
// (https://www.sqlite.org/fileformat2.html#the_freelist):
//
//	trunk  u32 next trunk | u32 n | n numbers of free pages
func Free(f storage.File, page int, pages []uint32) error {
	if len(pages) == 0 {
		return nil
	}
	head := make([]byte, sqlite.HeaderLen)
	if err := iox.ReadFull(f, head, 0); err != nil {
		return err
	}
	first := binary.BigEndian.Uint32(head[32:])
	most := page/4 - 8 // SQLite leaves out the last six entries
	for list := pages; len(list) > 0; {
		n := min(len(list)-1, most)
		trunk := make([]byte, page)
		binary.BigEndian.PutUint32(trunk, first)
		binary.BigEndian.PutUint32(trunk[4:], uint32(n))
		for i, no := range list[1 : 1+n] {
			binary.BigEndian.PutUint32(trunk[8+4*i:], no)
		}
		first, list = list[0], list[1+n:]
		if _, err := f.WriteAt(trunk, int64(first-1)*int64(page)); err != nil {
			return err
		}
	}
	change := binary.BigEndian.Uint32(head[24:]) + 1
	binary.BigEndian.PutUint32(head[24:], change)
	binary.BigEndian.PutUint32(head[32:], first)
	binary.BigEndian.PutUint32(head[36:], binary.BigEndian.Uint32(head[36:])+uint32(len(pages)))
	binary.BigEndian.PutUint32(head[92:], change)
	_, err := f.WriteAt(head, 0)
	return err
}
