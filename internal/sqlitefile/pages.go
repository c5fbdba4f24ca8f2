package sqlitefile

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/bagconv/bagconv/internal/sqlite"
)

// The kinds of Page. SQLite's table dbstat has the first three, too.
const (
	PageLeaf     = "leaf"
	PageInternal = "internal"
	PageOverflow = "overflow"
	PageFree     = "free"
	PageTrunk    = "freelist" // lists free pages
	PagePointers = "pointers" // of an auto-vacuum database
	PageLock     = "lock"
)

// A Page is what one page of a database is used for.
type Page struct {
	No     uint32 // from 1
	Kind   string // "" if nothing leads to it
	Object string // table or index that it belongs to; "" for none
	Cells  int    // -1 if it has none
	Broken string // what is wrong with it
}

// Pages lists the whole pages of a database that r shows, by what the trees and the list of
// free pages lead to. It reads them all, and keeps three bytes for each page. Damage is
// part of the list; errors are of the disk.
func Pages(ctx context.Context, r io.ReaderAt, size int64, h sqlite.Header) iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) {
		m := &pageMap{pager: newPager(r, size, h, scanBlock), ctx: ctx, broken: map[uint32]string{}, objects: []string{""}}
		m.total = m.pages // what is cut off leads nowhere
		m.kinds, m.owners = make([]byte, m.pages+1), make([]uint16, m.pages+1)
		if err := m.fill(r, size, h); err != nil {
			yield(Page{}, err)
			return
		}
		for no := uint32(1); no <= m.pages; no++ {
			p, err := m.page(no)
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}

// A pageMap is what each page is used for, as far as that is known.
type pageMap struct {
	*pager
	ctx     context.Context
	kinds   []byte   // by number: index of pageKinds
	owners  []uint16 // by number: index of objects
	objects []string
	broken  map[uint32]string
	paths   [maxDepth + 1][]byte
}

// maxBroken is how many pages a description of what is wrong is kept for.
const maxBroken = 1000

var pageKinds = [...]string{"", PageLeaf, PageInternal, PageOverflow, PageFree, PageTrunk, PagePointers, PageLock}

const (
	kindNone byte = iota
	kindLeaf
	kindInternal
	kindOverflow
	kindFree
	kindTrunk
	kindPointers
	kindLock
)

// fill goes over the trees and the list of free pages.
func (m *pageMap) fill(r io.ReaderAt, size int64, h sqlite.Header) error {
	lock := uint32(sqlite.LockByte/int64(m.pager.page)) + 1
	m.mark(lock, kindLock, 0)
	if h.Vacuum > 0 {
		for no := uint32(2); no <= m.pages; no += uint32(m.usable/5) + 1 {
			if no == lock {
				no++
			}
			m.mark(no, kindPointers, 0)
		}
	}
	m.objects = append(m.objects, "sqlite_schema")
	if err := m.tree(1, 1, 1, 0); err != nil {
		return err
	}
	list, err := readSchema(r, size, h)
	if err != nil {
		if !damage(err) && !errors.Is(err, ErrDeclined) {
			return err
		}
		m.wrong(1, "the tables cannot be listed: %v", err)
	}
	for _, e := range list {
		if e.root < 2 || len(m.objects) > 1<<15 {
			continue
		}
		m.objects = append(m.objects, e.name)
		if err := m.tree(e.root, 1, uint16(len(m.objects)-1), 0); err != nil {
			return err
		}
	}
	return m.free(h.Free)
}

// mark notes what a page is for. It is false if the page is not there or is used already.
func (m *pageMap) mark(no uint32, kind byte, owner uint16) bool {
	if no == 0 || no > m.pages || m.kinds[no] != kindNone {
		return false
	}
	m.kinds[no], m.owners[no] = kind, owner
	return true
}

// wrong notes what is wrong with a page, the first thing.
func (m *pageMap) wrong(no uint32, format string, args ...any) {
	if m.broken[no] == "" && len(m.broken) < maxBroken {
		m.broken[no] = fmt.Sprintf(format, args...)
	}
}

// tree visits the tree below page no, which page from leads to.
func (m *pageMap) tree(no, from uint32, owner uint16, depth int) error {
	if err := m.ctx.Err(); err != nil {
		return err
	}
	if depth > maxDepth || no == 0 || no > m.pages {
		m.wrong(from, "it leads to page %d of %d", no, m.pages)
		return nil
	}
	if m.kinds[no] != kindNone {
		m.wrong(from, "it leads to page %d, which is used by something else", no)
		return nil
	}
	b, err := m.get(no)
	if err != nil {
		return err
	}
	base := 0
	if no == 1 {
		base = sqlite.HeaderLen
	}
	if m.paths[depth] == nil {
		m.paths[depth] = make([]byte, m.pager.page)
	}
	b = m.paths[depth][:copy(m.paths[depth], b)] // the pager may move
	kind, head := b[base], 8
	switch kind {
	case tableLeaf, indexLeaf:
		m.mark(no, kindLeaf, owner)
	case tableInterior, indexInterior:
		m.mark(no, kindInternal, owner)
		head = 12
	default:
		m.mark(no, kindLeaf, owner)
		m.wrong(no, "its kind is %d, which no page of a tree has", kind)
		return nil
	}
	n := int(get16(b[base+3:]))
	if base+head+2*n > len(b) {
		m.wrong(no, "it counts %d cells, more than it has room for", n)
		return nil
	}
	for i := range n {
		at := int(get16(b[base+head+2*i:]))
		if at < base+head+2*n || at+4 > len(b) {
			m.wrong(no, "cell %d is at byte %d", i, at)
			continue
		}
		cell := b[at:]
		if head == 12 {
			if err := m.tree(get32(cell), no, owner, depth+1); err != nil {
				return err
			}
			if cell = cell[4:]; kind == tableInterior {
				continue
			}
		}
		if err := m.overflow(no, i, cell, kind == tableLeaf, owner); err != nil {
			return err
		}
	}
	if head == 12 {
		return m.tree(get32(b[base+8:]), no, owner, depth+1)
	}
	return nil
}

// overflow marks the pages that a cell overflows into.
func (m *pageMap) overflow(no uint32, i int, cell []byte, table bool, owner uint16) error {
	total, n := varint(cell)
	if n == 0 || total < 0 || total > m.maxPayload() {
		m.wrong(no, "cell %d has a length that cannot be", i)
		return nil
	}
	local := indexLocal(int(total), m.usable)
	if table {
		local = localSize(int(total), m.usable)
		_, k := varint(cell[n:])
		n += k
	}
	if local == int(total) {
		return nil
	}
	if n+local+4 > len(cell) {
		m.wrong(no, "cell %d is longer than the page", i)
		return nil
	}
	next := get32(cell[n+local:])
	for left := int(total) - local; left > 0; left -= m.usable - 4 {
		if !m.mark(next, kindOverflow, owner) {
			m.wrong(no, "cell %d goes on in page %d of %d, which is used by something else or not there", i, next, m.pages)
			return nil
		}
		b, err := m.get(next)
		if err != nil {
			return err
		}
		next = get32(b)
	}
	return nil
}

// indexLocal returns how much of a record of an index lies in its page, of u usable bytes
// (https://www.sqlite.org/fileformat2.html section 1.6).
func indexLocal(total, u int) int {
	most := (u-12)*64/255 - 23
	if total <= most {
		return total
	}
	least := (u-12)*32/255 - 23
	if k := least + (total-least)%(u-4); k <= most {
		return k
	}
	return least
}

// free marks the free pages: u32 next trunk | u32 pages | their numbers.
func (m *pageMap) free(trunk uint32) error {
	for from := uint32(1); trunk != 0; {
		if !m.mark(trunk, kindTrunk, 0) {
			m.wrong(from, "the list of free pages leads to page %d of %d, which is used by something else or not there", trunk,
				m.pages)
			return nil
		}
		b, err := m.get(trunk)
		if err != nil {
			return err
		}
		n := int(min(binary.BigEndian.Uint32(b[4:]), uint32(len(b)/4-2)))
		for i := range n {
			if no := get32(b[8+4*i:]); !m.mark(no, kindFree, 0) {
				m.wrong(trunk, "it lists page %d as free, which is used by something else or not there", no)
			}
		}
		from, trunk = trunk, get32(b)
	}
	return nil
}

// page describes a page.
func (m *pageMap) page(no uint32) (Page, error) {
	p := Page{No: no, Kind: pageKinds[m.kinds[no]], Object: m.objects[m.owners[no]], Cells: -1, Broken: m.broken[no]}
	k := m.kinds[no]
	if k != kindLeaf && k != kindInternal && k != kindNone {
		return p, nil
	}
	b, err := m.get(no)
	if err != nil {
		return p, err
	}
	if no == 1 {
		b = b[sqlite.HeaderLen:]
	}
	switch n := cells(b); {
	case k != kindNone && n >= 0:
		p.Cells = n
	case k == kindNone && p.Broken == "":
		p.Broken = "no table, index or list leads to this page"
		if n >= 0 && b[0] == tableLeaf {
			p.Broken += "; it looks like a leaf of a table"
		}
	}
	return p, nil
}
