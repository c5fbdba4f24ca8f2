package report

import "math"

// A scale cuts time into stretches of equal length, a power of two of ns. Messages come in any order; when a stretch
// would be too far from the others, all become twice as long. So the same times make the same stretches in any order.
// Stretch k has the times from origin + k << shift on.
type scale struct {
	origin      int64
	limit       int64 // stretches from the first to the last
	shift       uint
	first, last int64 // stretches with messages, if some is set
	some        bool
}

// at returns the stretch of a time. double is how often the stretches have become twice as long for it: stretch k is
// then stretch k >> double.
func (s *scale) at(t int64) (k int64, double uint) {
	k = s.key(t)
	if !s.some {
		s.first, s.last, s.some = k, k, true
		return k, 0
	}
	for s.shift < 63 && uint64(max(s.last, k))-uint64(min(s.first, k)) >= uint64(s.limit) {
		s.shift++
		double++
		s.first, s.last, k = s.first>>1, s.last>>1, s.key(t)
	}
	s.first, s.last = min(s.first, k), max(s.last, k)
	return k, double
}

// key returns the stretch of a time that may be outside.
func (s *scale) key(t int64) int64 { return less(t, s.origin) >> s.shift }

// less returns a - b, as large as int64 can hold.
func less(a, b int64) int64 {
	d := a - b
	switch {
	case a >= b && d < 0:
		return math.MaxInt64
	case a < b && d > 0:
		return math.MinInt64
	}
	return d
}

// A histogram counts the messages of several rows in equal stretches.
type histogram struct {
	scale
	rows  [][]uint32 // index = the row, then the stretch modulo size; nil: no message yet
	size  int64
	count int64
}

// newHistogram returns a histogram of at most a number of stretches.
func newHistogram(rows int, most, origin int64) *histogram {
	size := int64(1)
	for size < most {
		size *= 2
	}
	return &histogram{scale: scale{origin: origin, limit: most}, rows: make([][]uint32, rows), size: size}
}

// add counts a message.
func (h *histogram) add(row int, t int64) {
	first, last := h.first, h.last
	k, double := h.at(t)
	if double > 0 {
		h.double(first, last, double)
	}
	r := h.rows[row]
	if r == nil {
		r = make([]uint32, h.size)
		h.rows[row] = r
	}
	r[k&(h.size-1)]++
	h.count++
}

// double joins stretches.
func (h *histogram) double(first, last int64, by uint) {
	wider := make([]uint32, h.size)
	for _, r := range h.rows {
		if r == nil {
			continue
		}
		clear(wider)
		for k := first; ; k++ {
			wider[(k>>by)&(h.size-1)] += r[k&(h.size-1)]
			if k == last {
				break
			}
		}
		copy(r, wider)
	}
}

// bins returns the counts of a row from the first stretch to the last.
func (h *histogram) bins(row int) []uint32 {
	if !h.some {
		return []uint32{}
	}
	list := make([]uint32, h.last-h.first+1)
	for i := range list {
		if r := h.rows[row]; r != nil {
			list[i] = r[(h.first+int64(i))&(h.size-1)]
		}
	}
	return list
}

// width returns how long a stretch is, ns.
func (h *histogram) width() float64 { return math.Ldexp(1, int(h.shift)) }

// A curve is the values of a field over time: all of them while they are few, then the least and the greatest of each
// stretch.
type curve struct {
	scale
	room      int     // points
	all       []point // nil after there were too many
	stretches []stretch
	isThinned bool
	values    int64
}

// A point is a value at a time.
type point struct {
	t int64
	v float64
}

// A stretch has the least and the greatest value of a time, each at its first occurrence.
type stretch struct {
	k               int64
	least, greatest point
}

func newCurve(most int, origin int64) *curve {
	return &curve{scale: scale{origin: origin, limit: int64(most / 2)}, room: most}
}

// add takes a value.
func (c *curve) add(t int64, v float64) {
	c.values++
	if !c.isThinned {
		if c.all = append(c.all, point{t, v}); len(c.all) <= c.room {
			return
		}
		c.isThinned = true
		for _, p := range c.all {
			c.put(p)
		}
		c.all = nil
		return
	}
	c.put(point{t, v})
}

// put takes a point into its stretch.
func (c *curve) put(p point) {
	k, double := c.at(p.t)
	if double > 0 {
		joined := c.stretches[:0]
		for _, s := range c.stretches {
			s.k >>= double
			if n := len(joined); n > 0 && joined[n-1].k == s.k {
				joined[n-1].join(&s)
			} else {
				joined = append(joined, s)
			}
		}
		c.stretches = joined
	}
	n := stretch{k, p, p}
	i := len(c.stretches)
	for i > 0 && c.stretches[i-1].k >= k { // messages are nearly in order
		i--
	}
	if i < len(c.stretches) && c.stretches[i].k == k {
		c.stretches[i].join(&n)
		return
	}
	c.stretches = append(c.stretches, n)
	copy(c.stretches[i+1:], c.stretches[i:])
	c.stretches[i] = n
}

// join takes the values of another stretch of the same time.
func (s *stretch) join(o *stretch) {
	s.least = better(s.least, o.least, o.least.v < s.least.v)
	s.greatest = better(s.greatest, o.greatest, o.greatest.v > s.greatest.v)
}

// better returns b if it is preferred, or if a is no number, or if it has the same value earlier; else a.
func better(a, b point, preferred bool) point {
	switch {
	case math.IsNaN(b.v):
		if math.IsNaN(a.v) && b.t < a.t {
			return b
		}
		return a
	case math.IsNaN(a.v), preferred, a.v == b.v && b.t < a.t:
		return b
	}
	return a
}

// points returns the points in no certain order.
func (c *curve) points() []point {
	list := append([]point(nil), c.all...)
	for _, s := range c.stretches {
		list = append(list, s.least)
		if s.greatest != s.least && !math.IsNaN(s.greatest.v) {
			list = append(list, s.greatest)
		}
	}
	return list
}
