package render

import (
	"errors"
	"slices"

	"github.com/bagconv/bagconv/internal/wire/pb"
)

// cells writes all fields of a message as cells of CSV, empty ones when the
// message is not there.
func (r *protoRun) cells(n *protoNode, p []byte, at int, present bool, first *bool) error {
	v, err := r.scan(n, p, at)
	if err != nil {
		return err
	}
	r.open = append(r.open, n)
	for i := range n.fields {
		f := &n.fields[i]
		if f.node != nil && !f.List && !slices.Contains(r.open, f.node) {
			content, begin, err := r.content(&v, i)
			if err == nil {
				err = r.cells(f.node, content, begin, r.x.Count(&v.View, i) > 0, first)
			}
			if err != nil {
				return err
			}
			continue
		}
		if !*first {
			r.buf = append(r.buf, ',')
		}
		if *first = false; present {
			if err := r.leaf(&v, i, false); err != nil {
				return err
			}
		}
	}
	r.open = r.open[:len(r.open)-1]
	r.done(&v)
	return nil
}

// leaf writes field i in its place: in CSV as one cell.
func (r *protoRun) leaf(v *view, i int, whole bool) error {
	f := &v.n.fields[i]
	if r.style != CSV || !f.List && f.node == nil || f.node != nil && !f.List && r.x.Count(&v.View, i) == 0 {
		return r.value(v, i, whole)
	}
	var err error
	r.json(func() { err = r.value(v, i, whole) })
	return err
}

// pickAll writes the columns.
func (r *protoRun) pickAll(p *Program) error {
	return r.columns(p, func(c *column) error { return r.pick(p.proto, r.src, 0, c, c.steps) })
}

// pick writes the field that steps lead to.
func (r *protoRun) pick(n *protoNode, p []byte, at int, c *column, steps []pathStep) error {
	v, err := r.scan(n, p, at)
	if err != nil {
		return err
	}
	t, rest := steps[0], steps[1:]
	f := &n.fields[t.field]
	switch {
	case f.List && t.index >= 0:
		err = r.elementOf(&v, t, c, rest)
	case len(rest) == 0:
		err = r.leaf(&v, t.field, c.whole)
	case f.List:
		r.json(func() { err = r.project(&v, t.field, c, rest) })
	case r.x.Count(&v.View, t.field) == 0 && !n.entry:
		r.null(c.flow)
	default:
		var content []byte
		if content, at, err = r.content(&v, t.field); err == nil {
			err = r.pick(f.node, content, at, c, rest)
		}
	}
	if err == nil {
		r.done(&v)
	}
	return err
}

var errFound = errors.New("the element was found")

// elementOf writes one element of a list; null when there is none.
func (r *protoRun) elementOf(v *view, t pathStep, c *column, rest []pathStep) error {
	f, left := &v.n.fields[t.field], t.index
	if f.node != nil {
		for o := r.x.First(&v.View, t.field); !o.None(); o = r.x.Next(o) {
			if left--; left < 0 {
				return r.element1(v, f, o, c, rest)
			}
		}
		r.null(c.flow)
		return nil
	}
	err := r.values(v, t.field, func(p []byte, at int) error {
		if left--; left >= 0 {
			return nil
		}
		if err := r.scalar(f, p, at, true); err != nil {
			return err
		}
		return errFound
	})
	switch err {
	case errFound:
		return nil
	case nil:
		r.null(c.flow)
	}
	return err
}

// element1 writes one message, or what further steps lead to in it.
func (r *protoRun) element1(v *view, f *protoField, o pb.Value, c *column, rest []pathStep) error {
	p, at := v.Content(f.Field, &o), v.at+int(o.Begin)
	if len(rest) > 0 {
		return r.pick(f.node, p, at, c, rest)
	}
	var err error
	write := func() {
		r.indent++
		err = r.message(f.node, p, at)
		r.indent--
	}
	if r.style == CSV {
		r.json(write)
	} else {
		write()
	}
	return err
}

// project writes the list of what further steps lead to in each element.
func (r *protoRun) project(v *view, i int, c *column, rest []pathStep) error {
	f := &v.n.fields[i]
	r.buf = append(r.buf, '[')
	for o, begun := r.x.First(&v.View, i), false; !o.None(); o, begun = r.x.Next(o), true {
		if begun {
			r.buf = append(r.buf, ',')
		}
		if err := r.pick(f.node, v.Content(f.Field, &o), v.at+int(o.Begin), c, rest); err != nil {
			return err
		}
	}
	r.buf = append(r.buf, ']')
	return nil
}
