package content

import (
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// What only IDL has, read a second time: internal/wire/xtypes has the drawing of the bytes, and
// makes messages plain for all other readers.

// always reports whether each message has a field, but for one that is only @mutable.
func always(m *schema.Member) bool {
	return m == nil || !m.Optional && m.Labels == nil && !m.Default
}

// inBytes returns the type of a field as it stands in CDR. lone: its canonical type is a list of it.
func inBytes(s slot) (t schema.Type, lone bool) {
	t = s.typ
	if always(s.member) {
		return t, false
	}
	switch s.member.Type.Array {
	case schema.Fixed:
		t.Array = schema.Fixed
	case schema.Single:
		t.Array, t.Len, lone = schema.Single, 0, true
	default:
		if s.member.Optional { // a list in a struct that stands for it
			t.Array, t.Len, lone = schema.Single, 0, true
		}
	}
	return t, lone
}

// open begins a message, and returns what its struct is.
func (r *rosReader) open(p *Program, src []byte) (schema.Extensibility, error) {
	if p.cdr && len(src) >= ros.HeaderSize && src[0] == 0 && p.ros.ids != nil {
		form := ros.Forms
		switch src[1] {
		case 2:
			form = ros.PlainBE
		case 3:
			form = ros.PlainLE
		case 10, 18:
			form = ros.Plain2BE
		case 11, 19:
			form = ros.Plain2LE
		}
		if form != ros.Forms {
			r.Begin(src[ros.HeaderSize:], form, ros.HeaderSize)
			return schema.Mutable, nil
		}
	}
	if err := r.Open(src, p.cdr); err != nil {
		return schema.Final, err
	}
	if r.Delimited {
		return schema.Appendable, nil
	}
	return schema.Final, nil
}

// extentOf returns what a struct is within the one that is read.
func (r *rosReader) extentOf(e schema.Extensibility) schema.Extensibility {
	if e == schema.Unstated {
		return r.around
	}
	return e
}

// enter reads what stands before a struct, and returns where it ends; -1 if that is not known.
func (r *rosReader) enter(extent schema.Extensibility) (end int) {
	switch extent {
	case schema.Bare:
		return -1
	case schema.Final:
		r.around = schema.Final
		return -1
	}
	r.around = schema.Appendable
	if !r.Sizes {
		return -1
	}
	return r.Delimiter()
}

// choose reads the discriminator of a union ahead, and returns the field that it chooses.
func (r *rosReader) choose(m *schema.Message, members []member) (chosen int) {
	kind := m.Fields[0].Type.Kind
	saved := r.Reader
	if members != nil && !r.to(&members[0]) {
		r.Reader = saved
		r.Fail("a union without its discriminator")
		return -1
	}
	p := append([]byte(nil), r.Numbers(1, kind.Size())...)
	if r.BigEndian {
		for i, j := 0, len(p)-1; i < j; i, j = i+1, j-1 {
			p[i], p[j] = p[j], p[i]
		}
	}
	if r.OK() {
		r.Reader = saved
	}
	return m.Chosen(schema.Discriminator(kind, p))
}

// A member is where a field of a @mutable struct is.
type member struct {
	size, at int
	there    bool
	part     ros.Reader // in XCDR1
}

// to goes to a member, and reports whether there is one.
func (r *rosReader) to(m *member) bool {
	switch {
	case !m.there:
		return false
	case r.Sizes:
		r.Seek(m.at)
	default:
		r.Reader = m.part
	}
	return true
}

// members finds the fields of a @mutable struct that ends there, in XCDR1 at a mark.
func (r *rosReader) members(n *rosNode, end int) ([]member, int) {
	out := make([]member, max(1, len(n.msg.Fields)))
	for r.OK() {
		if r.Sizes && end-r.Pos() < 4 {
			if !ros.IsPadding(r.Rest()[:end-r.Pos()]) {
				r.Fail("a struct of %d bytes more than its members", end-r.Pos())
			}
			break
		}
		r.Align(4)
		id, size, must := r.memberHeader()
		if id == listEnd && !r.Sizes {
			end = r.Pos()
			break
		}
		i, known := n.ids[id]
		if must && !known {
			r.Fail("member %d must be understood", id)
		}
		m := member{size: size, at: r.Pos(), there: true}
		m.part = r.Part(size)
		if r.Sizes && r.Pos() > end {
			r.Fail("a member that ends outside of its struct")
		}
		if known {
			out[i] = m
		} else {
			r.w.Rest = r.w.Rest || size > 0
		}
	}
	return out, end
}

// listEnd is the id after the last member in XCDR1.
const listEnd = 0x3f02

// memberHeader reads what stands before a field of a @mutable struct.
func (r *rosReader) memberHeader() (id uint32, size int, must bool) {
	if !r.Sizes {
		short := r.U16()
		size = int(r.U16())
		if short&0x3fff != 0x3f01 {
			return uint32(short & 0x3fff), size, short&0x4000 != 0
		}
		long := r.U32()
		return long & 0x0fffffff, int(r.U32()), long&0x40000000 != 0
	}
	head := r.U32()
	at := r.Pos()
	switch code := head >> 28 & 7; code {
	case 0, 1, 2, 3:
		size = 1 << code
	case 4:
		size = int(r.U32())
	default:
		size = int(r.U32())*map[uint32]int{5: 1, 6: 4, 7: 8}[code] + 4
		r.Seek(at)
	}
	return head & 0x0fffffff, size, head>>31 == 1
}

// member reads a field that is not always there.
func (r *rosReader) member(n *rosNode, s *rosStep, chosen int, members []member) {
	saved := r.Reader
	there := true
	back := func() {}
	switch {
	case members != nil:
		there = r.to(&members[s.field]) && (!n.msg.Union || s.field == 0 || s.field == chosen)
		if r.Sizes {
			at := members[s.field].at + members[s.field].size
			back = func() { r.leave(at) }
		} else {
			back = func() { r.part(saved) }
		}
	case n.msg.Union:
		there = s.field == 0 || s.field == chosen
	case s.member.Optional && r.Sizes:
		there = r.U8() != 0
	case s.member.Optional:
		r.Align(4)
		id, size := r.U16()&0x3fff, int(r.U16())
		switch id {
		case 0x3f01:
			r.U32()
			size = int(r.U32())
		case listEnd:
			r.Fail("no header of an optional member")
		}
		part := r.Part(size)
		if saved = r.Reader; size > 0 && r.OK() {
			r.Reader = part
			back = func() { r.part(saved) }
		}
		there = size > 0
	}
	switch {
	case !r.OK():
	case there:
		if s.lone && s.emit {
			r.w.u32(1)
		}
		r.value(s)
		if r.OK() {
			back()
		}
	default:
		if members != nil && !r.Sizes {
			r.Reader = saved
		}
		r.absent(s)
	}
}

// part counts what is left of a member in XCDR1, and goes back to the message around it.
func (r *rosReader) part(outer ros.Reader) {
	if !ros.IsPadding(r.Rest()) {
		r.w.Rest = true
	}
	r.Reader = outer
}

// Writers of XCDR2 do not agree on the size before maps and lists of enums: those with Fast CDR
// have it before a map if its values are not numbers and before no list of an enum, Cyclone DDS
// before no map. attempts is the number of these ways in which a message is read, until one of them
// leaves no bytes over.
const attempts = 3

// hasSize reports whether XCDR2 has a size before the values of a step.
func (r *rosReader) hasSize(s *rosStep) bool {
	if s.enums {
		return r.attempt != 1
	}
	if !s.pairs {
		return s.sized
	}
	number := func(t schema.Type, enum bool) bool {
		return t.Array == schema.Single && t.Kind.Size() > 0 && (enum || !t.IsEnum())
	}
	k, v := s.node.msg.Fields[0].Type, s.node.msg.Fields[1].Type
	switch r.attempt {
	case 0:
		return !(number(k, false) && number(v, false))
	case 1:
		return !number(v, true)
	}
	return false
}
