package xtypes

import (
	"encoding/binary"

	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// A walk makes one message plain.
type walk struct {
	r       ros.Reader
	w       ros.Writer
	dialect dialect
	limit   int // of what is written
	ids     map[*schema.Message]map[uint32]int
	extra   int
	units   []uint16
}

// structure reads a struct within another, whose parts are of the kind around.
func (w *walk) structure(m *schema.Message, around schema.Extensibility) {
	extent, inside := m.Extensibility, m.Extensibility
	switch extent {
	case schema.Unstated:
		extent, inside = around, around
	case schema.Bare:
		inside = around
	case schema.Mutable:
		inside = schema.Appendable
	}
	end := -1
	if extent == schema.Appendable && w.r.Sizes {
		end = w.r.Delimiter()
	}
	w.body(m, extent, inside)
	if end >= 0 {
		w.leave(w.r.End(end))
	}
}

// leave counts bytes that are skipped, unless they are padding.
func (w *walk) leave(rest []byte) {
	if !ros.IsPadding(rest) {
		w.extra += len(rest)
	}
}

// body reads a struct after its size.
func (w *walk) body(m *schema.Message, extent, inside schema.Extensibility) {
	if len(w.w.Buf) > w.limit {
		w.r.Fail("the message would become much longer without its unions and optional members")
		return
	}
	if extent == schema.Mutable {
		w.mutable(m, inside)
		return
	}
	if len(m.Fields) == 0 {
		w.r.U8()
		w.w.U8(0)
	}
	chosen := -1
	for i := range m.Fields {
		f := &m.Fields[i]
		switch {
		case m.Union && i == 0:
			chosen = m.Chosen(w.discriminator(f.Type.Kind))
		case m.Union && i == chosen:
			w.member(f, inside)
		case m.Union:
			w.w.U32(0)
		case f.Member != nil && f.Member.Optional:
			w.optional(f, inside)
		default:
			w.field(f.Type, inside)
		}
		if !w.r.OK() {
			return
		}
	}
}

// discriminator reads and writes the number that chooses the member of a union.
func (w *walk) discriminator(k schema.Kind) int64 {
	at := len(w.w.Buf)
	w.numbers(k, 1)
	size := k.Size()
	if size == 0 || size > 8 || len(w.w.Buf) < at+size {
		return 0
	}
	return discriminatorOf(k, w.w.Buf[len(w.w.Buf)-size:])
}

// member reads a field that is there.
func (w *walk) member(f *schema.Field, inside schema.Extensibility) {
	t := f.Member.Type
	switch t.Array {
	case schema.Single:
		w.w.U32(1)
	case schema.Fixed:
		w.w.U32(uint32(t.Len))
	default:
		if f.Member.Optional {
			w.w.U32(1)
		}
	}
	w.field(t, inside)
}

// optional reads a field of which CDR says whether it is there.
func (w *walk) optional(f *schema.Field, inside schema.Extensibility) {
	if w.r.Sizes {
		if w.r.U8() == 0 {
			w.w.U32(0)
		} else {
			w.member(f, inside)
		}
		return
	}
	_, n, _, last := w.parameter()
	if last {
		w.r.Fail("the end of a list of members, where an optional one begins")
	}
	if n == 0 || !w.r.OK() {
		w.w.U32(0)
		return
	}
	w.part(w.r.Part(n), func() { w.member(f, inside) })
}

// part runs read on a part of the message.
func (w *walk) part(r ros.Reader, read func()) {
	outer := w.r
	w.r = r
	read()
	if !w.r.OK() {
		return // the reader of the part has the error
	}
	w.leave(w.r.Rest())
	w.r = outer
}

// field reads a value, or all of an array or list.
func (w *walk) field(t schema.Type, inside schema.Extensibility) {
	if !w.r.Sizes || !w.sized(t) {
		w.values(t, inside)
		return
	}
	if !t.IsEnum() && !isMap(t) {
		w.r.Size()
		w.values(t, inside)
		return
	}
	end := w.r.Delimiter()
	w.values(t, inside)
	if w.r.OK() && w.r.Pos() != end {
		w.r.Fail("a map or list whose size differs from the size of its values")
	}
}

// sized reports whether XCDR2 has a size before values of a type.
func (w *walk) sized(t schema.Type) bool {
	switch {
	case t.Array == schema.Single:
		return false
	case t.IsEnum():
		return w.dialect != byValue
	case isMap(t):
		switch key, value := t.Message.Fields[0].Type, t.Message.Fields[1].Type; w.dialect {
		case standard:
			return !isNumber(key) || !isNumber(value)
		case byValue:
			return !isNumber(value) && (!value.IsEnum() || value.Array != schema.Single)
		}
		return false
	}
	return t.Kind.Size() == 0
}

// isMap reports whether a type is a map of IDL.
func isMap(t schema.Type) bool {
	return t.Kind == schema.Struct && t.Message.Extensibility == schema.Bare && len(t.Message.Fields) == 2
}

func isNumber(t schema.Type) bool {
	return t.Array == schema.Single && t.Kind.Size() > 0 && !t.IsEnum()
}

// values reads and writes what stands after the size of an array or list, or a single value.
func (w *walk) values(t schema.Type, inside schema.Extensibility) {
	size, n := t.Kind.Size(), 1
	switch t.Array {
	case schema.Fixed:
		if n = t.Len; n > w.r.Len() {
			w.r.Fail("%d values, but only %d bytes are left", n, w.r.Len())
		}
	case schema.Bounded, schema.Unbounded:
		n = w.r.Count(max(size, 1))
		w.w.U32(uint32(n))
	}
	if !w.r.OK() || n == 0 {
		return
	}
	if size > 0 {
		w.numbers(t.Kind, n)
		return
	}
	for range n {
		switch t.Kind {
		case schema.String:
			w.w.Bytes(w.r.Bytes())
		case schema.WString:
			var whole bool
			if w.units, whole = w.r.Wide(w.units[:0]); !whole {
				w.r.Fail("text that is not Unicode")
			}
			w.w.U32(uint32(len(w.units)))
			for _, u := range w.units {
				w.w.U32(uint32(u))
			}
		case schema.Struct:
			w.structure(t.Message, inside)
		default:
			w.r.Fail("a %s cannot be read", t.Kind)
		}
		if !w.r.OK() {
			return
		}
	}
}

// numbers reads and writes n numbers.
func (w *walk) numbers(k schema.Kind, n int) {
	size := k.Size()
	if k == schema.LongDouble {
		w.r.Fail("a %s cannot be read", k)
		return
	}
	p := w.r.Numbers(n, size)
	w.w.Align(size)
	at := len(w.w.Buf)
	w.w.Buf = append(w.w.Buf, p...)
	if !w.r.BigEndian {
		return
	}
	for d := w.w.Buf[at:]; len(d) >= size; d = d[size:] {
		switch size {
		case 2:
			binary.LittleEndian.PutUint16(d, binary.BigEndian.Uint16(d))
		case 4:
			binary.LittleEndian.PutUint32(d, binary.BigEndian.Uint32(d))
		case 8:
			binary.LittleEndian.PutUint64(d, binary.BigEndian.Uint64(d))
		}
	}
}

// discriminatorOf returns the number that the bytes of a discriminator are, in little endian. Numbers
// of 64 bits without a sign wrap around, as labels do.
func discriminatorOf(k schema.Kind, p []byte) int64 {
	var v uint64
	for i, b := range p {
		v |= uint64(b) << (8 * i)
	}
	switch k {
	case schema.Bool:
		return int64(min(v, 1))
	case schema.Int8, schema.Int16, schema.Int32, schema.Enum:
		unused := 64 - 8*len(p)
		return int64(v) << unused >> unused
	}
	return int64(v)
}
