package tree

import (
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// maxElements bounds the structs of a fixed array that are gone over for their size.
const maxElements = 10_000

// A placer works out where fields stand in a serialized message, up to the first one whose
// size differs from message to message.
type placer struct {
	layout ros.Layout
	head   int // bytes before the first field
	pos    int // after head, of what comes next; -1: not known any more
}

// placerOf returns the placer for messages of an encoding of a topic; nil if fields have no
// place of their own in it.
func placerOf(encoding string) *placer {
	switch encoding {
	case "ros1":
		return &placer{layout: ros.ROS1.Layout()}
	case "cdr":
		return &placer{layout: ros.PlainLE.Layout(), head: ros.HeaderSize}
	}
	return nil
}

// place sets the size of a field and its offset, and of the fields in it. Fields of an array have
// the offsets of its first element.
func (p *placer) place(n *Node, t schema.Type) {
	begin := p.pos
	if t.Array == schema.Bounded || t.Array == schema.Unbounded {
		if p.pos >= 0 {
			p.align(t)
			at := p.pos + p.head
			n.Offset = &at
		}
		if p.pos = -1; t.Kind == schema.Struct {
			p.fields(n, t.Message)
		}
		return
	}
	one := t
	one.Array = schema.Single
	if p.pos >= 0 {
		first := *p
		if first.align(one); first.pos >= 0 {
			at := first.pos + p.head
			n.Offset = &at
			begin = first.pos
		}
	}
	if t.Kind == schema.Struct {
		inner := placer{p.layout, p.head, begin}
		inner.fields(n, t.Message)
	}
	end, fixed := p.end(t, max(begin, 0))
	if p.pos = -1; !fixed {
		n.Offset = nil
		if begin >= 0 && t.Array == schema.Single {
			at := begin + p.head
			n.Offset = &at
		}
		return
	}
	if begin >= 0 {
		p.pos = end
	}
	if size := end - max(begin, 0); begin >= 0 || p.layout.MaxAlign == 1 || t.Kind != schema.Struct {
		n.Size = &size
	}
}

// fields places the fields of a message that the tree has.
func (p *placer) fields(n *Node, m *schema.Message) {
	for i, child := range n.Fields {
		p.place(child, m.Fields[i].Type)
	}
}

// align goes to where a value begins: for a struct, where its first field begins.
func (p *placer) align(t schema.Type) {
	for t.Kind == schema.Struct && t.Array != schema.Bounded && t.Array != schema.Unbounded && len(t.Message.Fields) > 0 {
		t = t.Message.Fields[0].Type
	}
	size := alignment(t)
	p.pos += ros.Padding(p.pos, min(size, p.layout.MaxAlign))
}

// alignment returns what CDR aligns a value to, in bytes.
func alignment(t schema.Type) int {
	if t.Array == schema.Bounded || t.Array == schema.Unbounded {
		return 4
	}
	switch t.Kind {
	case schema.Time, schema.Duration, schema.String, schema.WString, schema.WChar: // of 32-bit words
		return 4
	case schema.LongDouble:
		return 8
	case schema.Struct:
		return 1
	}
	return max(t.Kind.Size(), 1)
}

// end returns where a field ends that begins at pos or after it; fixed is false if that
// differs from message to message, or takes too long to work out.
func (p *placer) end(t schema.Type, pos int) (end int, fixed bool) {
	n := 1
	switch t.Array {
	case schema.Bounded, schema.Unbounded:
		return 0, false
	case schema.Fixed:
		n = t.Len
	}
	if t.Kind != schema.Struct {
		size := t.Kind.Size()
		if size == 0 {
			return 0, false
		}
		pos += ros.Padding(pos, min(alignment(t), p.layout.MaxAlign))
		return pos + n*size, n >= 0 && n < 1<<40
	}
	if n > maxElements {
		return 0, false
	}
	for range n {
		if len(t.Message.Fields) == 0 && p.layout.Filler {
			pos++
		}
		for _, f := range t.Message.Fields {
			if pos, fixed = p.end(f.Type, pos); !fixed {
				return 0, false
			}
		}
	}
	return pos, true
}
