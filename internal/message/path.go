package message

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/internal/wire/pb"
	"github.com/bagconv/bagconv/schema"
)

// A Path leads to a field from the start of a message. It does not change.
type Path struct {
	Field    *Field // the last one
	Defaults bool   // Seek goes to a field of protobuf that is not set, too: it has its default there
	steps    []Step
}

// Element reports whether the path leads to one element of Field.
func (p *Path) Element() bool { return p.steps[len(p.steps)-1].Index >= 0 }

// A Step of a path goes to a field and, in a list, to one of its elements.
type Step struct {
	Field *Field
	Index int // -1: the list itself or, before another step, all of its elements
}

// A PathError describes where a path does not fit a type.
type PathError struct {
	Path  string
	Type  string   // the type in which the field is looked for
	Field string   // what the type does not have
	Known []string // what the type has; nil for other faults
	What  string   // the other fault
}

func (e *PathError) Error() string {
	if e.What != "" {
		return fmt.Sprintf("path %q: %s", e.Path, e.What)
	}
	return fmt.Sprintf("path %q: %s has no field %q", e.Path, e.Type, e.Field)
}

// Resolve returns the steps of a path: names of fields, with points between them, and with an index of one element
// behind a list: "header.stamp", "transforms[0].header". A list without an index stands for all of its elements:
// "transforms.header". An error is a *PathError, which names the fields that there are.
func (t *Type) Resolve(path string) (steps []Step, err error) {
	var last *Field
	for word := range strings.SplitSeq(path, ".") {
		if t == nil {
			return nil, &PathError{Path: path, What: last.Name + " has no fields"}
		}
		name, index, err := cutIndex(word)
		if err != nil {
			return nil, &PathError{Path: path, What: err.Error()}
		}
		f := t.Find(name)
		if f == nil {
			return nil, &PathError{Path: path, Type: t.Name, Field: name, Known: t.Names()}
		}
		if index >= 0 && !f.List {
			return nil, &PathError{Path: path, What: name + " is not a list"}
		}
		last, t = f, f.Type
		steps = append(steps, Step{f, index})
	}
	return steps, nil
}

// Names returns the names of the fields.
func (t *Type) Names() []string {
	names := make([]string, len(t.Fields))
	for i := range t.Fields {
		names[i] = t.Fields[i].Name
	}
	return names
}

// cutIndex splits "points[3]".
func cutIndex(word string) (name string, index int, err error) {
	name, number, ok := strings.Cut(word, "[")
	if !ok {
		return word, -1, nil
	}
	digits, ok := strings.CutSuffix(number, "]")
	if n, e := strconv.ParseUint(digits, 10, 31); ok && e == nil {
		return name, int(n), nil
	}
	return "", 0, fmt.Errorf("%q is not an index; write a number from 0 on, as in points[3], or no index for all elements",
		"["+number)
}

// Path resolves a path to one value for Seek: within it a list has an index. An error is a *PathError.
func (t *Type) Path(path string) (*Path, error) {
	steps, err := t.Resolve(path)
	if err != nil {
		return nil, err
	}
	for _, s := range steps[:len(steps)-1] {
		if s.Field.List && s.Index < 0 {
			return nil, &PathError{Path: path, What: fmt.Sprintf("%s has no fields, but its elements have: write %s[0]",
				s.Field.Name, s.Field.Name)}
		}
	}
	return &Path{Field: steps[len(steps)-1].Field, steps: steps}, nil
}

// Seek goes to the value of a path. The cursor must be at the start of the message: before the first read, or after
// Rewind. It is false if the message does not have the value, and after an error.
func (c *Cursor) Seek(p *Path) bool {
	t := c.t
	for _, s := range p.steps {
		if c.inPlace && t.odd && !t.plainTo(s.Field.Index) {
			return false
		}
		c.Enter(t)
		for i := range s.Field.Index {
			c.Skip(&t.Fields[i])
		}
		if !c.OK() {
			return false
		}
		c.At(s.Field)
		switch {
		case s.Index >= 0:
			if _, found := c.Element(s.Field, s.Index); !found {
				return false
			}
		case s.Field.Presence && !p.Defaults && !c.Present(s.Field):
			return false
		}
		t = s.Field.Type
	}
	return c.OK()
}

// plainTo reports whether a message has the same bytes as a plain one up to a field.
func (t *Type) plainTo(index int) bool {
	if t.extent == schema.Mutable || t.Fields[index].odd {
		return false
	}
	return !slices.ContainsFunc(t.Fields[:index], func(f Field) bool { return f.odd || f.Type != nil && f.Type.odd })
}

// Element goes to an element of the list at the cursor, which has n elements, and reports whether the element is there.
// If it is not, the cursor is before the first element in ROS.
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
		h.value = c.x.Next(&h.view, h.value)
	}
	for ; f.wire.Packs; h.value = c.x.Next(&h.view, h.value) {
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

// Rewind goes back to the start of a message, for another Seek or Fields.
func (c *Cursor) Rewind() {
	c.refuel(len(c.src))
	c.extents = c.extents[:min(1, len(c.extents))]
	for c.OK() && len(c.places) > 0 {
		c.leaveProto()
	}
	c.r.Seek(0)
}
