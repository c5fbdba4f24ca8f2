package timeorder

import (
	"io"
	"slices"
	"sort"
)

// Heads is a list of heads that a Cursor goes over.
type Heads struct {
	list []Head
	next int
}

// Add adds a head.
func (h *Heads) Add(x Head) { h.list = append(h.list, x) }

// Sort puts them in the order of time; equal times are in the order of Pos.
func (h *Heads) Sort(reverse bool) {
	less := func(a, b Head) bool { return a.Time < b.Time || a.Time == b.Time && a.Pos < b.Pos }
	if !sort.SliceIsSorted(h.list, func(i, k int) bool { return less(h.list[i], h.list[k]) }) {
		slices.SortFunc(h.list, func(a, b Head) int {
			switch {
			case less(a, b):
				return -1
			case less(b, a):
				return 1
			}
			return 0
		})
	}
	if reverse {
		slices.Reverse(h.list)
	}
}

// Next returns the next one, or io.EOF.
func (h *Heads) Next() (Head, error) {
	if h.next == len(h.list) {
		return Head{}, io.EOF
	}
	h.next++
	return h.list[h.next-1], nil
}

// Current returns the head that Next returned last.
func (h *Heads) Current() Head { return h.list[h.next-1] }
