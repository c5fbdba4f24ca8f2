package sqlitefile

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"math/bits"
	"slices"

	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/storage"
)

// A Salvage is the rows of messages in a database whose tree, schema, header or
// end is gone. It looks at every page: a leaf that has rows of the shape of
// messages is a leaf of messages, whatever points at it, or if nothing does.
//
// An overflow page begins with the number of the next one, so its first byte is 0
// in files of up to 16.7 million pages, and is never taken for a leaf below 832
// GiB (at 4096 bytes). Pages of the freelist may hold leaves that are out of use:
// they are left out, if the list can be read.
//
// It is safe for concurrent use. It keeps 24 bytes for each leaf.
type Salvage struct {
	h      sqlite.Header
	size   int64
	leaves []foundLeaf // by mid
	limit  int         // no row of more bytes is believed
	other  *columns    // of messages, nil for the usual ones
	Found  Found
}

// Found is what the pages have, before chains are followed: rows that will turn
// out to be cut are counted, and copies of a row too.
type Found struct {
	PageSize    int
	Rows        int64
	First, Last int64           // least and greatest time
	Topics      map[int64]int64 // rows of each topic_id
	Records     [][]Value       // rows of other tables
	BadPages    int64           // that are damaged somewhere
	BadCells    int64           // in leaves of messages that are not rows
	Freelist    bool            // the freelist could be read, or is empty
}

// foundLeaf is a leaf of messages. mid is the rowid in its middle, and lo the
// least: if one is damaged, the other is sound.
type foundLeaf struct {
	mid, lo int64
	page    uint32
	kb      uint32 // that its rows claim, in 1024 bytes
}

// Bounds of what a damaged file is believed to have.
const (
	maxTopics      = 1 << 16  // topic ids
	maxRecords     = 1 << 16  // rows of other tables
	maxRecordBytes = 64 << 20 // and their bytes
	maxClaim       = 8        // times the file's size that all rows together may claim
)

// NewSalvage goes over the pages of the database of size bytes that r shows, once,
// or twice if its header leaves doubts about the size of a page. A database
// without any row of messages is not an error.
func NewSalvage(ctx context.Context, r io.ReaderAt, size int64) (*Salvage, error) {
	h, err := sqlite.ReadHeader(r, size)
	if err != nil && !damage(err) {
		return nil, err
	}
	known := err == nil
	if !known || h.Usable != h.Page || !h.Valid || int64(h.Pages)*int64(h.Page) != size {
		if h, err = vote(ctx, r, size, h, known); err != nil {
			return nil, err
		}
	}
	s := &Salvage{h: h, size: size, Found: Found{PageSize: h.Page, First: math.MaxInt64, Last: math.MinInt64,
		Topics: map[int64]int64{}}}
	if known {
		if s.other, err = otherColumns(r, size, h); err != nil {
			return nil, err
		}
	}
	w := &sweep{Salvage: s, pager: newPager(r, size, h, scanBlock), spare: make([]byte, h.Page)}
	w.columns = s.other
	w.cutPage()
	if err := w.run(ctx); err != nil {
		return nil, err
	}
	s.Found.Freelist = s.Found.Freelist && known
	slices.SortFunc(s.leaves, func(a, b foundLeaf) int {
		return cmp.Or(cmp.Compare(a.mid, b.mid),
			cmp.Compare(a.page, b.page))
	})
	s.limit = w.believe()
	if s.Found.Rows == 0 {
		s.Found.First, s.Found.Last = 0, 0
	}
	return s, nil
}

// A sweep is the pass over all pages.
type sweep struct {
	*Salvage
	*pager
	free   []uint64 // a bit for each page of the freelist
	ids    []int64
	spare  []byte
	claims [64]int64 // bytes that rows of so many bits of size claim
	bytes  int64     // of Records
}

func (w *sweep) run(ctx context.Context) (err error) {
	if w.free, err = w.freelist(); err != nil && !damage(err) {
		return err
	}
	w.Found.Freelist = err == nil
	if errors.Is(err, storage.ErrCorrupt) {
		w.free = nil
	}
	for no := uint32(2); no <= w.pages; no++ {
		if no&1023 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if w.free != nil && w.free[no/64]>>(no%64)&1 != 0 {
			continue
		}
		b, err := w.get(no)
		if err != nil {
			return err
		}
		switch {
		case b[0] == tableLeaf:
			if err := w.leaf(no, b); err != nil {
				return err
			}
		case b[0] > tableLeaf && w.pages < 1<<24:
			w.Found.BadPages++
		}
	}
	return nil
}

