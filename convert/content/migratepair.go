package content

import (
	"encoding/binary"
	"math"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/bagconv/bagconv/schema"
)

// A versionPair is where each field of a struct comes from in another version of it.
type versionPair struct {
	src     []place
	moves   []move // in the order of the target
	looksIn bool   // a rule looks into structs of the source
}

// A place is a field, or one of a struct in it that a rule looks into.
type place struct {
	path, def string
	typ       schema.Type
}

// A move makes a field of the target.
type move struct {
	place
	from   int // index of a place of the source; -1: there is none
	origin Origin
}

// pairVersions finds them. A rule names the place; else it is the field of that name, then the first
// one of that name in other case, if its values can become those of the target and no other field has it.
func pairVersions(src, dst *schema.Message, rule *Rule) *versionPair {
	open := map[string]bool{}
	look := func(path string) {
		for i := range len(path) {
			if path[i] == '.' {
				open[path[:i]] = true
			}
		}
	}
	var origins map[string]Origin
	if rule != nil {
		origins = rule.Fields
		for path, o := range origins {
			look(path)
			look(o.Path)
		}
		for _, path := range rule.Drop {
			look(path)
		}
	}
	p := &versionPair{src: placesOf(src, "", open)}
	used := make([]bool, len(p.src))
	find := func(same func(a string) bool) int {
		for i, s := range p.src {
			if same(s.path) {
				return i
			}
		}
		return -1
	}
	for _, s := range p.src {
		p.looksIn = p.looksIn || strings.Contains(s.path, ".")
	}
	for _, d := range placesOf(dst, "", open) {
		o, named := origins[d.path]
		m := move{place: d, from: -1, origin: o}
		if !named || o.Path != "" {
			want := d.path
			if named {
				want = o.Path
			}
			if m.from = find(func(a string) bool { return a == want }); m.from < 0 && !named {
				m.from = find(func(a string) bool { return strings.EqualFold(a, want) })
			}
			if m.from >= 0 && !named && (used[m.from] || !canBecome(p.src[m.from].typ, d.typ)) {
				m.from = -1
			}
		}
		if o.Default != "" {
			m.def = o.Default
		}
		if m.from >= 0 {
			used[m.from] = true
		}
		p.moves = append(p.moves, m)
	}
	return p
}

// placesOf lists the fields of a struct, and in the place of a struct that a rule looks into its fields.
func placesOf(m *schema.Message, prefix string, open map[string]bool) (out []place) {
	for _, f := range m.Fields {
		path := prefix + f.Name
		if open[path] && f.Type.Array == schema.Single && f.Type.Kind == schema.Struct && len(f.Type.Message.Fields) > 0 {
			out = append(out, placesOf(f.Type.Message, path+".", open)...)
			continue
		}
		out = append(out, place{path, f.Default, f.Type})
	}
	return out
}

// canBecome reports whether values of a field can become those of another.
func canBecome(src, dst schema.Type) bool {
	if (src.Array == schema.Single) != (dst.Array == schema.Single) {
		return false
	}
	word := func(t schema.Type) bool { return t.Kind == schema.String || t.Kind == schema.WString }
	return src.TimeKind() != schema.Invalid && dst.TimeKind() != schema.Invalid || src.Kind == schema.Struct && dst.Kind == schema.Struct || word(src) && word(dst) || isNumber(src.Kind) && isNumber(dst.Kind)
}

// element returns the type of a value of a field.
func element(t schema.Type) schema.Type {
	t.Array, t.Len = schema.Single, 0
	return t
}

func isNumber(k schema.Kind) bool {
	return k.Size() > 0 && k != schema.Time && k != schema.Duration && k != schema.LongDouble
}

// time copies both words of a time. A duration whose nanoseconds have another sign in the other
// encoding becomes one of the same length, if there is one.
func (v *versionWalk) time(src, dst schema.Type) {
	sec, nsec := v.r.U32(), v.r.U32()
	if span := src.Kind == schema.Duration || v.r.NUL && dst.Kind == schema.Duration; span && v.crossing && nsec >= 1<<31 {
		s, n := int64(int32(sec)), int64(nsec)
		if !v.r.NUL {
			n = int64(int32(nsec))
		}
		if s, n = whole(s, n); s >= math.MinInt32 && s <= math.MaxInt32 {
			sec, nsec = uint32(s), uint32(n)
		}
	}
	v.w.U32(sec)
	v.w.U32(nsec)
}

// text makes a string one of another kind and length.
func (v *versionWalk) text(src, dst schema.Type) {
	var text string
	var units []uint16
	if src.Kind == schema.WString {
		units, _ = v.r.Wide(nil)
		text = string(utf16.Decode(units))
	} else {
		text = string(v.r.String())
		units = utf16.Encode([]rune(text))
	}
	if bound := dst.StringBound; bound > 0 && (src.StringBound == 0 || src.StringBound > bound) {
		if n := bound; n < len(text) {
			for n > 0 && !utf8.RuneStart(text[n]) {
				n--
			}
			text = text[:n]
		}
		if n := bound; n < len(units) {
			if utf16.IsSurrogate(rune(units[n])) && utf16.IsSurrogate(rune(units[n-1])) {
				n-- // half a character
			}
			units = units[:n]
		}
	}
	v.write(dst.Kind, text, units)
}

