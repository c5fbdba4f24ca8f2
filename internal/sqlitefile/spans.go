package sqlitefile

import (
	"context"
	"math"
	"sort"
)

// A Span is the times of some rows.
type Span struct {
	Rows        int64
	Least, Most int64 // when there are rows
}

// Add adds the time of another row.
func (s *Span) Add(t int64) {
	if s.Rows == 0 {
		s.Least, s.Most = t, t
	}
	s.Rows++
	s.Least, s.Most = min(s.Least, t), max(s.Most, t)
}

// Spans keeps the times of rows by range; ranges are all rowids, in order.
type Spans struct {
	Ranges []Range
	List   []Span // of each
	at     int
}

// NewSpans returns spans without rows.
func NewSpans(ranges []Range) *Spans { return &Spans{Ranges: ranges, List: make([]Span, len(ranges))} }

// Add adds the time of a row. Rows of one range are best added one after the other.
func (s *Spans) Add(id, t int64) {
	if g := &s.Ranges[s.at]; id < g.Lo || id > g.Hi {
		s.at = sort.Search(len(s.Ranges)-1, func(i int) bool { return s.Ranges[i].Hi >= id })
	}
	s.List[s.at].Add(t)
}

// spanKeys is how many entries of the index are taken at once.
const spanKeys = 4096

// Spans finds the times of the rows of each range by the index, all of which it reads.
// It believes the index: rows that the index does not have are missing.
func (f *Finder) Spans(ctx context.Context, ranges []Range) ([]Span, error) {
	s := NewSpans(ranges)
	var after *Head
	for list := make([]Head, 0, spanKeys); ; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var err error
		if list, err = f.After(list[:0], after, math.MinInt64, math.MaxInt64, spanKeys, false); err != nil {
			return nil, err
		}
		for i := range list {
			s.Add(list[i].ID, list[i].Time)
		}
		if len(list) < spanKeys {
			return s.List, nil
		}
		last := list[len(list)-1]
		after = &last
	}
}
