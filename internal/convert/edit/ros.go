package edit

import (
	"encoding/binary"
	"unicode/utf16"

	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// ros writes a message of ROS 1 or CDR.
func (w *walk) ros(dst, src []byte) ([]byte, error) {
	t := w.p.typ
	w.c, w.out = message.Open(t, src), ros.NewWriter(dst, t.CDR())
	w.at = len(w.out.Buf)
	w.structure(t, w.p.root)
	err := w.c.End()
	if rest := w.c.Rest(); err == nil && w.err == nil && (!ros.IsPadding(rest) || w.c.Longer()) {
		w.refuse("%d bytes are behind the last field", len(rest))
	}
	w.c.Close()
	out := w.out.Buf
	w.c, w.out = nil, ros.Writer{}
	if err == nil {
		err = w.err
	}
	return out, err
}

// structure writes a struct; n is nil if it stays.
func (w *walk) structure(t *message.Type, n *node) {
	end := w.c.Enter(t)
	if len(t.Fields) == 0 && w.out.CDR() {
		w.out.U8(0)
	}
	for i := 0; i < len(t.Fields) && w.c.OK(); {
		if n != nil && n.actions[i] != nil {
			w.field(&t.Fields[i], n.actions[i])
			i++
			continue
		}
		first := i
		for i < len(t.Fields) && (n == nil || n.actions[i] == nil) {
			i++
		}
		w.copy(t.Fields[first:i])
	}
	w.c.Leave(end)
}

// copy writes fields that stay: as the bytes that they are, if they have the same places within words of 8 bytes.
func (w *walk) copy(fields []message.Field) {
	from := w.c.Pos()
	l := w.c.Layout()
	if !w.out.CDR() || l.MaxAlign == 8 && !l.BigEndian && !l.Sizes && (from-ros.HeaderSize-len(w.out.Buf)+w.at)&7 == 0 {
		p := w.c.Rest()
		for i := range fields {
			w.c.Skip(&fields[i])
		}
		if w.c.OK() {
			w.out.Buf = append(w.out.Buf, p[:w.c.Pos()-from]...)
		}
		return
	}
	for i := range fields {
		w.copyField(&fields[i])
	}
}

// copyField writes a field that stays, value by value.
func (w *walk) copyField(f *message.Field) {
	n := 1
	if f.List {
		if n = w.c.Count(f); f.Fixed < 0 && w.c.OK() {
			w.out.U32(uint32(n))
		}
	}
	switch {
	case !w.c.OK():
	case f.Size > 0 && n > 0:
		p := w.c.Numbers(f, n)
		w.out.Align(f.Size)
		w.out.Buf = append(w.out.Buf, p...)
	case f.List:
		w.c.Elements(f, n, func(int) { w.copyOne(f) })
	case f.Size == 0:
		w.copyOne(f)
	}
}

// copyOne writes a struct or a string that stays.
func (w *walk) copyOne(f *message.Field) {
	switch {
	case f.Type != nil:
		w.structure(f.Type, nil)
	case f.Wide:
		units, whole := w.c.Units()
		if !whole {
			w.refuse("%s is not UTF-16", f.Name)
		}
		w.wide(units)
	default:
		w.out.String(w.c.Text(f))
	}
}

func (w *walk) wide(units []uint16) {
	w.out.U32(uint32(len(units)))
	for _, u := range units {
		w.out.U32(uint32(u))
	}
}

// field writes a field that an action changes.
func (w *walk) field(f *message.Field, a *action) {
	switch {
	case a.drop:
		before := len(w.out.Buf)
		from := w.c.Pos()
		old := w.c.Rest()
		w.c.Skip(f)
		message.WriteZero(&w.out, f, false)
		if w.c.OK() {
			w.note(a, !alike(old[:w.c.Pos()-from], w.out.Buf[before:]))
		}
	case !f.List:
		w.one(f, a)
	case a.set > 0 && !a.eachSet:
		w.whole(f, a)
	default:
		w.list(f, a)
	}
}

// alike reports whether both have no byte but zeros, or are equal: then no value has changed.
func alike(a, b []byte) bool {
	for _, p := range [][]byte{a, b} {
		for _, v := range p {
			if v != 0 {
				return string(a) == string(b)
			}
		}
	}
	return len(a) == len(b)
}

// whole writes all values of a list.
func (w *walk) whole(f *message.Field, a *action) {
	v := &w.values[a.set-1]
	before, from, old := len(w.out.Buf), w.c.Pos(), w.c.Rest()
	w.c.Skip(f)
	if f.Fixed < 0 {
		w.out.U32(uint32(v.N))
	}
	for i := range v.N {
		w.value(f, a, i)
	}
	if w.c.OK() {
		w.note(a, string(old[:w.c.Pos()-from]) != string(w.out.Buf[before:]))
	}
}

// list writes a list, of which elements change.
func (w *walk) list(f *message.Field, a *action) {
	n := w.c.Count(f)
	if !w.c.OK() {
		return
	}
	w.enough(f, a, n)
	if f.Fixed < 0 {
		w.out.U32(uint32(n))
	}
	head, outer, left := len(w.out.Buf)-4, w.element, 0
	if f.Size > 0 {
		w.numbers(f, a, n)
		return
	}
	w.c.Elements(f, n, func(i int) {
		e := a.element(i)
		if e == nil {
			w.copyOne(f)
			left++
			return
		}
		if a.loop || a.eachSet {
			w.element = i
		}
		before := len(w.out.Buf)
		w.parent, w.child = "", ""
		if w.one(f, e); a.edges && w.goes() {
			w.out.Buf = w.out.Buf[:before]
			return
		}
		left++
	})
	if w.element = outer; a.edges {
		w.left += left
	}
	if left != n && f.Fixed < 0 {
		binary.LittleEndian.PutUint32(w.out.Buf[head:], uint32(left))
	}
}

// enough refuses a message whose list does not have an element that is set.
func (w *walk) enough(f *message.Field, a *action, n int) {
	if n < a.least {
		w.refuse("%s has %d elements, and no %s[%d]", f.Name, n, f.Name, a.least-1)
	}
}

// numbers writes a list of numbers, of which some change.
func (w *walk) numbers(f *message.Field, a *action, n int) {
	p := w.c.Numbers(f, n)
	outer := w.element
	for i := 0; i < n && w.c.OK(); i++ {
		old := f.Bits(p[i*f.Size:])
		e := a.element(i)
		if e == nil {
			w.out.Number(f.Size, old)
			continue
		}
		w.element = i
		v, k := w.setting(e)
		w.out.Number(f.Size, v.Bits[k])
		w.note(e, !same(f, old, v.Bits[k]))
	}
	w.element = outer
}

// same reports whether the bits of two numbers are equal as a field has them.
func same(f *message.Field, a, b uint64) bool {
	if f.Size == 8 {
		return a == b
	}
	mask := uint64(1)<<(8*f.Size) - 1
	return a&mask == b&mask
}

// one writes a single value.
func (w *walk) one(f *message.Field, a *action) {
	switch {
	case a.sub != nil:
		w.structure(f.Type, a.sub)
	case f.Clock != schema.Invalid:
		sec, nsec := w.c.Time(f)
		v, i := w.setting(a)
		w.value(f, a, i)
		w.note(a, uint64(sec) != v.Bits[2*i] || uint64(nsec) != v.Bits[2*i+1])
	case f.Kind == message.Text:
		old := string(w.c.Text(f))
		text := old
		if a.set > 0 {
			v, i := w.setting(a)
			text = v.Texts[i]
			w.note(a, text != old)
		}
		w.text(f, w.frame(a, text))
	default:
		old := w.c.Bits(f)
		v, i := w.setting(a)
		w.value(f, a, i)
		w.note(a, !same(f, old, v.Bits[i]))
	}
}

// value writes value i of a setter.
func (w *walk) value(f *message.Field, a *action, i int) {
	v := &w.values[a.set-1]
	switch {
	case f.Clock != schema.Invalid:
		w.out.U32(uint32(v.Bits[2*i]))
		w.out.U32(uint32(v.Bits[2*i+1]))
	case f.Kind == message.Text:
		w.text(f, v.Texts[i])
	default:
		w.out.Number(f.Size, v.Bits[i])
	}
}

func (w *walk) text(f *message.Field, text string) {
	if f.TextBound > 0 && !f.Wide && len(text) > f.TextBound {
		w.refuse("text of %d bytes for %s, which has %d at most", len(text), f.Name, f.TextBound)
	}
	if f.Wide {
		w.wide(utf16.Encode([]rune(text)))
		return
	}
	w.out.String([]byte(text))
}
