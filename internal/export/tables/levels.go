package tables

import (
	"sort"

	"github.com/bagconv/bagconv/internal/export/columns"
)

// A shredder makes the levels of a leaf for some rows, and finds their values. Of the columns on
// its way it knows the ones with lists and with nulls.
//
//	rows            [1 2] [] null [3]
//	repetition      0 1   0  0    0      in which list a value goes on
//	definition      2 2   1  0    2      how much of the way there is
//	values          1 2           3
type shredder struct {
	l          *leaf
	chain      []*columns.Column // the leaf is the last one
	reps, defs []uint8
	spans      []span // the values, indexes into the leaf's column
	count      int    // of levels
	values     int    // of spans
	quiet      bool   // only the spans are wanted
}

// A span is some values that stand side by side.
type span struct{ from, to int }

// begin goes to a leaf of a batch.
func (s *shredder) begin(l *leaf, cols []*columns.Column) {
	s.l, s.chain = l, s.chain[:0]
	c := cols[l.way[0]]
	for _, i := range l.way[1:] {
		if c.Field.Nullable || c.Field.Kind != columns.Struct {
			s.chain = append(s.chain, c)
		}
		c = c.Children[i]
	}
	s.chain = append(s.chain, c)
}

// regular reports whether the leaf is no more than the elements of a FixedList that is never null.
func (s *shredder) regular() bool {
	return len(s.chain) == 2 && s.chain[0].Field.Kind == columns.FixedList && s.chain[0].Valid == nil &&
		s.chain[1].Valid == nil
}

// column returns the column of the leaf.
func (s *shredder) column() *columns.Column { return s.chain[len(s.chain)-1] }

// shred makes the levels of rows.
func (s *shredder) shred(from, to int) {
	s.reps, s.defs, s.spans, s.count, s.values = s.reps[:0], s.defs[:0], s.spans[:0], 0, 0
	s.walk(0, from, to, 0, 0, 0, 0)
}

// walk takes values of column i of the chain: first is the level of repetition of the first value,
// rest the level of the others; rep counts the lists and def the steps around them.
func (s *shredder) walk(i, from, to int, first, rest, rep, def uint8) {
	c := s.chain[i]
	last := i == len(s.chain)-1
	if last && c.Valid == nil {
		s.add(from, to, first, rest, def)
		return
	}
	for k := from; k < to; k++ {
		r, d := rest, def
		if k == from {
			r = first
		}
		if c.Valid != nil {
			if c.Valid[k] == 0 {
				s.levels(1, r, r, d)
				continue
			}
			d++
		}
		switch {
		case last:
			s.add(k, k+1, r, r, d)
		case c.Field.Kind == columns.Struct:
			s.walk(i+1, k, k+1, r, r, rep, d)
		default:
			a, b := elements(c, k)
			if a == b {
				s.levels(1, r, r, d)
			} else {
				s.walk(i+1, a, b, r, rep+1, rep+1, d+1)
			}
		}
	}
}

// elements returns which elements value k of a list has.
func elements(c *columns.Column, k int) (from, to int) {
	if c.Field.Kind == columns.FixedList {
		return k * c.Field.Size, (k + 1) * c.Field.Size
	}
	return int(c.Offsets[k]), int(c.Offsets[k+1])
}

func (s *shredder) add(from, to int, first, rest, def uint8) {
	s.levels(to-from, first, rest, def)
	s.values += to - from
	if n := len(s.spans); n > 0 && s.spans[n-1].to == from {
		s.spans[n-1].to = to
		return
	}
	if from < to {
		s.spans = append(s.spans, span{from, to})
	}
}

func (s *shredder) levels(n int, first, rest, def uint8) {
	s.count += n
	if s.quiet {
		return
	}
	if s.l.def > 0 {
		s.defs = fill(s.defs, n, def)
	}
	if s.l.rep > 0 && n > 0 {
		s.reps = fill(append(s.reps, first), n-1, rest)
	}
}

// fill appends a level n times.
func fill(dst []uint8, n int, v uint8) []uint8 {
	for ; n >= 16; n -= 16 {
		dst = append(dst, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v)
	}
	for ; n > 0; n-- {
		dst = append(dst, v)
	}
	return dst
}

// start returns the index of the first value of a row in the leaf's column; of the row behind the last one too.
func (s *shredder) start(row int) int {
	for _, c := range s.chain[:len(s.chain)-1] {
		switch {
		case c.Offsets != nil:
			row = int(c.Offsets[row])
		case c.Field.Kind == columns.FixedList:
			row *= c.Field.Size
		}
	}
	return row
}

// bytes returns how many bytes the values before a row have.
func (s *shredder) bytes(row int) int {
	c, at := s.column(), s.start(row)
	if c.Offsets != nil {
		return int(c.Offsets[at]) + 4*at
	}
	return at * max(1, c.Field.Width())
}

// page returns the end of the page that begins with a row: it has at least one row, and not many bytes more than limit.
func (s *shredder) page(row, rows, limit int) (end int) {
	base := s.bytes(row)
	return row + 1 + sort.Search(rows-row-1, func(n int) bool { return s.bytes(row+n+1)-base >= limit })
}
