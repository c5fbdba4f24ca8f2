package transcode

import (
	"encoding/binary"
	"math"
)

// Times and durations are two 32-bit words, seconds and nanoseconds. Which of them
// have a sign depends on the encoding:
//
//	           ROS 1        CDR          protobuf
//	time       u32, u32     i32, u32     i64, i32
//	duration   i32, i32     i32, u32     i64, i32
//
// Nearly all have the same bits in ROS 1 and CDR. If a certain bit is set, the same bits
// have another value there.
const (
	timeBit     = 31 // of the seconds
	durationBit = 63 // of the nanoseconds, which stand after the seconds
)

// times copies times or durations, and looks at their bit.
func (s *state) times(p []byte, bit uint8) {
	at := len(s.dst)
	if s.prog.from.BigEndian {
		s.swap(p, 4)
	} else {
		s.dst = append(s.dst, p...)
	}
	for d := s.dst[at:]; len(d) >= 8; d = d[8:] {
		if v := binary.LittleEndian.Uint64(d); v>>(bit&63)&1 != 0 {
			binary.LittleEndian.PutUint64(d, s.unusual(v, bit))
		}
	}
}

// unusual returns what a time or duration with its bit set becomes: the words of a duration of
// the same length if there are any, else the same bits.
func (s *state) unusual(v uint64, bit uint8) uint64 {
	if bit == durationBit {
		sec, nsec := int64(int32(v)), int64(v>>32)
		if s.prog.to.MaxAlign > 1 { // from ROS 1
			nsec = int64(int32(nsec))
		}
		if sec, nsec = wholeSeconds(sec, nsec); math.MinInt32 <= sec && sec <= math.MaxInt32 {
			s.normalized = true
			return uint64(nsec)<<32 | uint64(uint32(sec))
		}
	}
	s.wrapped = true
	return v
}

// wholeSeconds returns the same time with 0 <= nsec < 10^9.
func wholeSeconds(sec, nsec int64) (int64, int64) {
	sec += nsec / 1e9
	if nsec %= 1e9; nsec < 0 {
		return sec - 1, nsec + 1e9
	}
	return sec, nsec
}

// otherSigns returns a duration with its parts in the way of the other side:
// -0.5 s is (-1 s, 500,000,000 ns) in ROS, and (0 s, -500,000,000 ns) in
// protobuf, whose parts have one sign. It is its own inverse and never changes
// the sum, so that also a duration which is in the way of neither side, such as
// one with more than 10^9 ns, comes back as it was.
func otherSigns(sec, nsec int64) (int64, int64) {
	switch {
	case sec < 0 && 0 < nsec && nsec < 1e9:
		return sec + 1, nsec - 1e9
	case sec <= 0 && -1e9 < nsec && nsec < 0:
		return sec - 1, nsec + 1e9
	}
	return sec, nsec
}

// toProtoTime returns what two words become in protobuf, which holds all times. It is normalized
// when the way back has other words.
func toProtoTime(word, nanos uint32, span, cdr bool) (sec, nsec int64, normalized bool) {
	sec, nsec = int64(word), int64(nanos)
	if span || cdr {
		sec = int64(int32(word))
	}
	if span && !cdr {
		nsec = int64(int32(nanos))
	}
	if nsec > math.MaxInt32 {
		sec, nsec = wholeSeconds(sec, nsec)
		normalized = true
	}
	if span {
		sec, nsec = otherSigns(sec, nsec)
	}
	return sec, nsec, normalized
}

// A twoWordTime is what a time or duration of protobuf becomes.
type twoWordTime struct {
	sec, nsec  uint32
	wrapped    bool // they stand for another time there
	normalized bool // the way back has other seconds and nanoseconds of the same time
}

// fromProtoTime returns the two words of a time or duration of protobuf. It is not ok when
// it does not fit into 32 bits at all.
func fromProtoTime(sec, nsec int64, span, cdr bool) (t twoWordTime, ok bool) {
	oldSec, oldNsec := sec, nsec
	last := int64(math.MaxUint32)
	if span {
		if s, n := otherSigns(sec, nsec); s >= math.MinInt32 || sec < math.MinInt32 {
			sec, nsec = s, n
		}
		last = math.MaxInt32
	}
	if nsec < 0 && (cdr || !span || sec > last) {
		sec, nsec = wholeSeconds(sec, nsec)
	}
	if cdr {
		t.wrapped = sec > math.MaxInt32
	} else {
		t.wrapped = sec < 0 && !span
	}
	t.sec, t.nsec = uint32(sec), uint32(nsec)
	if (span || oldNsec < 0) && !t.wrapped {
		s, n, _ := toProtoTime(t.sec, t.nsec, span, cdr)
		t.normalized = s != oldSec || n != oldNsec
	}
	return t, math.MinInt32 <= sec && sec <= last
}
