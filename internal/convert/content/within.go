package content

import (
	"math"

	"github.com/bagconv/bagconv/internal/schema/serial"
)

// Not every encoding holds all times. A time of ROS 1 is u32 s and u32 ns, its
// duration i32 and i32; both are i32 and u32 in ROS 2, and i64 and i32 in protobuf. A
// conversion keeps the bits of a time that the other encoding cannot hold, and reports
// it. Only CDR has wide strings, of UTF-16 units that may not be Unicode; a conversion
// to UTF-8 writes U+FFFD for such units, and reports that, too.

// Within returns p for messages that are compared with messages of another encoding: it
// sets Writer.Beyond for times that wire cannot hold, and Writer.Replaced for text; it
// refuses times of protobuf that have no place in 32 bits. The canonical bytes are the
// same.
func (p *Program) Within(wire serial.Encoding) *Program {
	q := *p
	q.within = &wire
	return &q
}

// Clamped returns p, a program of Within, with canonical bytes as the other encoding holds values: it reads the bits
// of a time that it cannot store as another time, and text that is not Unicode as U+FFFD.
func (p *Program) Clamped() *Program {
	q := *p
	q.inMemory = true
	return &q
}

// time writes a time or duration.
func (w *Writer) time(sec, nsec int64, span bool) {
	if w.within != nil {
		if !holds(*w.within, sec, nsec, span) {
			w.Beyond = true
			if w.inMemory {
				sec, nsec = sameBits(*w.within, sec, nsec, span)
			}
		}
	}
	w.u64(uint64(sec*1e9 + nsec))
}

// holds reports whether an encoding has a time or duration of that length.
func holds(wire serial.Encoding, sec, nsec int64, span bool) bool {
	first, last, most := int64(math.MinInt32), int64(math.MaxInt32), int64(math.MaxUint32)
	switch {
	case wire == serial.Protobuf:
		return true
	case wire == serial.ROS1 && span:
		most = math.MaxInt32
	case wire == serial.ROS1:
		first, last = 0, math.MaxUint32
	}
	if nsec < 0 || nsec > most {
		sec, nsec = whole(sec, nsec)
	}
	return first <= sec && sec <= last || wire == serial.ROS1 && span && justBelow(sec, nsec)
}

// sameBits returns what an encoding reads in the bits of a time.
func sameBits(wire serial.Encoding, sec, nsec int64, span bool) (int64, int64) {
	if !span && nsec < 0 {
		sec, nsec = whole(sec, nsec)
	}
	switch {
	case wire == serial.CDR:
		return int64(int32(sec)), int64(uint32(nsec))
	case span:
		return int64(int32(sec)), int64(int32(nsec))
	}
	return int64(uint32(sec)), int64(uint32(nsec))
}

// whole returns the same time with 0 to 999,999,999 ns.
func whole(sec, nsec int64) (int64, int64) {
	n := nsec % 1e9
	if n < 0 {
		n += 1e9
	}
	return sec + (nsec-n)/1e9, n
}

// justBelow reports whether a duration is below -2^31 s and ROS 1 has it: -2^31 s and a negative
// number of nanoseconds.
func justBelow(sec, nsec int64) bool { return sec == math.MinInt32-1 && nsec > 0 }

// wide reports whether a time or duration of protobuf has no place in 32 bits.
func wide(wire serial.Encoding, sec, nsec int64, span bool) bool {
	if nsec < 0 {
		sec, nsec = whole(sec, nsec)
	}
	if wire == serial.ROS1 && span && justBelow(sec, nsec) {
		return false
	}
	return sec < math.MinInt32 || sec > math.MaxUint32 || span && sec > math.MaxInt32
}
