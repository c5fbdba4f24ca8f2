package track

import (
	"slices"
	"sort"
)

// A frameID is the index of a frame in Buffer.frames, from 1.
type frameID uint32

// A sample is a transform of a frame to its parent, at a time.
type sample struct {
	time   int64 // ns; 0 in a static frame
	parent frameID
	rigid
}

// chunkSize is how many samples a chunk has at most.
const chunkSize = 256

// A series is the transforms of one frame. The transforms of a frame that is not static are in the
// order of their times, each time once, in chunks: late ones are inserted at the cost of one chunk,
// whatever their number.
type series struct {
	static bool
	chunks [][]sample // none is empty
}

func (s *series) last() *sample { c := s.chunks[len(s.chunks)-1]; return &c[len(c)-1] }

// insert puts a sample in its place. If there is one of that time, it returns that and changes nothing.
func (s *series) insert(n *sample) (old *sample) {
	if len(s.chunks) == 0 {
		s.chunks = append(s.chunks, []sample{*n})
		return nil
	}
	if end := len(s.chunks) - 1; n.time > s.last().time {
		if len(s.chunks[end]) < chunkSize {
			s.chunks[end] = append(s.chunks[end], *n)
		} else {
			s.chunks = append(s.chunks, append(make([]sample, 0, chunkSize), *n))
		}
		return nil
	}
	c, i := s.search(n.time)
	chunk := s.chunks[c]
	if chunk[i].time == n.time {
		return &chunk[i]
	}
	if len(chunk) >= chunkSize {
		half := append(make([]sample, 0, chunkSize), chunk[chunkSize/2:]...)
		clear(chunk[chunkSize/2:])
		chunk = chunk[:chunkSize/2]
		s.chunks[c] = chunk
		s.chunks = slices.Insert(s.chunks, c+1, half)
		if i > len(chunk) {
			c, i = c+1, i-len(chunk)
		}
	}
	s.chunks[c] = slices.Insert(s.chunks[c], i, *n)
	return nil
}

// search returns the place of the first sample that is not before a time. There must be one.
func (s *series) search(time int64) (chunk, index int) {
	chunk = sort.Search(len(s.chunks)-1, func(i int) bool { c := s.chunks[i]; return c[len(c)-1].time >= time })
	c := s.chunks[chunk]
	return chunk, sort.Search(len(c)-1, func(i int) bool { return c[i].time >= time })
}

// prune removes the samples that are more than length before the last one.
func (s *series) prune(length uint64) {
	latest := uint64(s.last().time)
	for len(s.chunks) > 0 {
		c := s.chunks[0]
		if end := c[len(c)-1].time; len(s.chunks) > 1 && latest-uint64(end) > length {
			s.chunks[0] = nil
			s.chunks = s.chunks[1:]
			continue
		}
		old := 0
		for latest-uint64(c[old].time) > length { // ends at the last sample of all
			old++
		}
		s.chunks[0] = c[old:]
		return
	}
}

// at finds the transform at a time; 0 is the latest. Between two samples of one parent it is interpolated; between
// two of different parents it is the earlier one. It is nothing before the first and after the last sample.
func (s *series) at(time int64) (got sample, ok bool) {
	switch {
	case len(s.chunks) == 0:
		return got, false
	case s.static:
		got = *s.last()
		got.time = time
		return got, true
	case time == 0:
		return *s.last(), true
	case time > s.last().time || time < s.chunks[0][0].time:
		return got, false
	}
	c, i := s.search(time)
	newer := &s.chunks[c][i]
	if newer.time == time {
		return *newer, true
	}
	if i == 0 {
		c--
		i = len(s.chunks[c])
	}
	older := &s.chunks[c][i-1]
	if older.parent != newer.parent {
		return *older, true
	}
	ratio := float64(uint64(time)-uint64(older.time)) / float64(uint64(newer.time)-uint64(older.time))
	return sample{time, older.parent, rigid{
		older.rotation.slerp(newer.rotation, ratio),
		older.shift.towards(newer.shift, ratio),
	}}, true
}
