package verify_test

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/testing/typetree"
)

// A faulty encodes messages as a re-encoder with one fault does: into ROS 1, CDR, or
// the protobuf of a descriptor. The fault is planted at one of the sites where it
// makes a difference. Without a fault the messages are right.
type faulty struct {
	encoding string
	fault    string
	site     int // that gets the fault; -1: none, they are counted only
	sites    int
	out      []byte
}

// plant reports whether the fault of this name is to be made here.
func (e *faulty) plant(fault string, differs bool) bool {
	if e.fault != fault || !differs {
		return false
	}
	e.sites++
	return e.sites == e.site+1
}

// encode encodes a message.
func (e *faulty) encode(m *typetree.Message, v []typetree.Value, md protoreflect.MessageDescriptor) []byte {
	e.out, e.sites = nil, 0
	cdr := e.encoding == "cdr"
	if cdr && !e.plant("header missing", true) {
		e.out = append(e.out, 0, 1, 0, 0)
		if e.plant("header big endian", len(v) > 0) {
			e.out[1] = 0
		}
		if e.plant("header parameter list", true) {
			e.out[1] = 3
		}
	}
	if e.encoding == "protobuf" {
		e.protoMessage(m, v, md)
	} else {
		e.message(m, v)
	}
	if e.plant("zeros after", e.encoding != "protobuf") {
		e.out = append(e.out, 0, 0, 0, 0, 0, 0, 0, 0)
	}
	if e.plant("byte after", e.encoding != "protobuf") {
		e.out = append(e.out, 7)
	}
	if e.plant("end cut", len(e.out) > 4) {
		e.out = e.out[:len(e.out)-1]
	}
	return e.out
}

func (e *faulty) align(n int) {
	if e.encoding != "cdr" {
		return
	}
	at := len(e.out) - 4
	if n == 8 && e.plant("padding to 4", at&7 > 0 && at&7 <= 4 || at&3 > 0) {
		n = 4
	}
	if e.plant("padding from the header", n == 8) {
		at += 4
	}
	if pad := -at & (n - 1); !e.plant("padding missing", pad > 0) {
		e.out = append(e.out, make([]byte, pad)...)
	}
	if e.plant("padding too much", true) {
		e.out = append(e.out, make([]byte, n)...)
	}
}

// inROS lists the fields that a message has here.
func (e *faulty) inROS(m *typetree.Message) (in []int) {
	for i, f := range m.Fields {
		if !f.OnlyROS1 || e.encoding != "cdr" {
			in = append(in, i)
		}
	}
	return in
}

// swapped plants the fault of two fields of one kind that have each other's value.
func (e *faulty) swapped(m *typetree.Message, in []int, v []typetree.Value) []typetree.Value {
	for k := 1; k < len(in); k++ {
		a, b := in[k-1], in[k]
		f, g := &m.Fields[a], &m.Fields[b]
		if f.Array != typetree.One || g.Array != typetree.One || f.Kind != g.Kind || f.Message != g.Message ||
			f.Kind == typetree.Nested || f.OnlyROS1 || same(v[a], v[b]) {
			continue
		}
		if e.plant("fields swapped", true) {
			v = slices.Clone(v)
			v[a], v[b] = v[b], v[a]
		}
	}
	return v
}

// same reports whether values are the same, a NaN too.
func same(a, b typetree.Value) bool {
	x, ok := a.(float64)
	y, _ := b.(float64)
	return a == b || ok && math.IsNaN(x) && math.IsNaN(y)
}