// write writes a string; units nil: they are those of text.
func (v *versionWalk) write(k schema.Kind, text string, units []uint16) {
	if k == schema.String {
		v.w.String([]byte(text))
		return
	}
	if units == nil {
		units = utf16.Encode([]rune(text))
	}
	v.w.U32(uint32(len(units)))
	for _, u := range units {
		v.w.U32(uint32(u))
	}
}

func (v *versionWalk) number(size int, bits uint64) {
	v.w.Align(size)
	v.w.Buf = append(v.w.Buf, binary.LittleEndian.AppendUint64(nil, bits)[:size]...)
}

// numbers writes the first numbers of p as those of another kind.
func (v *versionWalk) numbers(p []byte, kept int, from, to schema.Kind, o Origin) {
	size := from.Size()
	eight := from.Size() == 1 && to.Size() == 1 && from != schema.Bool && to != schema.Bool
	octet := func(k schema.Kind) bool { return k == schema.Byte || k == schema.Char || k == schema.IDLChar }
	same := from == to || eight && (octet(from) || octet(to)) // ROS 1 and ROS 2 differ in the sign of a byte
	if !v.r.OK() || kept == 0 {
		return
	}
	if same && !v.r.BigEndian && o.Values == nil && o.Scale == 0 { // an image
		v.w.Align(size)
		v.w.Buf = append(v.w.Buf, p[:kept*size]...)
		return
	}
	for i := range kept {
		bits := uint64(0)
		for k := range size {
			at := i*size + k
			if v.r.BigEndian {
				at = i*size + size - 1 - k
			}
			bits |= uint64(p[at]) << (8 * k)
		}
		if !same || o.Values != nil || o.Scale != 0 {
			bits = exact(bits, from).ruled(o, to).as(to)
		}
		v.number(to.Size(), bits)
	}
}

// A quantity is a number of any kind: a fraction, or an integer with its sign.
type quantity struct {
	fraction float64
	isFloat  bool
	negative bool
	size     uint64 // without the sign
}

func integer(v int64) quantity {
	if v < 0 {
		return quantity{negative: true, size: -uint64(v)}
	}
	return quantity{size: uint64(v)}
}

// exact returns the number that bits are.
func exact(bits uint64, k schema.Kind) quantity {
	switch k {
	case schema.Float64:
		return quantity{isFloat: true, fraction: math.Float64frombits(bits)}
	case schema.Float32:
		return quantity{isFloat: true, fraction: float64(math.Float32frombits(uint32(bits)))}
	case schema.Int8:
		return integer(int64(int8(bits)))
	case schema.Int16:
		return integer(int64(int16(bits)))
	case schema.Int32, schema.Enum:
		return integer(int64(int32(bits)))
	case schema.Int64:
		return integer(int64(bits))
	case schema.Bool:
		return quantity{size: min(bits, 1)}
	}
	return quantity{size: bits}
}

func (q quantity) float() float64 {
	switch {
	case q.isFloat:
		return q.fraction
	case q.negative:
		return -float64(q.size)
	}
	return float64(q.size)
}

// ruled returns what a rule makes of it.
func (q quantity) ruled(o Origin, to schema.Kind) quantity {
	if !q.isFloat {
		key := int64(q.size)
		if q.negative {
			key = -key
		}
		if v, ok := o.Values[key]; ok {
			q = integer(v)
		}
	}
	if o.Scale == 0 {
		return q
	}
	f := q.float()*o.Scale + o.Offset
	if to != schema.Float64 && to != schema.Float32 {
		f = math.Round(f)
	}
	return quantity{isFloat: true, fraction: f}
}

// as returns the bits of the number of a kind that is nearest.
func (q quantity) as(k schema.Kind) uint64 {
	switch {
	case k == schema.Float64:
		return math.Float64bits(q.float())
	case k == schema.Float32:
		return uint64(math.Float32bits(float32(q.float())))
	case k == schema.Bool:
		return map[bool]uint64{true: 1}[q.isFloat && q.fraction != 0 || !q.isFloat && q.size != 0]
	}
	if q.isFloat {
		switch f := math.Trunc(math.Abs(q.fraction)); {
		case f != f:
			q = quantity{}
		case f >= 1<<64:
			q = quantity{negative: q.fraction < 0, size: math.MaxUint64}
		default:
			q = quantity{negative: q.fraction < 0, size: uint64(f)}
		}
	}
	n := 8 * k.Size()
	switch k {
	case schema.Int8, schema.Int16, schema.Int32, schema.Int64, schema.Enum:
		if q.negative {
			return -min(q.size, 1<<(n-1))
		}
		return min(q.size, 1<<(n-1)-1)
	}
	if q.negative {
		return 0
	}
	return min(q.size, math.MaxUint64>>(64-n))
}
