package content

import (
	"encoding/binary"
	"math"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/schema/numbers"

	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/schema"
)

// A versionPair is where each field of a struct comes from in another version of it.
type versionPair struct {
	src     []place
	moves   []move // in the order of the target
	looksIn bool   // a rule looks into structs of the source
}

// A place is a field, or a field of a struct in it that a rule looks into.
type place struct {
	path, def string
	typ       schema.Type
	field     *message.Field // of the source
}

// A move makes a field of the target.
type move struct {
	place
	from   int // index of a place of the source, or -1
	origin Origin
}

// pairVersions finds where the fields come from. A rule names the place; else it is the field of that name, then
// the first field of that name in other case, if its values can become the target's and no other field has it.
func pairVersions(typ *message.Type, src, dst *schema.Message, rule *Rule) *versionPair {
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
	p := &versionPair{src: placesOf(typ, src, "", open)}
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
	for _, d := range placesOf(nil, dst, "", open) {
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

// placesOf lists the fields of a struct, and in the place of a struct that a rule looks into its fields. typ is nil
// for the target.
func placesOf(typ *message.Type, m *schema.Message, prefix string, open map[string]bool) (out []place) {
	for i, f := range m.Fields {
		p := place{path: prefix + f.Name, def: f.Default, typ: f.Type}
		var inner *message.Type
		if typ != nil {
			p.field = &typ.Fields[i]
			inner = p.field.Type
		}
		if open[p.path] && f.Type.Array == schema.Single && f.Type.Kind == schema.Struct && len(f.Type.Message.Fields) > 0 {
			out = append(out, placesOf(inner, f.Type.Message, p.path+".", open)...)
			continue
		}
		out = append(out, p)
	}
	return out
}

// canBecome reports whether values of a field can become values of another.
func canBecome(src, dst schema.Type) bool {
	if (src.Array == schema.Single) != (dst.Array == schema.Single) {
		return false
	}
	word := func(t schema.Type) bool { return t.Kind == schema.String || t.Kind == schema.WString }
	return src.TimeKind() != schema.Invalid && dst.TimeKind() != schema.Invalid || src.Kind == schema.Struct &&
		dst.Kind == schema.Struct || word(src) && word(dst) || isNumber(src.Kind) && isNumber(dst.Kind)
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
// encoding becomes a duration of the same length, if there is one.
func (v *versionWalk) time(f *message.Field, src, dst schema.Type) {
	sec, nsec := v.c.Time(f)
	span := src.Kind == schema.Duration || v.g.from == serial.CDR && dst.Kind == schema.Duration
	if span && v.crossing && uint32(nsec) >= 1<<31 {
		if s, n := whole(sec, nsec); s >= math.MinInt32 && s <= math.MaxInt32 {
			sec, nsec = s, n
		}
	}
	v.w.U32(uint32(sec))
	v.w.U32(uint32(nsec))
}

// text turns a string into another kind and length.
func (v *versionWalk) text(f *message.Field, dst schema.Type) {
	var text string
	var units []uint16
	if f.Wide {
		units, _ = v.c.Units()
		text = string(utf16.Decode(units))
	} else {
		text = string(v.c.Text(f))
		units = utf16.Encode([]rune(text))
	}
	if bound := dst.StringBound; bound > 0 && (f.TextBound == 0 || f.TextBound > bound) {
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

// write writes a string; with units nil, the units of text.
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

// numbers writes the first numbers of p as numbers of another kind.
func (v *versionWalk) numbers(p []byte, kept int, from, to schema.Kind, o Origin) {
	size := from.Size()
	eight := from.Size() == 1 && to.Size() == 1 && from != schema.Bool && to != schema.Bool
	octet := func(k schema.Kind) bool { return k == schema.Byte || k == schema.Char || k == schema.IDLChar }
	same := from == to || eight && (octet(from) || octet(to)) // ROS 1 and ROS 2 differ in the sign of a byte
	if !v.c.OK() || kept == 0 {
		return
	}
	if same && o.Values == nil && o.Scale == 0 { // an image
		v.w.Align(size)
		v.w.Buf = append(v.w.Buf, p[:kept*size]...)
		return
	}
	for i := range kept {
		var word [8]byte
		copy(word[:], p[i*size:][:size])
		v.number(to.Size(), o.number(binary.LittleEndian.Uint64(word[:]), from, to))
	}
}

// number returns the number of a kind that is nearest to what a rule makes of another number.
func (o *Origin) number(bits uint64, from, to schema.Kind) uint64 {
	class, width := numbers.Of(from)
	into, most := numbers.Of(to)
	bits = class.Widen(bits, width)
	if v, ok := o.Values[int64(bits)]; ok && class != numbers.Float {
		bits, class = uint64(v), numbers.Signed
	}
	if o.Scale != 0 {
		f := class.Float(bits)*o.Scale + o.Offset
		if into != numbers.Float {
			f = math.Round(f)
		}
		bits, class = math.Float64bits(f), numbers.Float
	}
	bits, _ = class.Convert(bits, into, most)
	return bits
}