func (e *faulty) message(m *typetree.Message, v []typetree.Value) {
	in := e.inROS(m)
	if len(in) == 0 && (e.encoding == "cdr" && !e.plant("empty struct without byte", true) || e.encoding == "ros1" &&
		e.plant("empty struct with byte", true)) {
		e.out = append(e.out, 0)
	}
	v = e.swapped(m, in, v)
	for _, i := range in {
		f := &m.Fields[i]
		if e.plant("field left out", f.Array != typetree.One || f.Kind != typetree.Nested) {
			continue
		}
		if f.Array == typetree.One {
			e.value(f, v[i])
			if e.plant("field twice", f.Kind != typetree.Nested) {
				e.value(f, v[i])
			}
			continue
		}
		list := e.list(f, v[i].([]typetree.Value))
		if f.Array != typetree.Fixed && !e.plant("list without count", true) || f.Array == typetree.Fixed &&
			e.plant("array with count", true) {
			n := len(list)
			if e.plant("count too large", true) {
				n++
			}
			if e.plant("count too small", n > 0 && !hollow(f)) {
				n--
			}
			e.align(4)
			e.out = binary.LittleEndian.AppendUint32(e.out, uint32(n))
			if e.plant("padding of an empty list", n == 0 && e.encoding == "cdr" && wide(f) && len(e.out)&7 == 0) {
				e.align(8)
				e.out = append(e.out, 0, 0, 0, 0)
			}
		}
		for _, x := range list {
			e.value(f, x)
		}
	}
}

// hollow reports whether it is a field whose values may have no bytes.
func hollow(f *typetree.Field) bool { return f.Kind == typetree.Nested }

// wide reports whether it is a field of 8-byte numbers.
func wide(f *typetree.Field) bool {
	return strings.HasSuffix(string(f.Kind), "64")
}

// list plants the faults of lists.
func (e *faulty) list(f *typetree.Field, list []typetree.Value) []typetree.Value {
	list = slices.Clone(list)
	n := len(list)
	if f.Kind != typetree.Nested && n > 1 {
		if e.plant("elements swapped", !same(list[0], list[1])) {
			list[0], list[1] = list[1], list[0]
		}
		turned := slices.Clone(list)
		slices.Reverse(turned)
		if e.plant("list reversed", !slices.EqualFunc(list, turned, same)) {
			list = turned
		}
		if e.plant("first element repeated",
			slices.ContainsFunc(list, func(v typetree.Value) bool { return !same(v, list[0]) })) {
			for i := range list {
				list[i] = list[0]
			}
		}
	}
	// The only value of an array in protobuf is zero if it is not there.
	if e.plant("last element dropped", n > 1 && !(f.Array == typetree.Fixed && hollow(f)) ||
		n == 1 && f.Array != typetree.Fixed) {
		list = list[:n-1]
	}
	if e.plant("element doubled", n > 0 && !(f.Array == typetree.Fixed && hollow(f))) {
		list = append(list, list[n-1])
	}
	return list
}

// value encodes one value of a field.
func (e *faulty) value(f *typetree.Field, v typetree.Value) {
	switch x := v.(type) {
	case []typetree.Value:
		e.message(f.Message, x)
	case string:
		e.text(x)
	case time.Duration:
		sec, nsec := e.time(f, x)
		e.align(4)
		e.out = binary.LittleEndian.AppendUint32(e.out, uint32(sec))
		e.out = binary.LittleEndian.AppendUint32(e.out, uint32(nsec))
	default:
		size, bits := e.number(f, v)
		e.align(size)
		var b [16]byte
		binary.LittleEndian.PutUint64(b[:], bits)
		turned := slices.Clone(b[:size])
		slices.Reverse(turned)
		if e.plant("byte order", !slices.Equal(turned, b[:size]) && size > 1) {
			copy(b[:], turned)
		}
		if e.plant("number too narrow", size > 1) {
			size /= 2
		} else if e.plant("number too wide", true) {
			size *= 2
		}
		e.out = append(e.out, b[:size]...)
	}
}

