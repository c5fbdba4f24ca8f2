package render

import "github.com/bagconv/bagconv/schema"

// cells writes all fields of a struct as cells of CSV.
func (r *rosRun) cells(n *node, first *bool) error {
	if err := r.enter(n); err != nil {
		return err
	}
	for i := range n.fields {
		f := &n.fields[i]
		if f.list == schema.Single && f.kind == schema.Struct {
			if err := r.cells(f.node, first); err != nil {
				return err
			}
			continue
		}
		if !*first {
			r.buf = append(r.buf, ',')
		}
		*first = false
		if err := r.leaf(f, f.list, false); err != nil {
			return err
		}
	}
	return nil
}

// leaf writes a field, or with list Single one value of it, in its place: in CSV
// as one cell.
func (r *rosRun) leaf(f *field, list schema.Array, whole bool) error {
	one := list == schema.Single
	write := func() error {
		if one {
			return r.single(f)
		}
		return r.value(f, whole)
	}
	if r.style != CSV || one && f.kind != schema.Struct || !one && f.blob {
		return write()
	}
	return r.json(write)
}

// pickAll writes the columns. The first one walks to the end of the message, so
// that what does not fit is found; the others stop at their field.
func (r *rosRun) pickAll(p *Program) error {
	end, first := len(r.src), true
	err := r.columns(p, func(c *column) error {
		r.pos, r.fuel = 0, maxFuel+len(r.src)
		err := r.pick(p.ros, c, c.steps, first)
		if first {
			end, first = r.pos, false
		}
		return err
	})
	if err == nil {
		r.pos = end
	}
	return err
}

// pick writes the field that steps lead to; with tail it goes on to the end of
// the struct.
func (r *rosRun) pick(n *node, c *column, steps []step, tail bool) error {
	if err := r.enter(n); err != nil {
		return err
	}
	s, rest := steps[0], steps[1:]
	if err := r.skipFields(n.fields[:s.field]); err != nil {
		return err
	}
	f := &n.fields[s.field]
	var err error
	switch {
	case f.list == schema.Single:
		err = r.part(f, c, rest, tail)
	case s.index >= 0:
		err = r.elementOf(f, c, s.index, rest, tail)
	case len(rest) == 0:
		err = r.leaf(f, f.list, c.whole)
	default:
		err = r.project(f, c, rest)
	}
	if err != nil || !tail {
		return err
	}
	return r.skipFields(n.fields[s.field+1:])
}

// part writes one value of a field, or what further steps lead to in it.
func (r *rosRun) part(f *field, c *column, rest []step, tail bool) error {
	if len(rest) > 0 {
		return r.pick(f.node, c, rest, tail)
	}
	return r.leaf(f, schema.Single, c.whole)
}

// elementOf writes one element of a list; null when there is none.
func (r *rosRun) elementOf(f *field, c *column, index int, rest []step, tail bool) error {
	n, err := r.length(f)
	if err != nil {
		return err
	}
	if index >= n {
		r.null(c.flow)
		return r.skipElements(f, n)
	}
	if err := r.skipElements(f, index); err != nil {
		return err
	}
	if err := r.part(f, c, rest, tail); err != nil || !tail {
		return err
	}
	return r.skipElements(f, n-index-1)
}

// project writes the list of what further steps lead to in each element.
func (r *rosRun) project(f *field, c *column, rest []step) error {
	n, err := r.length(f)
	if err != nil {
		return err
	}
	return r.json(func() error {
		r.buf = append(r.buf, '[')
		for i := range n {
			if i > 0 {
				r.buf = append(r.buf, ',')
			}
			if err := r.part(f, c, rest, true); err != nil {
				return err
			}
		}
		r.buf = append(r.buf, ']')
		return nil
	})
}
