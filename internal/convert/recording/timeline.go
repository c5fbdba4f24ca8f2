package recording

import (
	"math"
	"time"
)

// A Timeline counts messages by topic in equal spans of log time: bins. It has at most
// MaxBins bins, and at least a third as many if the messages are that many ns apart.
type Timeline struct {
	Start  int64     `json:"start_ns,string"` // of the first bin, ns since 1970; at least math.MinInt64
	Step   int64     `json:"step_ns,string"`  // from one bin to the next, ns: a round time, such as 50 ms or 1 h
	Bins   int       `json:"bins"`            // 0 without messages
	Counts [][]int64 `json:"counts"`          // index = the topic, then the bin; nil for a topic without messages

	first int64 // bin, counted from 1970
}

// MaxBins is the most bins that a Timeline has.
const MaxBins = 48

// fineBins is the most bins that a Histogram has: MaxBins of the widest step between two widths.
// ringBins is more than fineBins, and a power of 2.
const (
	fineBins = 5 * MaxBins
	ringBins = 256
)

const day = 24 * time.Hour

// widths are the widths of the bins of a Histogram, ns: each is 2, 3 or 5 times the width before.
// steps are the steps of a Timeline: each is up to 3 times the step before, and a multiple
// of each width below it that is wide enough.
var widths, steps = func() (widths, steps []int64) {
	decades := func(unit, end int64) {
		for ; unit < end; unit *= 10 {
			widths, steps = append(widths, unit, 5*unit), append(steps, unit, 2*unit, 5*unit)
		}
	}
	decades(1, int64(time.Second))
	for _, d := range []time.Duration{1, 5, 10, 30, 60, 5 * 60, 10 * 60, 30 * 60, 3600, 2 * 3600, 6 * 3600, 12 * 3600} {
		widths = append(widths, int64(d*time.Second))
	}
	for _, d := range []time.Duration{1, 2, 5, 10, 20, 30, 60, 2 * 60, 5 * 60, 10 * 60, 20 * 60, 30 * 60, 3600, 2 * 3600,
		6 * 3600, 12 * 3600} {
		steps = append(steps, int64(d*time.Second))
	}
	decades(int64(day), 5000*int64(day))
	return widths, steps
}()

// A Histogram makes a Timeline of messages in any order. Its bins begin at multiples of their
// width, and become wider when there are too many: so the same messages make the same bins in
// any order. Bin i of a topic is counted at i modulo ringBins.
type Histogram struct {
	level       int   // bins are widths[level] ns wide
	first, last int64 // bins with messages
	messages    int64
	rings       []*[ringBins]uint32 // index = the topic
}

// NewHistogram returns a Histogram for topics that are numbered from 0.
func NewHistogram(topics int) *Histogram {
	return &Histogram{rings: make([]*[ringBins]uint32, topics)}
}

// Add counts messages of a topic at a time.
func (h *Histogram) Add(topic int, t, messages int64) {
	if messages == 0 {
		return
	}
	at := floor(t, widths[h.level])
	if h.messages == 0 {
		h.first, h.last = at, at
	}
	for !h.fits(at) {
		h.widen()
		at = floor(t, widths[h.level])
	}
	h.first, h.last = min(h.first, at), max(h.last, at)
	h.messages += messages
	ring := h.rings[topic]
	if ring == nil {
		ring = new([ringBins]uint32)
		h.rings[topic] = ring
	}
	ring[at&(ringBins-1)] += uint32(messages)
}

// fits reports whether a bin can be one more.
func (h *Histogram) fits(at int64) bool {
	return uint64(max(h.last, at))-uint64(min(h.first, at)) < fineBins
}

// floor returns the multiple of a width at or below a time, as the number of widths from 1970.
func floor(t, width int64) int64 {
	n := t / width
	if t%width < 0 {
		n--
	}
	return n
}

// widen makes one bin of several.
func (h *Histogram) widen() {
	by := widths[h.level+1] / widths[h.level]
	for _, ring := range h.rings {
		if ring == nil {
			continue
		}
		var wider [ringBins]uint32
		for i := range h.last - h.first + 1 {
			at := h.first + i
			wider[floor(at, by)&(ringBins-1)] += ring[at&(ringBins-1)]
		}
		*ring = wider
	}
	h.first, h.last, h.level = floor(h.first, by), floor(h.last, by), h.level+1
}

// join adds what another histogram has counted.
func (h *Histogram) join(o *Histogram) {
	if o.messages == 0 {
		return
	}
	for h.level < o.level {
		h.widen()
	}
	if h.messages == 0 {
		h.first, h.last = o.first, o.last
	}
	for o.level < h.level {
		o.widen()
	}
	for !h.fits(o.first) || !h.fits(o.last) {
		h.widen()
		o.widen()
	}
	h.first, h.last, h.messages = min(h.first, o.first), max(h.last, o.last), h.messages+o.messages
	for topic, ring := range o.rings {
		switch {
		case ring == nil:
		case h.rings[topic] == nil:
			h.rings[topic] = ring
		default:
			for i, n := range ring {
				h.rings[topic][i] += n
			}
		}
	}
}

// Timeline returns the bins from the first with a message to the last.
func (h *Histogram) Timeline() *Timeline {
	t := &Timeline{Counts: make([][]int64, len(h.rings))}
	if h.messages == 0 {
		return t
	}
	by := h.coarser()
	t.first, t.Step = floor(h.first, by), by*widths[h.level]
	t.Bins = int(floor(h.last, by) - t.first + 1)
	if t.Start = t.first * t.Step; t.Start/t.Step != t.first {
		t.Start = math.MinInt64
	}
	for topic, ring := range h.rings {
		if ring == nil {
			continue
		}
		row := make([]int64, t.Bins)
		for i := range h.last - h.first + 1 {
			at := h.first + i
			row[floor(at, by)-t.first] += int64(ring[at&(ringBins-1)])
		}
		t.Counts[topic] = row
	}
	return t
}

// coarser returns how many bins become a bin of the Timeline: so many that its step is round, and
// no more than needed.
func (h *Histogram) coarser() int64 {
	width := widths[h.level]
	for _, step := range steps {
		by := step / width
		if step%width == 0 && floor(h.last, by)-floor(h.first, by) < MaxBins {
			return by
		}
	}
	panic("a histogram has more bins than its widest step allows")
}

// Grouped returns the timeline of groups of topics, with a row for each, by their numbers; nil without messages.
func Grouped[N ~uint32 | ~int](t *Timeline, groups [][]N) *Timeline {
	if t.Bins == 0 {
		return nil
	}
	out := *t
	out.Counts = make([][]int64, len(groups))
	for i, topics := range groups {
		out.Counts[i] = make([]int64, t.Bins)
		for _, topic := range topics {
			for bin, n := range t.Counts[topic] {
				out.Counts[i][bin] += n
			}
		}
	}
	return &out
}

// At returns the bin of a time, and whether the timeline has the bin.
func (t *Timeline) At(time int64) (bin int, ok bool) {
	if t.Bins == 0 {
		return 0, false
	}
	n := floor(time, t.Step) - t.first
	if n < 0 || n >= int64(t.Bins) {
		return 0, false
	}
	return int(n), true
}
