package render

import (
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
		f, s := &n.fields[i], *r.slot(&v, i)
		if f.node != nil && !f.list && !slices.Contains(r.open, f.node) {
			content, begin, err := r.content(&v, f, s)
			if err == nil {
				err = r.cells(f.node, content, begin, s.n > 0, first)
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
	if r.style != CSV || !f.list && f.node == nil || f.node != nil && !f.list && r.slot(v, i).n == 0 {
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
func (r *protoRun) pick(n *protoNode, p []byte, at int, c *column, steps []step) error {
	v, err := r.scan(n, p, at)
	if err != nil {
		return err
	}
	t, rest := steps[0], steps[1:]
	f, s := &n.fields[t.field], *r.slot(&v, t.field)
	switch {
	case f.list && t.index >= 0:
		err = r.elementOf(&v, f, s, c, t.index, rest)
	case len(rest) == 0:
		err = r.leaf(&v, t.field, c.whole)
	case f.list:
		r.json(func() { err = r.project(&v, f, s, c, rest) })
	case s.n == 0 && !n.entry:
		r.null(c.flow)
	default:
		var content []byte
		if content, at, err = r.content(&v, f, s); err == nil {
			err = r.pick(f.node, content, at, c, rest)
		}
	}
	if err == nil {
		r.done(&v)
	}
	return err
}

// elementOf writes one element of a list; null when there is none.
func (r *protoRun) elementOf(v *view, f *protoField, s slot, c *column, index int, rest []step) error {
	next := s.first
	for range s.n {
		o := r.found[next]
		next = o.next
		if f.node != nil {
			if index--; index < 0 {
				return r.element1(v, f, o, c, rest)
			}
			continue
		}
		if o.wire == f.wire {
			if index--; index < 0 {
				return r.scalar(f, v.p[o.begin:], v.at+int(o.begin), true)
			}
			continue
		}
		p := part(f, v.p, o)
		for len(p) > 0 {
			_, n := pb.Number(f.kind, p)
			if n < 0 {
				return malformed(v.at+int(o.begin), "a packed list ends within a number")
			}
			if index--; index < 0 {
				return r.scalar(f, p, v.at+int(o.begin), true)
			}
			p = p[n:]
		}
	}
	r.null(c.flow)
	return nil
}

// element1 writes one message, or what further steps lead to in it.
func (r *protoRun) element1(v *view, f *protoField, o occurrence, c *column, rest []step) error {
	p, at := part(f, v.p, o), v.at+int(o.begin)
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
func (r *protoRun) project(v *view, f *protoField, s slot, c *column, rest []step) error {
	r.buf = append(r.buf, '[')
	next := s.first
	for i := range s.n {
		o := r.found[next]
		next = o.next
		if i > 0 {
			r.buf = append(r.buf, ',')
		}
		if err := r.pick(f.node, part(f, v.p, o), v.at+int(o.begin), c, rest); err != nil {
			return err
		}
	}
	r.buf = append(r.buf, ']')
	return nil
}
