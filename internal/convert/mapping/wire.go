package mapping

import (
	"strings"

	"github.com/bagconv/bagconv/internal/schema/facts"

	"github.com/bagconv/bagconv/schema"
)

// sameWire reports whether a ROS 1 and a ROS 2 type have the same fields: the same
// values in the same order, under names that differ in case at most. Header.seq
// is left aside, and so are bounds, which the wire does not show.
func sameWire(a, b *schema.Message) bool {
	return (&wirePairs{done: map[[2]*schema.Message]bool{}}).same(a, b)
}

// sameLayout reports whether messages of type a are messages of type b of the same dialect:
// sameWire, and no bound of b is narrower.
func sameLayout(a, b *schema.Message) bool {
	return (&wirePairs{done: map[[2]*schema.Message]bool{}, bounds: true}).same(a, b)
}

// wirePairs remembers what was compared, so that a graph in which types share
// their parts is walked once.
type wirePairs struct {
	done   map[[2]*schema.Message]bool
	bounds bool // also compare bounds
	octets bool // byte, char and uint8 are one: they are the same numbers
}

// sameReading reports whether a message has the same values by either of two types of a dialect.
func sameReading(a, b *schema.Message) bool {
	return (&wirePairs{done: map[[2]*schema.Message]bool{}, octets: true}).same(a, b)
}

func octet(k schema.Kind) bool {
	return k == schema.Byte || k == schema.Char || k == schema.IDLChar || k == schema.Uint8
}

func (w *wirePairs) same(a, b *schema.Message) bool {
	k := [2]*schema.Message{a, b}
	if r, ok := w.done[k]; ok {
		return r
	}
	r := facts.IsROS1Header(a) && isROS2Header(b) || w.fields(a, b)
	w.done[k] = r
	return r
}

func (w *wirePairs) fields(a, b *schema.Message) bool {
	if len(a.Fields) != len(b.Fields) {
		return false
	}
	for i, f := range a.Fields {
		g := b.Fields[i]
		if !strings.EqualFold(f.Name, g.Name) || !w.types(f.Type, g.Type) {
			return false
		}
	}
	return true
}

func (w *wirePairs) types(a, b schema.Type) bool {
	if dynamic(a.Array) != dynamic(b.Array) || (a.Array == schema.Fixed) != (b.Array == schema.Fixed) ||
		a.Array == schema.Fixed && a.Len != b.Len {
		return false
	}
	if w.bounds && (b.StringBound != 0 && a.StringBound != b.StringBound || b.Array == schema.Bounded &&
		(a.Array != b.Array || a.Len != b.Len)) {
		return false
	}
	switch {
	case a.Kind == schema.Struct && b.Kind == schema.Struct:
		return w.same(a.Message, b.Message)
	case (a.Kind == schema.Time || a.Kind == schema.Duration) && b.Kind == schema.Struct:
		return b.TimeKind() == a.Kind
	}
	return a.Kind == b.Kind || w.octets && octet(a.Kind) && octet(b.Kind)
}

func dynamic(a schema.Array) bool { return a == schema.Bounded || a == schema.Unbounded }
