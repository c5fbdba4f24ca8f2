package xtypes

import (
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// The ids of parameters in XCDR1 that are not members.
const (
	idMask   = 0x3fff
	extended = 0x3f01 // id and size are in 8 bytes that follow
	listEnd  = 0x3f02
)

// parameter reads the header of a member in XCDR1. must: a reader that does not know the member
// must not read the message.
func (w *walk) parameter() (id uint32, size int, must, last bool) {
	w.r.Align(4)
	short, n := w.r.U16(), int(w.r.U16())
	switch short & idMask {
	case listEnd:
		return 0, 0, false, true
	case extended:
		long := w.r.U32()
		n = int(w.r.U32())
		if n > w.r.Len() {
			w.r.Fail("a member of %d bytes, but only %d are left", n, w.r.Len())
		}
		return long & 0x0fffffff, n, long>>30&1 != 0, false
	}
	return uint32(short & idMask), n, short>>14&1 != 0, false
}

// memberHeader reads an EMHEADER of XCDR2. After it the member begins.
func (w *walk) memberHeader() (id uint32, size int, must bool) {
	h := w.r.U32()
	code := h >> 28 & 7
	switch at := w.r.Pos(); {
	case code < 4:
		size = 1 << code
	case code == 4:
		size = int(w.r.U32())
	default: // the size is the count or size that the member begins with
		unit := []int{1, 4, 8}[code-5]
		size = 4 + unit*int(w.r.U32())
		w.r.Seek(at)
	}
	if size > w.r.Len() {
		w.r.Fail("a member of %d bytes, but only %d are left", size, w.r.Len())
	}
	return h & 0x0fffffff, size, h>>31 != 0
}

// A place is where a member is.
type place struct {
	there bool
	r     ros.Reader // XCDR1
	at    int        // XCDR2
	size  int
}

// mutable reads a struct whose members have numbers, in any order.
func (w *walk) mutable(m *schema.Message, inside schema.Extensibility) {
	places := make([]place, len(m.Fields))
	end := w.places(m, places)
	chosen := -1
	for i := range m.Fields {
		f, p := &m.Fields[i], &places[i]
		t := f.Type
		var read func()
		switch {
		case m.Union && i == 0:
			read = func() { chosen = m.Chosen(w.discriminator(t.Kind)) }
		case m.Union && i == chosen, !m.Union && f.Member != nil && f.Member.Optional:
			read = func() { w.member(f, inside) }
		case m.Union:
			p.there = false
		default:
			read = func() { w.field(t, inside) }
		}
		switch {
		case !w.r.OK():
			return
		case !p.there && m.Union && i == 0:
			w.r.Fail("a union without its discriminator")
		case !p.there:
			w.absent(t, f.Default)
		case w.r.Sizes:
			w.r.Seek(p.at)
			read()
			w.leave(w.r.End(p.at + p.size))
		default:
			w.part(p.r, read)
		}
	}
	w.r.Seek(end)
}

// places finds the members, and returns where the struct ends. It counts members that the definition
// does not have.
func (w *walk) places(m *schema.Message, places []place) (end int) {
	limit := 0
	if w.r.Sizes {
		limit = w.r.Delimiter()
	}
	for w.r.OK() {
		var id uint32
		var size int
		var must, last bool
		if w.r.Sizes {
			if left := limit - w.r.Pos(); left < 4 && ros.IsPadding(w.r.Rest()[:left]) {
				w.r.Seek(limit)
				return limit
			}
			w.r.Align(4)
			id, size, must = w.memberHeader()
		} else if id, size, must, last = w.parameter(); last {
			return w.r.Pos()
		}
		p := place{there: true, at: w.r.Pos(), size: size}
		p.r = w.r.Part(size)
		if w.r.Sizes && w.r.Pos() > limit {
			w.r.Fail("a member that ends after its struct")
		}
		i, known := w.ids[m][id]
		switch {
		case known:
			places[i] = p
		case must:
			w.r.Fail("member %d must be understood, and the definition does not have it", id)
		default:
			w.extra += size
		}
	}
	return w.r.Pos()
}
