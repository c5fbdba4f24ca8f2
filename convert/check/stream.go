package check

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/bagconv/bagconv/storage"
)

// A stream is all messages of one name, type and encoding, whoever published
// them, in the order of the file.
type stream struct {
	name, typ, encoding string
	number              int // in the order of the first topics
	ids                 []storage.TopicID

	n, bytes  int64
	last      int64 // log time of the last message
	min, max  int64 // log times
	intervals intervals
	longest   []gap // the longest intervals, in no order
	shortest  int64 // of them
	runs      []run // of messages in order of time; the last one is open
	torn      bool  // there were too many
	back      tally // how often time went back; greatest is how far
}

// A gap is a time without messages.
type gap struct {
	from, to int64
	offset   int64 // of the block with the message after it
	run      int   // that it lies in, -1 for no run
}

func (g gap) length() int64 { return sub(g.to, g.from) }

// A run is a part of a stream in which time does not go back.
type run struct{ start, end, offset int64 }

const (
	maxGaps = 64   // candidates that are kept of a stream
	maxRuns = 1024 // of a stream
)

// add takes the next message of the stream.
func (s *stream) add(t int64, size int, offset int64) {
	s.bytes += int64(size)
	if s.n++; s.n == 1 {
		s.min, s.max = t, t
		s.runs = append(s.runs, run{t, t, offset})
		s.last = t
		return
	}
	s.min, s.max = min(s.min, t), max(s.max, t)
	if d := sub(t, s.last); d >= 0 {
		s.intervals.add(d)
		s.runs[len(s.runs)-1].end = t
		if d > s.shortest || len(s.longest) < maxGaps {
			s.keep(gap{s.last, t, offset, len(s.runs) - 1})
		}
	} else {
		s.back.count(messagePlace{t, offset})
		s.back.greatest = max(s.back.greatest, sub(s.last, t))
		if len(s.runs) < maxRuns {
			s.runs = append(s.runs, run{t, t, offset})
		} else {
			s.torn = true
		}
	}
	s.last = t
}

// keep remembers a gap among the longest.
func (s *stream) keep(g gap) {
	if len(s.longest) < maxGaps {
		s.longest = append(s.longest, g)
	} else {
		at := slices.IndexFunc(s.longest, func(o gap) bool { return o.length() == s.shortest })
		s.longest[at] = g
	}
	if len(s.longest) == maxGaps {
		s.shortest = math.MaxInt64
		for _, o := range s.longest {
			s.shortest = min(s.shortest, o.length())
		}
	}
}

// gaps returns the longest times without a message, the longest first, at most
// about maxGaps; not known if the stream is too much out of order.
// If time goes back, an interval that messages elsewhere in the file fill is
// no gap.
func (s *stream) gaps() (found []gap, known bool) {
	if s.torn {
		return nil, false
	}
	for _, g := range s.longest {
		filled := false
		for i, r := range s.runs {
			filled = filled || i != g.run && r.start < g.to && r.end > g.from
		}
		if !filled {
			found = append(found, g)
		}
	}
	if len(found) == 0 && len(s.longest) == maxGaps {
		return nil, false
	}
	sorted := slices.Clone(s.runs)
	slices.SortStableFunc(sorted, func(a, b run) int { return cmp.Compare(a.start, b.start) })
	for i := 1; i < len(sorted); i++ {
		end := sorted[i-1].end
		if sorted[i].start > end {
			found = append(found, gap{end, sorted[i].start, sorted[i].offset, -1})
		}
		sorted[i].end = max(sorted[i].end, end)
	}
	slices.SortStableFunc(found, func(a, b gap) int {
		return cmp.Or(cmp.Compare(b.length(), a.length()), cmp.Compare(a.from, b.from))
	})
	return found, true
}

// A regular stream has at least minRegular intervals, nine of ten of them at
// most twice the median: only then is a longer one odd.
const minRegular = 20

func (s *stream) regular() bool {
	median := s.intervals.quantile(0.5)
	return s.intervals.n >= minRegular && median > 0 && s.intervals.quantile(0.9) <= 2*median
}

// sub returns a - b, as large as int64 can hold.
func sub(a, b int64) int64 {
	d := a - b
	switch {
	case a >= b && d < 0:
		return math.MaxInt64
	case a < b && d > 0:
		return math.MinInt64
	}
	return d
}

// intervals is a distribution of times >= 0 in bounded memory: the values
// themselves while they are few, then counts of values that are alike to 3 %.
type intervals struct {
	n     int64
	few   []int64
	alike []uint32 // by bucket
}

const maxFew = 256

func (v *intervals) add(d int64) {
	v.n++
	switch {
	case v.alike != nil:
		v.alike[bucket(d)]++
	case len(v.few) < maxFew:
		v.few = append(v.few, d)
	default:
		v.alike = make([]uint32, bucket(math.MaxInt64)+1)
		for _, f := range append(v.few, d) {
			v.alike[bucket(f)]++
		}
		v.few = nil
	}
}

// quantile returns the value below which the part q of all lie, -1 without values.
func (v *intervals) quantile(q float64) int64 {
	if v.n == 0 {
		return -1
	}
	rank := int64(q * float64(v.n-1))
	if v.alike == nil {
		slices.Sort(v.few)
		return v.few[rank]
	}
	for i, n := range v.alike {
		if rank -= int64(n); rank < 0 {
			return middle(i)
		}
	}
	return math.MaxInt64 // a counter ran over
}

// A bucket holds the values with the same first six bits: 0 to 63 one each, then
// 32 for each power of two.
func bucket(d int64) int {
	shift := max(bits.Len64(uint64(d))-6, 0)
	return shift*32 + int(d>>shift)
}

// middle returns the value in the middle of a bucket.
func middle(i int) int64 {
	if i < 64 {
		return int64(i)
	}
	shift := i/32 - 1
	return int64(i%32+32)<<shift + int64(1)<<shift/2
}
