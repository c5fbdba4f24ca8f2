package content

import (
	"encoding/binary"
	"math"

	"github.com/bagconv/bagconv/internal/schema/numbers"

	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// A reading is one message on its way.
type reading struct {
	c     *message.Cursor
	w     *Writer
	proto bool
	limit int // of canonical bytes, and of structs of protobuf
	work  int // structs of protobuf that were written
	marks []int
	text  []byte
}

// visit writes the canonical bytes of a message.
func visit(p *Program, w *Writer, src []byte) error {
	v := reading{c: message.Open(p.typ, src), w: w, proto: p.typ.Protobuf(), limit: maxExtra + maxGrowth*len(src)}
	defer v.c.Close()
	more := v.structure(p.root)
	if err := v.c.End(); err != nil {
		return misfit(err)
	}
	rest := v.c.Rest()
	w.Rest = w.Rest || v.c.Longer() || v.c.Unknown() || !ros.IsPadding(rest) || len(more)+len(rest) > ros.MaxPadding
	return nil
}

// structure writes the struct at the cursor. more are the bytes that it has behind its fields, in delimited CDR.
func (v *reading) structure(n *node) (more []byte) {
	if n.cells != nil && v.row(n) {
		return nil
	}
	end := -1
	if !n.bare {
		end = v.c.Enter(n.typ)
	}
	if !v.begin(n) {
		return nil
	}
	open := len(v.marks)
	if n.marked {
		for i := range n.typ.Fields {
			v.marks = append(v.marks, v.c.Pos())
			v.c.Skip(&n.typ.Fields[i])
		}
		v.marks = append(v.marks, v.c.Pos())
	}
	for i := range n.steps {
		s := &n.steps[i]
		if n.marked && s.field != nil {
			v.c.Return(v.marks[open+s.field.Index])
		}
		if v.step(s); !v.c.OK() {
			return nil
		}
	}
	if n.marked {
		v.c.Return(v.marks[open+len(n.typ.Fields)])
		v.marks = v.marks[:open]
	}
	if n.bare {
		return nil
	}
	return v.c.Leave(end)
}

// begin counts a struct against the limits.
func (v *reading) begin(n *node) bool {
	switch {
	case !v.c.OK():
	case n.inner && v.c.Layout().Delimited:
		v.c.Fail("%s in delimited CDR cannot be compared with its other form", n.typ.Name)
	case v.w.Len() > v.limit || v.work > v.limit:
		v.c.Fail("the content would be out of proportion")
	}
	if v.proto {
		v.work++
	}
	return v.c.OK()
}

// step writes a field of the canonical type.
func (v *reading) step(s *step) {
	switch f := s.field; {
	case s.form == formZero:
		v.w.zeros(s.size)
	case s.form == formSkip:
		v.c.Skip(f)
	case s.form == formCase:
		v.w.u32(v.oneof(s))
	case s.form == formClock:
		v.clock(s)
	case v.proto:
		v.member(s)
	case s.form == formNumber && s.count >= 0:
		v.numbers(s, v.c.Numbers(f, s.count))
	case s.form == formNumber:
		v.numbers(s, v.c.List(f))
	case f.List:
		v.values(s)
	default:
		v.one(s)
	}
}

// values writes the values of a list or array that are not numbers.
func (v *reading) values(s *step) {
	if n := v.c.Count(s.field); v.fits(s, n) {
		v.c.Elements(s.field, n, func(int) { v.one(s) })
	}
}

// fits writes the count of a list or array, and reports whether the values that it has come next.
func (v *reading) fits(s *step, n int) bool {
	switch {
	case !v.c.OK():
		return false
	case s.array > 0 && n == 0:
		v.absent(s)
		return false
	case s.array >= 0 && n != s.array:
		v.c.Fail("an array of %d values has %d in the message", s.array, n)
		return false
	case s.prefix:
		v.w.u32(uint32(n))
	}
	return true
}

// numbers writes numbers or bools.
func (v *reading) numbers(s *step, p []byte) {
	f := s.field
	if !v.fits(s, len(p)/f.Size) {
		return
	}
	if s.table == nil && !s.narrow && f.Size == s.to.Size() {
		v.w.numbers(p, s.class)
		return
	}
	for ; len(p) > 0 && v.c.OK(); p = p[f.Size:] {
		var word [8]byte
		copy(word[:], p[:f.Size])
		bits, unused := binary.LittleEndian.Uint64(word[:]), 64-8*f.Size
		if f.Kind == message.Signed {
			bits = uint64(int64(bits) << unused >> unused)
		}
		v.put(s, bits)
	}
}

// put writes a number, which its canonical kind must be able to hold.
func (v *reading) put(s *step, bits uint64) {
	if s.narrow {
		class, width := numbers.Of(s.to)
		if _, changed := class.Convert(bits, class, width); changed {
			v.c.Fail("%d is not a %s", int64(bits), s.to)
			return
		}
	}
	switch {
	case s.form == formCounter:
		v.w.counter(uint32(bits))
		return
	case s.table != nil && s.to.Size() == 1:
		bits = uint64(s.table[byte(bits)])
	}
	v.w.number(bits, s.to.Size(), s.class)
}

// one writes a value that is not a number.
func (v *reading) one(s *step) {
	f := s.field
	switch s.form {
	case formStruct:
		v.structure(s.node)
	case formText:
		if f.Wide {
			v.wide()
			return
		}
		p := v.c.Text(f)
		v.w.Open = v.w.Open || v.c.Unterminated
		v.w.text(p)
	case formOctets:
		v.octets(s, v.c.Text(f))
	case formCounter:
		v.put(s, v.c.Bits(f))
	case formTime:
		v.time(s)
	}
}

// time writes a time or duration.
func (v *reading) time(s *step) {
	span := s.to == schema.Duration
	if v.proto {
		v.timestamp(v.c.Text(s.field), span)
		return
	}
	sec, nsec := v.c.Time(s.field)
	if nsec < 0 || nsec >= 1e9 {
		v.w.Odd++
	}
	v.w.time(sec, nsec, span)
}

// wide writes a wide string. A surrogate that stands alone is written as if it were a character, and so is
// different from all others.
func (v *reading) wide() {
	units, whole := v.c.Units()
	var paired bool
	v.text, paired = ros.AppendUTF8(v.text[:0], units, !v.w.inMemory)
	if !(whole && paired) && v.w.within != nil {
		v.w.Replaced = true
	}
	if len(v.text) > math.MaxUint32 {
		v.c.Fail("a wide string becomes %d bytes of UTF-8, more than a string may have", len(v.text))
		return
	}
	v.w.text(v.text)
}
