package render

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/bagconv/bagconv/schema"
)

// A layout is a form of the wires, as the tests write it.
type layout struct {
	header     []byte // nil: ROS 1
	align      int
	big        bool
	cdr        bool
	sizes      bool
	delimited  bool
	wideString int // bytes of a unit
}

var layouts = map[string]layout{
	"ros1":         {align: 1},
	"cdr le":       {header: []byte{0, 1, 0, 0}, align: 8, cdr: true, wideString: 4},
	"cdr be":       {header: []byte{0, 0, 0, 0}, align: 8, cdr: true, big: true, wideString: 4},
	"xcdr2 le":     {header: []byte{0, 7, 0, 0}, align: 4, cdr: true, sizes: true, wideString: 2},
	"xcdr2 be":     {header: []byte{0, 0x10, 0, 0}, align: 4, cdr: true, big: true, sizes: true, wideString: 2},
	"delimited le": {header: []byte{0, 9, 0, 0}, align: 4, cdr: true, sizes: true, delimited: true, wideString: 2},
	"delimited be": {header: []byte{0, 8, 0, 0}, align: 4, cdr: true, big: true, sizes: true, delimited: true,
		wideString: 2},
}

// An object is a struct as a tree of values: fields in order.
type object struct {
	names []string
	vals  []any
}

// blob is a list of bytes.
type blob []byte

// maker makes random types, values and messages.
type maker struct{ *rand.Rand }

var kinds = []schema.Kind{schema.Bool, schema.Int8, schema.Uint8, schema.Int16, schema.Uint16, schema.Int32,
	schema.Uint32, schema.Int64, schema.Uint64,
	schema.Float32, schema.Float64, schema.Byte, schema.Char, schema.String, schema.String, schema.Float64, schema.Float32}

// message makes a type. ROS 1 has times, and no wide strings.
func (g maker) message(depth int, ros1 bool) *schema.Message {
	m := &schema.Message{Name: fmt.Sprintf("p/T%d", g.Uint32())}
	for i := range g.IntN(6) {
		f := schema.Field{Name: []string{"on", "x_", "field"}[g.IntN(3)] + strconv.Itoa(i),
			Type: schema.Type{Kind: kinds[g.IntN(len(kinds))]}}
		switch k := g.IntN(12); {
		case k == 0 && ros1:
			f.Type.Kind = []schema.Kind{schema.Time, schema.Duration}[g.IntN(2)]
		case k == 0:
			f.Type.Kind = []schema.Kind{schema.WString, schema.Enum, schema.IDLChar}[g.IntN(3)]
		case k < 5 && depth < 4:
			f.Type.Kind, f.Type.Message = schema.Struct, g.message(depth+1, ros1)
		}
		switch g.IntN(6) {
		case 0:
			f.Type.Array = schema.Unbounded
		case 1:
			f.Type.Array, f.Type.Len = schema.Fixed, g.IntN(5)
		case 2:
			f.Type.Array, f.Type.Len = schema.Bounded, 1000
		}
		m.Fields = append(m.Fields, f)
	}
	return m
}

// A writer makes a message and, next to it, the tree of its values.
type writer struct {
	maker
	layout
	out  []byte
	long bool // make a list longer than LongList now and then
}

func (w *writer) pad(n int) {
	for n = min(n, w.align); len(w.out)%n != 0; {
		w.out = append(w.out, 0xee)
	}
}

func (w *writer) number(v uint64, size int) {
	w.pad(size)
	var b [8]byte
	if w.big {
		binary.BigEndian.PutUint64(b[:], v)
		w.out = append(w.out, b[8-size:]...)
		return
	}
	binary.LittleEndian.PutUint64(b[:], v)
	w.out = append(w.out, b[:size]...)
}

// sized writes what f writes after its size.
func (w *writer) sized(on bool, f func()) {
	if on {
		w.number(0, 4)
	}
	head := len(w.out)
	if f(); on {
		at := writer{layout: w.layout}
		at.number(uint64(len(w.out)-head), 4)
		copy(w.out[head-4:], at.out)
	}
}