// time plants the faults of times.
func (e *faulty) time(f *typetree.Field, x time.Duration) (sec, nsec int64) {
	if e.plant("time without sign", x < 0) {
		x = -x
	}
	if e.plant("second off", true) {
		x += time.Second
	}
	if e.plant("nanosecond off", true) {
		x++
	}
	if e.plant("microseconds", x%time.Microsecond != 0) {
		x -= x % time.Microsecond
	}
	sec, nsec = int64(x/time.Second), int64(x%time.Second)
	if nsec < 0 && e.encoding != "protobuf" {
		sec, nsec = sec-1, nsec+1e9
	}
	if e.plant("nanoseconds without sign", e.encoding == "protobuf" && nsec < 0) {
		nsec = -nsec
	}
	if e.plant("nanoseconds dropped", nsec != 0) {
		nsec = 0
	}
	if e.plant("seconds without sign", e.encoding == "protobuf" && sec < 0) {
		sec = int64(uint32(sec))
	}
	if e.plant("words of a time swapped", sec != nsec && sec == int64(int32(sec))) {
		sec, nsec = nsec, sec
	}
	return sec, nsec
}

var sizes = map[typetree.Kind]int{"bool": 1, "int8": 1, "uint8": 1, "byte": 1, "char": 1, "int16": 2, "uint16": 2,
	"int32": 4, "uint32": 4, "float32": 4, "int64": 8, "uint64": 8, "float64": 8}

// number plants the faults of numbers and bools, and returns size and bits.
func (e *faulty) number(f *typetree.Field, v typetree.Value) (size int, bits uint64) {
	size = sizes[f.Kind]
	switch x := v.(type) {
	case bool:
		if x != e.plant("bool inverted", true) {
			bits = 1
		}
		return size, bits
	case int64:
		if e.plant("number without sign", x < 0 && x != -1<<(8*size-1)) {
			x = -x
		}
		if e.plant("integer as float", size == 8 && int64(float64(x)) != x) {
			x = int64(float64(x))
		}
		bits = uint64(x)
	case uint64:
		if bits = x; e.plant("integer as float", size == 8 && x < 1<<63 && uint64(float64(x)) != x) {
			bits = uint64(float64(x))
		}
	case float64:
		if e.plant("not a number as zero", math.IsNaN(x)) {
			x = 0
		}
		if e.plant("zero without sign", x == 0 && math.Signbit(x)) {
			x = 0
		}
		if e.plant("float without precision", size == 8 && !math.IsNaN(x) && float64(float32(x)) != x) {
			x = float64(float32(x))
		}
		if bits = math.Float64bits(x); size == 4 {
			bits = uint64(math.Float32bits(float32(x)))
		}
		if math.IsNaN(x) {
			return size, bits
		}
	}
	mask := uint64(math.MaxUint64) >> (64 - 8*size)
	if e.plant("low half of a number", size > 1 && bits&mask>>(4*size) != 0) {
		bits &= mask >> (4 * size)
	}
	if e.plant("number as zero", bits&mask != 0) {
		bits = 0
	}
	if e.plant("bit flipped", true) {
		bits ^= 1
	}
	return size, bits
}

// text encodes a string.
func (e *faulty) text(s string) {
	s = e.content(s)
	n := len(s)
	cdr := e.encoding == "cdr"
	if cdr && !e.plant("string without end", n > 0) {
		if n++; e.plant("end of string not counted", true) {
			n--
		}
		s += "\x00"
	}
	if e.plant("string with an end", e.encoding == "ros1") {
		n, s = n+1, s+"\x00"
	}
	e.align(4)
	e.out = append(binary.LittleEndian.AppendUint32(e.out, uint32(n)), s...)
}

// content plants the faults of what is in a string.
func (e *faulty) content(s string) string {
	if e.plant("string cut", len(s) > 0) {
		s = s[:len(s)-1]
	}
	if e.plant("string empty", len(s) > 0) {
		s = ""
	}
	ascii := strings.Map(func(r rune) rune {
		if r > 127 {
			return '?'
		}
		return r
	}, s)
	if e.plant("string as ASCII", ascii != s) {
		s = ascii
	}
	var latin []rune
	for _, b := range []byte(s) {
		latin = append(latin, rune(b))
	}
	if e.plant("string encoded twice", ascii != s) {
		s = string(latin)
	}
	if before, _, found := strings.Cut(s, "\x00"); e.plant("string until NUL", found) {
		s = before
	}
	return s
}