// freelist returns the pages of the freelist, nil when it is empty. A list that
// contradicts the header or itself is damage, and not to be believed. If a list goes
// on after the file's end, freelist returns its pages that are in the file
// (https://www.sqlite.org/fileformat2.html section 1.5).
func (w *sweep) freelist() ([]uint64, error) {
	if w.h.Free == 0 && w.h.FreePages == 0 {
		return nil, nil
	}
	list := make([]uint64, (uint64(w.pages)+64)/64)
	n := uint32(0)
	take := func(no uint32) error {
		n++
		if no > w.pages && no <= w.total {
			return nil
		}
		if no < 2 || no > w.pages || list[no/64]>>(no%64)&1 != 0 {
			return corrupt("freelist: page %d", no)
		}
		list[no/64] |= 1 << (no % 64)
		return nil
	}
	for no := w.h.Free; no != 0; {
		if err := take(no); err != nil {
			return nil, err
		}
		b, err := w.get(no)
		if err != nil {
			return list, err
		}
		count := int64(get32(b[4:]))
		if 8+4*count > int64(len(b)) {
			return nil, corrupt("freelist: page %d lists %d", no, count)
		}
		for i := range count {
			if err := take(get32(b[8+4*i:])); err != nil {
				return nil, err
			}
		}
		no = get32(b)
	}
	if n != w.h.FreePages {
		return nil, corrupt("freelist: %d pages, the header counts %d", n, w.h.FreePages)
	}
	return list, nil
}

// leaf takes note of a leaf. One cell after the other is looked at by itself.
func (w *sweep) leaf(no uint32, b []byte) error {
	w.ids = w.ids[:0]
	n, claim := cellsAtMost(b), int64(0)
	for i := range n {
		var c cell
		var m message
		if !w.message(b, i, &c, &m) {
			continue
		}
		if _, ok := w.Found.Topics[m.topic]; !ok && len(w.Found.Topics) == maxTopics {
			continue
		}
		w.ids = append(w.ids, c.rowid)
		w.Found.Topics[m.topic]++
		w.Found.First = min(w.Found.First, m.time)
		w.Found.Last = max(w.Found.Last, m.time)
		claim += int64(c.total)
		w.claims[bits.Len(uint(c.total))] += int64(c.total)
	}
	if len(w.ids) == 0 {
		return w.records(no, b, n)
	}
	if bad := n - len(w.ids); bad > 0 {
		w.Found.BadPages++
		w.Found.BadCells += int64(bad)
	}
	w.Found.Rows += int64(len(w.ids))
	slices.Sort(w.ids)
	w.leaves = append(w.leaves, foundLeaf{
		mid: w.ids[(len(w.ids)-1)/2], lo: w.ids[0], page: no, kb: uint32(min(claim>>10, math.MaxUint32)),
	})
	return nil
}

// cellsAtMost returns the number of cells of a leaf, as far as it can be.
func cellsAtMost(b []byte) int { return min(int(get16(b[3:])), (len(b)-8)/2) }

// message reads cell i of a leaf, and reports whether it is a row of messages.
func (p *pager) message(b []byte, i int, c *cell, m *message) bool {
	at := cellAt(b, i)
	if at < 10 || at >= len(b) || !p.cell(b, at, c) {
		return false
	}
	if p.columns != nil {
		return p.columns.parse(c.local, c.total, m) == isMessage
	}
	return parseMessage(c.local, c.total, m) == isMessage
}

// records keeps the rows of a leaf of another table.
func (w *sweep) records(no uint32, b []byte, n int) error {
	b = w.spare[:copy(w.spare, b)]
	for i := range n {
		var c cell
		at := cellAt(b, i)
		if at < 10 || at >= len(b) || !w.cell(b, at, &c) {
			continue
		}
		if len(w.Found.Records) == maxRecords || w.bytes+int64(c.total) > maxRecordBytes {
			return nil
		}
		rec := make([]byte, c.total)
		if err := w.chain(rec[copy(rec, c.local):], c.next); err != nil {
			if damage(err) {
				continue
			}
			return err
		}
		if list, ok := parseValues(rec); ok {
			w.bytes += int64(c.total)
			w.Found.Records = append(w.Found.Records, append(list, Value{Kind: Int, Int: c.rowid}))
		}
	}
	return nil
}

// believe returns the greatest size of a row that is believed: all rows up to it claim no
// more than a few times what the file can have. A few damaged sizes among sound
// sizes change nothing.
func (w *sweep) believe() int {
	sum := int64(0)
	for bit, n := range w.claims {
		if sum += n; sum > maxClaim*w.Salvage.size {
			return 1<<(bit-1) - 1
		}
	}
	return math.MaxInt
}

// Ranges cuts the rows into ranges of about target bytes, which together are all
// rowids. A range of rowids is read from all leaves that may have them.
func (s *Salvage) Ranges(target int64) []Range {
	open := Range{Lo: math.MinInt64}
	var list []Range
	for i, l := range s.leaves {
		if i > 0 && open.Bytes >= target && l.mid > s.leaves[i-1].mid {
			at := max(l.lo, s.leaves[i-1].mid+1)
			open.Hi = at - 1
			list = append(list, open)
			open = Range{Lo: at}
		}
		open.Bytes += max(int64(s.h.Page), int64(l.kb)<<10)
	}
	open.Hi = math.MaxInt64
	return append(list, open)
}
