package render

import (
	"slices"

	"github.com/bagconv/bagconv/internal/message"
)

// cells writes all fields of a struct as cells of CSV, empty ones when it is not present.
func (r *run) cells(t *message.Type, present bool, first *bool) {
	if !r.bounded() {
		return
	}
	if t.Protobuf() { // a type may be within itself
		r.open = append(r.open, t)
	}
	r.Fields(t, func(f *message.Field) {
		if f.Type != nil && !f.List && !slices.Contains(r.open, f.Type) {
			r.cells(f.Type, r.Present(f), first)
			return
		}
		if !*first {
			r.buf = append(r.buf, ',')
		}
		if *first = false; present {
			r.leaf(f, r.look(t, f), !f.List, false)
		}
	})
	r.open = r.open[:max(0, len(r.open)-1)]
}

// leaf writes a field, or one value of a list, in its place: in CSV as one cell.
func (r *run) leaf(f *message.Field, l *look, one, whole bool) {
	plain := r.style != CSV || (one || f.Lone) && f.Type == nil || !one && l.form == formBytes && f.Size > 0 ||
		one && l.null && !r.Present(f)
	at, style := len(r.buf), r.style
	if !plain {
		r.style = JSON
	}
	if one {
		r.single(f, l, whole)
	} else {
		r.value(f, l, whole)
	}
	if r.style = style; !plain {
		r.cell(at)
	}
}

// pickAll writes the columns. The first one goes on to the end of the message, so
// that what does not fit is found; the others stop at their field.
func (r *run) pickAll() error {
	first := true
	return r.columns(r.p, func(c *column) error {
		if !first {
			r.Rewind()
		}
		if r.pick(r.p.typ, c, c.steps, first); first {
			first = false
			return r.End()
		}
		return r.Err()
	})
}

// pick writes the field that steps lead to; with tail it goes on to the end of
// the struct.
func (r *run) pick(t *message.Type, c *column, steps []pathStep, tail bool) {
	if !r.bounded() {
		return
	}
	s := steps[0]
	r.Fields(t, func(f *message.Field) {
		switch {
		case f.Index == s.field:
			r.target(t, f, c, steps, tail)
		case tail || f.Index < s.field:
			r.Skip(f)
		}
	})
}

// target writes the field of the first of some steps, or what the others lead to in it.
func (r *run) target(t *message.Type, f *message.Field, c *column, steps []pathStep, tail bool) {
	l, index, rest := r.look(t, f), steps[0].index, steps[1:]
	switch {
	case !f.List:
		if len(rest) > 0 && l.null && !r.Present(f) {
			r.null(c.flow)
		} else {
			r.part(f, l, c, rest, tail)
		}
	case index >= 0:
		n, found := r.Element(f, index)
		if !found {
			r.null(c.flow)
			r.SkipElements(f, n)
			return
		}
		if r.part(f, l, c, rest, tail); tail {
			r.SkipElements(f, n-index-1)
		}
	case len(rest) == 0:
		r.leaf(f, l, false, c.whole)
	default:
		n := r.Count(f)
		r.json(func() {
			r.buf = append(r.buf, '[')
			r.Elements(f, n, func(i int) {
				if i > 0 {
					r.buf = append(r.buf, ',')
				}
				r.part(f, l, c, rest, true)
			})
			r.buf = append(r.buf, ']')
		})
	}
}

// part writes one value of a field, or what further steps lead to in it.
func (r *run) part(f *message.Field, l *look, c *column, rest []pathStep, tail bool) {
	if len(rest) > 0 {
		r.pick(f.Type, c, rest, tail)
	} else {
		r.leaf(f, l, true, c.whole)
	}
}
