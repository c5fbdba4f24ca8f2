package remote

// Reading ahead begins after some bytes that follow each other, and reaches as far as a share of
// them, so that what is read in vain is a share of what was asked for.
const (
	aheadFirst = 256 << 10 // bytes that follow each other, until which it reaches as far as these
	aheadShare = 4         // then a quarter of them
	aheadMost  = 16 << 20  // bytes
	aheadSkip  = 1 << 20   // bytes left out between two reads that follow each other
	aheadLeap  = 16 << 20  // the same, if as many were read, as by workers that read blocks in turn
	aheadBack  = 8 << 20   // bytes by which a read may come too late, as reads of several workers do
	streams    = 8         // places of a file at which it is read at a time
)

// An ahead knows the places at which a file is read one piece after the other.
type ahead struct{ streams []stream }

// A stream is one such place.
type stream struct {
	next int64 // where the last piece ended
	read int64 // bytes of the pieces
	to   int64 // up to where it has been read ahead
}

// next notes a read of off to end, and returns which bytes shall be fetched ahead; none if from
// is not below to.
func (a *ahead) next(off, end, size int64) (from, to int64) {
	i := 0
	for ; i < len(a.streams); i++ {
		if s := &a.streams[i]; off >= s.next-min(s.read, aheadBack) && off <= s.next+max(aheadSkip, min(s.read, aheadLeap)) {
			break
		}
	}
	if i == len(a.streams) {
		if len(a.streams) == streams {
			a.streams = a.streams[:streams-1]
		}
		a.streams = append(a.streams, stream{})
		copy(a.streams[1:], a.streams)
		a.streams[0] = stream{next: end, read: end - off}
		return 0, 0
	}
	s := a.streams[i]
	if off > s.next+aheadSkip {
		s.read /= 2 // another worker may read what was left out, or nobody
	}
	s.read += end - off
	s.next = max(s.next, end)
	reach := min(max(min(s.read, aheadFirst), s.read/aheadShare), aheadMost)
	from, to = max(s.next, s.to), min(s.next+reach, size)
	if to-from > runSize && to < size {
		to -= (to - from) % runSize // whole requests
	}
	if to-from < reach/2 && to < size {
		from, to = 0, 0 // there is still enough
	} else {
		s.to = max(s.to, to)
	}
	copy(a.streams[1:i+1], a.streams[:i])
	a.streams[0] = s
	return from, to
}
