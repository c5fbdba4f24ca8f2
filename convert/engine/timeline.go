package engine

import "math"

// A Timeline counts messages by topic in equal spans of log time: bins. It has at most
// MaxBins of them, and at least half as many if the messages are that many ns apart.
type Timeline struct {
	Start  int64     // of the first bin, ns since 1970
	Step   int64     // from one bin to the next, ns: a power of 2
	Bins   int       // 0 without messages
	Counts [][]int64 // index = the topic, then the bin; nil for a topic without messages
}

// MaxBins is the most bins that a Timeline has.
const MaxBins = 48

// ringBins is more than MaxBins, and a power of 2.
const ringBins = 64

// A Histogram makes a Timeline of messages in any order. Its bins begin at multiples of their
// width, and become wider by 2 when they are too many: so the same messages make the same
// bins in any order. Bin i of a topic is counted at i modulo ringBins.
type Histogram struct {
	shift       uint  // bins are 1<<shift ns wide
	first, last int64 // bins with messages
	messages    int64
	rings       []*[ringBins]int64 // index = the topic
}

// NewHistogram returns one for topics that are numbered from 0.
func NewHistogram(topics int) *Histogram {
	return &Histogram{rings: make([]*[ringBins]int64, topics)}
}

// Add counts messages of a topic at a time.
func (h *Histogram) Add(topic int, t, messages int64) {
	if messages == 0 {
		return
	}
	at := t >> h.shift
	if h.messages == 0 {
		h.first, h.last = at, at
	}
	for !h.fits(at) {
		h.widen()
		at >>= 1
	}
	h.first, h.last = min(h.first, at), max(h.last, at)
	h.messages += messages
	ring := h.rings[topic]
	if ring == nil {
		ring = new([ringBins]int64)
		h.rings[topic] = ring
	}
	ring[at&(ringBins-1)] += messages
}

// fits reports whether a bin can be one more.
func (h *Histogram) fits(at int64) bool {
	return uint64(max(h.last, at))-uint64(min(h.first, at)) < MaxBins
}

// widen makes one bin of two.
func (h *Histogram) widen() {
	for _, ring := range h.rings {
		if ring == nil {
			continue
		}
		var wider [ringBins]int64
		for at := h.first; ; at++ {
			wider[at>>1&(ringBins-1)] += ring[at&(ringBins-1)]
			if at == h.last {
				break
			}
		}
		*ring = wider
	}
	h.first, h.last, h.shift = h.first>>1, h.last>>1, h.shift+1
}

// join adds what another histogram has counted.
func (h *Histogram) join(o *Histogram) {
	if o.messages == 0 {
		return
	}
	for h.shift < o.shift {
		h.widen()
	}
	for topic, ring := range o.rings {
		if ring == nil {
			continue
		}
		for at := o.first; ; at++ {
			h.Add(topic, at<<o.shift, ring[at&(ringBins-1)])
			if at == o.last {
				break
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
	t.Start, t.Step, t.Bins = h.first<<h.shift, 1<<h.shift, int(h.last-h.first+1)
	for topic, ring := range h.rings {
		if ring == nil {
			continue
		}
		row := make([]int64, t.Bins)
		for i := range row {
			row[i] = ring[(h.first+int64(i))&(ringBins-1)]
		}
		t.Counts[topic] = row
	}
	return t
}

// At returns the bin of a time, and whether it is one of the timeline.
func (t *Timeline) At(time int64) (bin int, ok bool) {
	if t.Bins == 0 || time < t.Start {
		return 0, false
	}
	n := (uint64(time) - uint64(t.Start)) / uint64(t.Step)
	return int(min(n, math.MaxInt32)), n < uint64(t.Bins)
}
