package typetree

import (
	"encoding/binary"
	"math"
	"time"
	"unicode/utf16"
)

// AppendROS1 appends v, a value of type m, as ROS 1 serializes it.
func AppendROS1(dst []byte, m *Message, v []Value) []byte {
	e := encoder{out: dst}
	e.message(m, v)
	return e.out
}

// AppendCDR appends v as ROS 2 serializes it: XCDR1, little endian.
func AppendCDR(dst []byte, m *Message, v []Value) []byte {
	e := encoder{out: append(dst, 0, 1, 0, 0), base: len(dst) + 4, cdr: true}
	e.message(m, v)
	return e.out
}

type encoder struct {
	out  []byte
	base int // where positions are counted from
	cdr  bool
}

func (e *encoder) message(m *Message, v []Value) {
	d := ROS1
	if e.cdr {
		d = ROS2
	}
	in := m.in(d)
	if len(in) == 0 && e.cdr {
		e.out = append(e.out, 0) // ROS 2 has no empty struct
	}
	for _, i := range in {
		f := &m.Fields[i]
		if f.Array == One {
			e.single(f, v[i])
			continue
		}
		list := v[i].([]Value)
		if f.Array != Fixed {
			e.number(4, uint64(len(list)))
		}
		for _, x := range list {
			e.single(f, x)
		}
	}
}

// number appends the low bytes of v, aligned in CDR.
func (e *encoder) number(size int, v uint64) {
	for e.cdr && (len(e.out)-e.base)%size != 0 {
		e.out = append(e.out, 0)
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	e.out = append(e.out, b[:size]...)
}

func (e *encoder) single(f *Field, v Value) {
	size := sizes[f.Kind]
	switch x := v.(type) {
	case []Value:
		e.message(f.Message, x)
	case bool:
		b := uint64(0)
		if x {
			b = 1
		}
		e.number(1, b)
	case int64:
		e.number(size, uint64(x))
	case uint64:
		e.number(size, x)
	case float64:
		if size == 4 {
			e.number(4, uint64(math.Float32bits(float32(x))))
		} else {
			e.number(8, math.Float64bits(x))
		}
	case time.Duration:
		sec := x / time.Second
		if x%time.Second < 0 {
			sec-- // nanoseconds count upwards in both
		}
		e.number(4, uint64(sec))
		e.number(4, uint64(x-sec*time.Second))
	case string:
		e.text(f.Kind, x)
	}
}

// text appends a string. A wide one is UTF-16 in units of four bytes, as the
// stacks of ROS 2 write it.
func (e *encoder) text(k Kind, s string) {
	switch {
	case k == Wide && e.cdr:
		units := utf16.Encode([]rune(s))
		e.number(4, uint64(len(units)))
		for _, u := range units {
			e.number(4, uint64(u))
		}
	case e.cdr:
		e.number(4, uint64(len(s)+1))
		e.out = append(append(e.out, s...), 0)
	default:
		e.number(4, uint64(len(s)))
		e.out = append(e.out, s...)
	}
}
