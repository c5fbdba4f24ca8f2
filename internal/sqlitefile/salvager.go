package sqlitefile

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"sort"
)

// around is how many leaves before and behind a range are looked at, too: their rowid
// in the middle may be damaged, or they may be there twice.
const around = 8

// A Salvager reads the rows of a Salvage. It belongs to one goroutine.
type Salvager struct {
	*pager
	s      *Salvage
	rows   []foundRow
	copies []Row // that were returned with the same rowid; local is all data
	row    Row
	left   int64  // bytes that a scan may still return
	spare  []byte // for a copy of what a leaf has of a row

	LostRows, LostBytes int64 // of the last Scan
}

// foundRow is where a row is.
type foundRow struct {
	id    int64
	page  uint32
	index uint16 // of the cell
}

// NewSalvager makes a salvager that reads from r, which shows the same database
// as NewSalvage's r. It takes 1 MB of memory while it is used.
func (s *Salvage) NewSalvager(r io.ReaderAt) *Salvager {
	v := &Salvager{pager: newPager(r, s.size, s.h, scanBlock), s: s, spare: make([]byte, s.h.Page)}
	v.columns = s.other
	v.cutPage()
	return v
}

// Scan calls f for the rows from lo to hi, in order of their rowids, each as often
// as it is there with other contents. An error of f that wraps storage.ErrCorrupt
// or storage.ErrTruncated, as errors of Append do, only means that the row is cut:
// it is lost, unless it is there once more. Any other error of f ends the scan.
func (v *Salvager) Scan(lo, hi int64, f func(*Row) error) error {
	v.LostRows, v.LostBytes = 0, 0
	if err := v.collect(lo, hi); err != nil {
		return err
	}
	v.left = v.size
	for rows := v.rows; len(rows) > 0; {
		n := 1
		for n < len(rows) && rows[n].id == rows[0].id {
			n++
		}
		if err := v.give(rows[:n], f); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// give passes on the rows that have the same rowid, equal rows once.
func (v *Salvager) give(rows []foundRow, f func(*Row) error) error {
	passed, lost := 0, 0
	v.copies = v.copies[:0]
	for _, at := range rows {
		row, err := v.read(at)
		if err == nil && len(rows) > 1 {
			var duplicate bool
			if duplicate, err = v.isCopy(row); duplicate {
				continue
			}
		}
		if err == nil {
			err = f(row)
		}
		switch {
		case err == nil:
			passed++
			v.left -= int64(row.Size)
		case !damage(err):
			return err
		default:
			lost = max(lost, row.Size)
		}
	}
	if passed == 0 {
		v.LostRows++
		v.LostBytes += int64(lost)
	}
	return nil
}

// read reads a row, without its chain.
func (v *Salvager) read(at foundRow) (*Row, error) {
	b, err := v.get(at.page)
	if err != nil {
		return &v.row, err
	}
	var c cell
	var m message
	if !v.message(b, int(at.index), &c, &m) {
		return &v.row, corrupt("page %d has changed", at.page)
	}
	v.row = Row{ID: c.rowid, Topic: m.topic, Time: m.time, Size: m.size, local: c.local[m.start:], next: c.next,
		tail: c.total - m.start - m.size}
	if all := m.size + v.row.tail; all > v.s.limit || int64(all) > v.left {
		return &v.row, corrupt("page %d: row %d of %d bytes", at.page, c.rowid, m.size)
	}
	if c.next != 0 { // its block may be replaced while the chain is read
		v.row.local = v.spare[:copy(v.spare, v.row.local)]
	}
	return &v.row, nil
}

// isCopy reports whether a row was passed on with the same contents.
func (v *Salvager) isCopy(row *Row) (bool, error) {
	data, err := v.append(nil, row)
	if err != nil {
		return false, err
	}
	for _, c := range v.copies {
		if c.Topic == row.Topic && c.Time == row.Time && bytes.Equal(c.local, data) {
			return true, nil
		}
	}
	v.copies = append(v.copies, Row{Topic: row.Topic, Time: row.Time, local: data})
	return false, nil
}

// collect finds the rows from lo to hi.
func (v *Salvager) collect(lo, hi int64) error {
	v.rows = v.rows[:0]
	leaves := v.s.leaves
	from := sort.Search(len(leaves), func(i int) bool { return leaves[i].mid >= lo })
	to := sort.Search(len(leaves), func(i int) bool { return leaves[i].mid > hi })
	for _, l := range leaves[max(from-around, 0):min(to+around, len(leaves))] {
		b, err := v.get(l.page)
		if err != nil {
			return err
		}
		for i := range cellsAtMost(b) {
			var c cell
			var m message
			if v.message(b, i, &c, &m) && c.rowid >= lo && c.rowid <= hi {
				v.rows = append(v.rows, foundRow{c.rowid, l.page, uint16(i)})
			}
		}
	}
	slices.SortStableFunc(v.rows, func(a, b foundRow) int { return cmp.Compare(a.id, b.id) })
	return nil
}

// Append appends the data of a row to dst, as Scanner.Append does.
func (v *Salvager) Append(dst []byte, row *Row) ([]byte, error) { return v.append(dst, row) }