func (w *writer) value(t schema.Type) any {
	if t.Array == schema.Single {
		return w.single(t)
	}
	n := t.Len
	if t.Array != schema.Fixed {
		if n = w.IntN(4); w.long && w.IntN(8) == 0 {
			n = LongList - 1 + w.IntN(4)
		}
	}
	list := []any{}
	size := t.Kind.Size()
	w.sized(w.sizes && size == 0, func() {
		if t.Array != schema.Fixed {
			w.number(uint64(n), 4)
		}
		for range n {
			list = append(list, w.single(t))
		}
	})
	switch t.Kind {
	case schema.Uint8, schema.Byte, schema.Char, schema.IDLChar:
		return blob(w.out[len(w.out)-n:])
	}
	return list
}

func (w *writer) single(t schema.Type) any {
	switch t.Kind {
	case schema.Struct:
		o := &object{}
		w.sized(w.delimited, func() {
			if len(t.Message.Fields) == 0 && w.cdr {
				w.out = append(w.out, 0)
			}
			for _, f := range t.Message.Fields {
				o.names = append(o.names, f.Name)
				o.vals = append(o.vals, w.value(f.Type))
			}
		})
		return o
	case schema.Time, schema.Duration:
		sec, nsec := w.Uint32(), w.Uint32()
		w.number(uint64(sec), 4)
		w.number(uint64(nsec), 4)
		if t.Kind == schema.Duration {
			return &object{[]string{"sec", "nanosec"}, []any{int64(int32(sec)), int64(int32(nsec))}}
		}
		return &object{[]string{"sec", "nanosec"}, []any{int64(sec), int64(nsec)}}
	case schema.String:
		s := w.text()
		if w.cdr {
			w.number(uint64(len(s)+1), 4)
			w.out = append(append(w.out, s...), 0)
		} else {
			w.number(uint64(len(s)), 4)
			w.out = append(w.out, s...)
		}
		return s
	case schema.WString:
		s := w.text()
		units := utf16.Encode([]rune(s))
		if w.sizes {
			w.number(uint64(2*len(units)), 4)
		} else {
			w.number(uint64(len(units)), 4)
		}
		for _, u := range units {
			w.number(uint64(u), w.wideString)
		}
		return s
	}
	bits := w.Uint64() >> w.IntN(64)
	switch t.Kind {
	case schema.Bool:
		bits &= 1
	case schema.Float32:
		bits = uint64(math.Float32bits(float32(w.float())))
	case schema.Float64:
		bits = math.Float64bits(w.float())
	}
	w.number(bits, t.Kind.Size())
	switch t.Kind {
	case schema.Bool:
		return bits == 1
	case schema.Float32:
		return math.Float32frombits(uint32(bits))
	case schema.Float64:
		return math.Float64frombits(bits)
	case schema.Int8:
		return int64(int8(bits))
	case schema.Byte:
		if !w.cdr {
			return int64(int8(bits))
		}
		return int64(uint8(bits))
	case schema.Uint8, schema.Char, schema.IDLChar:
		return int64(uint8(bits))
	case schema.Int16:
		return int64(int16(bits))
	case schema.Uint16:
		return int64(uint16(bits))
	case schema.Int32, schema.Enum:
		return int64(int32(bits))
	case schema.Uint32:
		return int64(uint32(bits))
	case schema.Int64:
		return strconv.Quote(strconv.FormatInt(int64(bits), 10)) + "i"
	}
	return strconv.Quote(strconv.FormatUint(bits, 10)) + "i"
}

func (w *writer) text() string {
	var b strings.Builder
	for range w.IntN(6) {
		b.WriteString([]string{"a", "Z", "0", `"`, "\\", "\n", "\t", ",", " ", "\u00e9", "\u2028", "\U0001f600", "\x00x",
			"\x7f", "- ", ": ", "#", "\r"}[w.IntN(18)])
	}
	return b.String()
}

func (w *writer) float() float64 {
	switch w.IntN(8) {
	case 0:
		return []float64{0, math.Copysign(0, -1), 1, -1, 100, 1 << 24, 1e15, 1e16, 1e22, 123456789, -1e-4, 1e-5, 1e-300,
			math.MaxFloat64}[w.IntN(14)]
	case 1:
		return []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[w.IntN(3)]
	case 2:
		return math.Float64frombits(w.Uint64())
	}
	return w.NormFloat64()
}
