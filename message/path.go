package message

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/internal/wire/pb"
	"github.com/bagconv/bagconv/schema"
)

// A Path leads to a field from the begin of a message. It does not change.
type Path struct {
	Field *Field // the last one
	steps []step
}

// A step goes to a field and, of a list, to one element of it.
type step struct {
	field *Field
	index int // -1: the list itself
}

// Path resolves the names of fields, with points between them, and with an index those of an element of a list:
// "header.stamp", "transforms[0].header". The error names the type that has no such field.
func (t *Type) Path(path string) (*Path, error) {
	p := &Path{}
	for word := range strings.SplitSeq(path, ".") {
		if t == nil {
			return nil, fmt.Errorf("path %q: %s has no fields", path, p.Field.Name)
		}
		name, number, indexed := strings.Cut(word, "[")
		s := step{field: t.Find(name), index: -1}
		if s.field == nil {
			return nil, fmt.Errorf("path %q: %s has no field %q", path, t.Name, name)
		}
		if indexed {
			n, err := strconv.ParseUint(strings.TrimSuffix(number, "]"), 10, 31)
			if err != nil || !s.field.List || !strings.HasSuffix(number, "]") {
				return nil, fmt.Errorf("path %q: %q is not an element of a list", path, word)
			}
			s.index = int(n)
		}
		if t = s.field.Type; s.field.List && s.index < 0 {
			t = nil
		}
		p.Field, p.steps = s.field, append(p.steps, s)
	}
	return p, nil
}

// Seek goes to the value of a path from the begin of the message, which is before the first read. It is false
// if the message does not have the value, and after an error.
func (c *Cursor) Seek(p *Path) bool {
	t := c.t
	for _, s := range p.steps {
		if c.inPlace && t.odd && !t.plainTo(s.field.Index) {
			return false
		}
		c.Enter(t)
		for i := range s.field.Index {
			c.Skip(&t.Fields[i])
		}
		if !c.OK() {
			return false
		}
		c.At(s.field)
		switch {
		case s.index >= 0:
			if _, found := c.Element(s.field, s.index); !found {
				return false
			}
		case s.field.Presence && !c.Present(s.field):
			return false
		}
		t = s.field.Type
	}
	return c.OK()
}

// plainTo reports whether the bytes of a message are those of a plain one up to a field.
func (t *Type) plainTo(index int) bool {
	if t.extent == schema.Mutable || t.Fields[index].odd {
		return false
	}
	return !slices.ContainsFunc(t.Fields[:index], func(f Field) bool { return f.odd || f.Type != nil && f.Type.odd })
}

// Element goes to an element of the list at the cursor, which has n, and reports whether there is one. In ROS the
// cursor is before the first one if not.
func (c *Cursor) Element(f *Field, index int) (n int, found bool) {
	if n = c.Count(f); index >= n || !c.OK() {
		return n, false
	}
	if c.x == nil {
		c.SkipElements(f, index)
		return n, c.OK()
	}
	h := c.here
	h.element, h.value = true, c.x.First(&h.view, f.Index)
	for ; index > 0 && !f.wire.Packs; index-- {
		h.value = c.x.Next(h.value)
	}
	for ; f.wire.Packs; h.value = c.x.Next(h.value) {
		for p := h.view.Numbers(f.wire, &h.value); len(p) > 0; index-- {
			_, k := pb.Number(f.wire.Kind, p)
			if k < 0 {
				c.FailAt(h.at+int(h.value.Begin), "a packed list ends within a number")
				return n, false
			}
			if index == 0 {
				h.value.Begin = h.value.End - int32(len(p))
				return n, true
			}
			p = p[k:]
		}
	}
	return n, true
}

// Rewind goes back to the begin of a message, for another Seek or Fields.
func (c *Cursor) Rewind() {
	c.refuel(len(c.src))
	c.extents = c.extents[:min(1, len(c.extents))]
	for c.OK() && len(c.places) > 0 {
		c.leaveProto()
	}
	c.r.Seek(0)
}
