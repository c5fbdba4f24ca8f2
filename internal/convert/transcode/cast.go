package transcode

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/bagconv/bagconv/internal/schema/numbers"

	"github.com/bagconv/bagconv/schema"
)

// A cast turns numbers of one kind into numbers of another.
type cast struct {
	from, to      schema.Kind
	scale, offset float64         // the number times scale, plus offset; scale 0: as it is
	values        map[int64]int64 // what integers become before they are scaled; others stay
	number        uint16          // of the field among the fields whose values change
}

// numeric reports whether a kind is a number, or as good as one.
func numeric(k schema.Kind) bool {
	switch k {
	case schema.Time, schema.Duration, schema.LongDouble, schema.WChar:
		return false
	}
	return k.Size() > 0
}

// sameBits reports whether numbers of two kinds have the same bytes for the same value.
func sameBits(a, b schema.Kind) bool {
	neutral := func(k schema.Kind) bool { return k == schema.Byte || k == schema.Char || k == schema.IDLChar }
	switch {
	case a == b || isInt32(a) && isInt32(b):
		return true
	case neutral(a) || neutral(b):
		return isByte(a) && isByte(b) // byte has a sign in ROS 1 and no sign in ROS 2
	}
	return false
}

// apply returns what a number becomes. It is changed if the new kind cannot hold the value: an
// integer becomes the nearest one, a fraction loses what is behind the point.
func (c *cast) apply(bits uint64) (out uint64, changed bool) {
	class, width := numbers.Of(c.from)
	bits = class.Widen(bits, width)
	if class != numbers.Float && c.values != nil {
		if v, ok := c.values[int64(bits)]; ok {
			bits, class = uint64(v), numbers.Signed
		}
	}
	if c.scale != 0 {
		f := class.Float(bits)*c.scale + c.offset
		if to, _ := numbers.Of(c.to); to != numbers.Float {
			f = math.Round(f)
		} else if c.to == schema.Float32 {
			f = float64(float32(f)) // rounding is what a factor does
		}
		bits, class = math.Float64bits(f), numbers.Float
	}
	to, width := numbers.Of(c.to)
	return class.Convert(bits, to, width)
}

// casts appends numbers that p has, each as the new kind.
func (s *state) casts(c *cast, p []byte) {
	in, out := c.from.Size(), c.to.Size()
	at := len(s.dst)
	s.dst = slices.Grow(s.dst, len(p)/in*out)[:at+len(p)/in*out]
	d := s.dst[at:]
	changed := false
	if !s.prog.from.BigEndian && c.scale == 0 && c.from == schema.Float32 && c.to == schema.Float64 {
		for ; len(p) >= 4 && len(d) >= 8; p, d = p[4:], d[8:] { // nearly all lists whose kind has changed
			binary.LittleEndian.PutUint64(d, math.Float64bits(float64(math.Float32frombits(binary.LittleEndian.Uint32(p)))))
		}
	}
	for ; len(p) >= in; p, d = p[in:], d[out:] {
		v, other := c.apply(s.number(p, in))
		changed = changed || other
		switch out {
		case 1:
			d[0] = byte(v)
		case 2:
			binary.LittleEndian.PutUint16(d, uint16(v))
		case 4:
			binary.LittleEndian.PutUint32(d, uint32(v))
		case 8:
			binary.LittleEndian.PutUint64(d, v)
		}
	}
	if changed {
		s.lost.changed.hit(c.number)
		s.changed = true
	}
}

// number returns the bits of the number at the start of p.
func (s *state) number(p []byte, width int) uint64 {
	var order binary.ByteOrder = binary.LittleEndian
	if s.prog.from.BigEndian {
		order = binary.BigEndian
	}
	switch width {
	case 1:
		return uint64(p[0])
	case 2:
		return uint64(order.Uint16(p))
	case 4:
		return uint64(order.Uint32(p))
	}
	return order.Uint64(p)
}

// cast compiles a number that becomes a number of another kind.
func (c *compiler) cast(rule cast, path string) error {
	from, to := rule.from.Size(), rule.to.Size()
	if err := c.alignSrc(from); err != nil {
		return err
	}
	if err := c.alignDst(to); err != nil {
		return err
	}
	c.read(from)
	c.wrote(to)
	if rule.scale != 0 || rule.values != nil || !holds(rule.from, rule.to) {
		rule.number = c.notes.narrowed.add(path)
	}
	return c.emit(op{code: opCast, a: 1, more: &operand{cast: rule}})
}

// holds reports whether a kind holds all numbers of another.
func holds(from, to schema.Kind) bool {
	a, m := numbers.Of(from)
	b, n := numbers.Of(to)
	switch {
	case b == numbers.Float && a != numbers.Float:
		return m <= map[int]int{32: 24, 64: 53}[n]
	case a == b:
		return m <= n
	case a == numbers.Unsigned && b == numbers.Signed:
		return m < n
	}
	return false
}
