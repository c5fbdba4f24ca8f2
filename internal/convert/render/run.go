package render

import (
	"encoding/binary"
	"math"

	"github.com/bagconv/bagconv/internal/message"
)

// A run is a message on its way. An error of the cursor ends it: what is written from there on does not count.
type run struct {
	out
	*message.Cursor
	p    *Program
	open []*message.Type // CSV: the structs whose fields are cells
}

// message writes all of a message, or the columns.
func (r *run) message() error {
	p := r.p
	switch {
	case p.columns != nil:
		return r.pickAll()
	case p.o.Style == CSV:
		first := true
		r.cells(p.typ, true, &first)
	default:
		r.root()
		r.structure(p.typ)
	}
	return r.End()
}

// bounded reports whether the text may go on.
func (r *run) bounded() bool {
	if len(r.buf) > r.limit {
		r.Fail("the text of the message would be out of proportion")
	}
	return r.OK()
}

// look returns how a field of a struct is written.
func (r *run) look(t *message.Type, f *message.Field) *look { return &r.p.looks[t.Number(f)] }

// structure writes a struct.
func (r *run) structure(t *message.Type) {
	if !r.bounded() {
		return
	}
	fields, c := t.Fields, r.Cursor
	looks := r.p.looks[t.First:][:len(fields)]
	if len(fields) == 0 {
		r.flow("{}")
	}
	end := c.Enter(t)
	for i := range fields {
		if !c.OK() {
			return
		}
		f, l := &fields[i], &looks[i]
		c.At(f)
		if r.key(&l.label, l.flow); l.number {
			r.number(l, c.Bits(f))
		} else {
			r.value(f, l, false)
		}
	}
	c.Leave(end)
	if len(fields) > 0 {
		r.close()
	}
}

// value writes what a field holds; whole keeps its list from being a note.
func (r *run) value(f *message.Field, l *look, whole bool) {
	if !f.List {
		r.single(f, l, whole)
		return
	}
	n := r.Count(f)
	switch {
	case f.Lone && n == 0:
		r.null(l.flow)
	case f.Lone:
		r.single(f, l, whole)
	case l.form == formBytes:
		r.binary(r.Numbers(f, n), whole)
	case n > LongList && !whole && !r.arrays:
		if f.Type != nil {
			r.flow("")
		}
		r.note(noteLength, n)
		r.SkipElements(f, n)
	case f.Type != nil:
		r.indent++
		r.Elements(f, n, func(i int) {
			r.element(i)
			r.indent++
			r.structure(f.Type)
			r.indent--
		})
		r.indent--
		r.endElements(n)
	case f.Size > 0:
		r.buf = append(r.buf, '[')
		r.numbers(f, l, r.Numbers(f, n))
		r.buf = append(r.buf, ']')
	default:
		r.buf = append(r.buf, '[')
		r.Elements(f, n, func(i int) {
			if i > 0 {
				r.comma()
			}
			r.single(f, l, whole)
		})
		r.buf = append(r.buf, ']')
	}
}

// single writes one value.
func (r *run) single(f *message.Field, l *look, whole bool) {
	switch {
	case l.null && !r.Present(f):
		r.null(l.flow)
	case f.Size > 0:
		r.number(l, r.Bits(f))
	case f.Type != nil:
		r.indent++
		r.structure(f.Type)
		r.indent--
	case f.Kind == message.Bytes:
		r.binary(r.Text(f), whole)
	default:
		r.text(r.Text(f))
	}
}

// number writes a number as Bits returns it.
func (r *run) number(l *look, bits uint64) {
	switch l.form {
	case formFloat64:
		r.float64(math.Float64frombits(bits))
	case formFloat32:
		r.float32(math.Float32frombits(uint32(bits)))
	case formInt64:
		r.int64(int64(bits))
	case formUint64:
		r.uint64(bits)
	case formBool:
		r.bool(bits != 0)
	case formEnum:
		l.enum.write(&r.out, int32(bits))
	default:
		r.int(int64(bits))
	}
}

// numbers writes numbers of little endian, with commas between.
func (r *run) numbers(f *message.Field, l *look, p []byte) {
	switch l.form {
	case formFloat64:
		for begun := false; len(p) >= 8; p, begun = p[8:], true {
			if begun {
				r.comma()
			}
			r.buf = AppendFloat(r.buf, math.Float64frombits(binary.LittleEndian.Uint64(p)), 64, r.style)
		}
		return
	case formFloat32:
		for begun := false; len(p) >= 4; p, begun = p[4:], true {
			if begun {
				r.comma()
			}
			r.buf = AppendFloat(r.buf, float64(math.Float32frombits(binary.LittleEndian.Uint32(p))), 32, r.style)
		}
		return
	}
	for begun := false; len(p) >= f.Size; p, begun = p[f.Size:], true {
		if begun {
			r.comma()
		}
		r.number(l, f.Bits(p))
	}
}
