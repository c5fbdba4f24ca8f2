package typetree

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf16"
)

// A Value is one of
//
//	bool, int64, uint64, float64    of Bool and the numbers, float32 too
//	string                          of both strings
//	time.Duration                   of Time (since 1970) and Duration
//	[]Value                         of messages (a value for each field), and of arrays
type Value any

// Value returns a random message of type m.
func (w *World) Value(m *Message) []Value {
	budget := 400
	return w.message(m, &budget)
}

func (w *World) message(m *Message, budget *int) []Value {
	v := make([]Value, len(m.Fields))
	for i := range m.Fields {
		v[i] = w.fieldValue(&m.Fields[i], budget)
	}
	return v
}

func (w *World) fieldValue(f *Field, budget *int) Value {
	n := 0
	switch f.Array {
	case One:
		return w.single(f, budget)
	case Fixed:
		n = f.Len
	case Bounded:
		n = w.r.IntN(f.Len + 1)
	case List:
		n = []int{0, 0, 1, 2, 3, 4, 7}[w.r.IntN(7)]
		if f.Kind != Nested && w.r.IntN(20) == 0 {
			n = 130 // the length takes two bytes in protobuf
		}
	}
	if *budget < 0 && f.Array != Fixed {
		n = 0
	}
	list := make([]Value, n)
	for i := range list {
		list[i] = w.single(f, budget)
	}
	return list
}

func (w *World) single(f *Field, budget *int) Value {
	*budget--
	switch {
	case f.Kind == Nested:
		return w.message(f.Message, budget)
	case f.Kind == Bool:
		return w.r.IntN(2) == 0
	case f.Kind.isText():
		return w.text(f)
	case f.Kind == Time && w.o.Before1970 && w.r.IntN(2) == 0:
		return time.Duration(w.pick(-1, -1e9, -5e8, -1<<31*int64(time.Second), -1-w.r.Int64N(1e18)))
	case f.Kind == Time:
		return time.Duration(w.pick(0, 1, 999_999_999, 1<<31*int64(time.Second)-1, 1_700_000_000*int64(time.Second)+
			w.r.Int64N(int64(1e15))))
	case f.Kind == Duration:
		return time.Duration(w.pick(0, 1, -1, -5e8, -15e8, -1e9, 1e9, 25e8, -1<<31*int64(time.Second),
			1<<31*int64(time.Second)-1, w.r.Int64N(2e18)-1e18))
	case f.Kind == "float32":
		return float64(math.Float32frombits(uint32(w.float(8, 23))))
	case f.Kind == "float64":
		return math.Float64frombits(w.float(11, 52))
	}
	return w.integer(f.Kind)
}

func (w *World) pick(values ...int64) int64 { return values[w.r.IntN(len(values))] }

// float returns the bits of a float of that many bits of exponent and fraction.
func (w *World) float(exponent, fraction int) uint64 {
	inf := (uint64(1)<<exponent - 1) << fraction
	sign := uint64(w.r.IntN(2)) << (exponent + fraction)
	switch w.r.IntN(8) {
	case 0:
		return sign
	case 1:
		return sign | inf
	case 2:
		return sign | inf | 1<<(fraction-1) // not a number
	case 3:
		return sign | 1 // the least denormal
	}
	return sign | w.r.Uint64N(inf)
}

func (w *World) integer(k Kind) Value {
	bits := 8 * sizes[k]
	if k == "byte" || k == "char" && w.r.IntN(2) == 0 {
		bits = 7
	}
	if !k.signed() {
		most := uint64(math.MaxUint64) >> (64 - bits)
		return []uint64{0, 1, most, most/2 + 1, w.r.Uint64() & most}[w.r.IntN(5)]
	}
	random := int64(w.r.Uint64()) >> (64 - bits)
	return []int64{0, 1, -1, -1 << (bits - 1), 1<<(bits-1) - 1, random}[w.r.IntN(6)]
}

// text returns a string that fits the bound: characters, of a wide one UTF-16 units.
func (w *World) text(f *Field) string {
	s := []string{"", "", "a", "map", "base_link", "with blanks and = # '\"\\", "Grüße", "日本語", "🤖 robot 🚗",
		"line\nbreak\ttab",
		"nul\x00inside", strings.Repeat("x", 127), strings.Repeat("long ", 60), fmt.Sprint(w.r.Uint64())}[w.r.IntN(14)]
	for f.Bound > 0 && (len(s) > f.Bound || len(utf16.Encode([]rune(s))) > f.Bound) {
		r := []rune(s)
		s = string(r[:len(r)-1])
	}
	return s
}

// Before1970 reports whether a message has a time before 1970.
func Before1970(m *Message, v []Value) bool {
	for i := range m.Fields {
		f := &m.Fields[i]
		list, many := v[i].([]Value)
		if !many || f.Array == One {
			list = v[i : i+1]
		}
		for _, x := range list {
			if sub, ok := x.([]Value); ok && Before1970(f.Message, sub) {
				return true
			}
			if ns, ok := x.(time.Duration); ok && f.Kind == Time && ns < 0 {
				return true
			}
		}
	}
	return false
}
