package render

import "github.com/bagconv/bagconv/schema"

// cells writes all fields of a struct as cells of CSV.
func (r *rosRun) cells(n *node, first *bool) {
	end := r.enter(n)
	for i := range n.fields {
		f := &n.fields[i]
		if f.list == schema.Single && f.kind == schema.Struct {
			r.cells(f.node, first)
		} else {
			if !*first {
				r.buf = append(r.buf, ',')
			}
			*first = false
			r.leaf(f, f.list, false)
		}
		if !r.OK() {
			return
		}
	}
	r.End(end)
}

// leaf writes a field, or with list Single one value of it, in its place: in CSV
// as one cell.
func (r *rosRun) leaf(f *field, list schema.Array, whole bool) {
	one := list == schema.Single
	write := func() {
		if one {
			r.single(f)
		} else {
			r.value(f, whole)
		}
	}
	if r.style != CSV || (one || f.lone) && f.kind != schema.Struct || !one && f.blob {
		write()
	} else {
		r.json(write)
	}
}

// pickAll writes the columns. The first one walks to the end of the message, so
// that what does not fit is found; the others stop at their field.
func (r *rosRun) pickAll(p *Program) {
	end, first := r.Len(), true
	err := r.columns(p, func(c *column) error {
		r.Seek(0)
		r.fuel = maxFuel + r.Len()
		if r.pick(p.ros, c, c.steps, first); first {
			end, first = r.Pos(), false
		}
		return r.Err()
	})
	if err == nil {
		r.Seek(end)
	}
}

// pick writes the field that steps lead to; with tail it goes on to the end of
// the struct.
func (r *rosRun) pick(n *node, c *column, steps []pathStep, tail bool) {
	end := r.enter(n)
	s, rest := steps[0], steps[1:]
	r.skipFields(n.fields[:s.field])
	f := &n.fields[s.field]
	switch {
	case !r.OK():
	case f.list == schema.Single:
		r.part(f, c, rest, tail)
	case s.index >= 0:
		r.elementOf(f, c, s.index, rest, tail)
	case len(rest) == 0:
		r.leaf(f, f.list, c.whole)
	default:
		r.project(f, c, rest)
	}
	if tail && r.OK() {
		r.skipFields(n.fields[s.field+1:])
		r.End(end)
	}
}

// part writes one value of a field, or what further steps lead to in it.
func (r *rosRun) part(f *field, c *column, rest []pathStep, tail bool) {
	if len(rest) > 0 {
		r.pick(f.node, c, rest, tail)
	} else {
		r.leaf(f, schema.Single, c.whole)
	}
}

// elementOf writes one element of a list; null when there is none.
func (r *rosRun) elementOf(f *field, c *column, index int, rest []pathStep, tail bool) {
	n := r.length(f)
	if index >= n {
		r.null(c.flow)
		r.skipElements(f, n)
		return
	}
	r.skipElements(f, index)
	if r.part(f, c, rest, tail); tail {
		r.skipElements(f, n-index-1)
	}
}

// project writes the list of what further steps lead to in each element.
func (r *rosRun) project(f *field, c *column, rest []pathStep) {
	n := r.length(f)
	r.json(func() {
		r.buf = append(r.buf, '[')
		for i := 0; i < n && r.OK(); i++ {
			if i > 0 {
				r.buf = append(r.buf, ',')
			}
			r.part(f, c, rest, true)
		}
		r.buf = append(r.buf, ']')
	})
}
