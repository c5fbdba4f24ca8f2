package edit

import (
	"fmt"

	"github.com/bagconv/bagconv/internal/convert/where"
	"github.com/bagconv/bagconv/internal/message"
)

// A node is what becomes of a struct: an action for each field, nil for fields that stay.
type node struct {
	actions []*action
	absent  bool // fields may be written that the message does not have
}

// An action is what becomes of a field, or of an element of a list.
type action struct {
	set     int             // number of the setter of the value, or of all elements, from 1; 0: none
	drop    bool            // the default, by setter number set
	sub     *node           // of a struct, or of all elements of a list
	loop    bool            // the elements of the list are counted for a setter
	at      map[int]*action // of single elements
	least   int             // how many elements there must be
	frame   frameKind       // the text is a frame, after set
	edges   bool            // elements are transforms, which may go
	byRule  string          // the rule that it comes from
	eachSet bool            // set is for each element, and the list keeps its length
}

// A builder makes the tree of a program.
type builder struct {
	setters []*where.Setter
	known   map[*message.Type]*node // nodes of frames alone; nil: the type has no frames
}

// build makes the tree of the setters; nil: no setter is there.
func (b *builder) build(t *message.Type) (root *node, err error) {
	for i, s := range b.setters {
		if root == nil {
			root = newNode(t)
		}
		if err := root.add(t, s, s.Steps, i+1); err != nil {
			return nil, err
		}
	}
	return root, nil
}

func newNode(t *message.Type) *node { return &node{actions: make([]*action, len(t.Fields))} }

// add adds a setter.
func (n *node) add(t *message.Type, s *where.Setter, steps []message.Step, number int) error {
	step := steps[0]
	f := step.Field
	last := len(steps) == 1
	a := n.actions[f.Index]
	if a == nil {
		a = &action{byRule: s.Text}
		n.actions[f.Index] = a
	} else if last && step.Index < 0 || a.set > 0 {
		return conflict(a, s)
	}
	n.absent = n.absent || !s.Drop
	if f.List && (step.Index >= 0) != (a.at != nil) && (a.at != nil || a.sub != nil) {
		return conflict(a, s)
	}
	if step.Index >= 0 {
		if a.at == nil {
			a.at = map[int]*action{}
		}
		if !s.Drop {
			a.least = max(a.least, step.Index+1)
		}
		e := a.at[step.Index]
		if e == nil {
			e = &action{byRule: s.Text}
			a.at[step.Index] = e
		} else if last || e.set > 0 {
			return conflict(e, s)
		}
		a = e
	}
	if last {
		a.set, a.drop = number, s.Drop
		a.eachSet = f.List && step.Index < 0 && s.Each
		return nil
	}
	if a.loop = a.loop || f.List && step.Index < 0; a.sub == nil {
		a.sub = newNode(f.Type)
	}
	return a.sub.add(f.Type, s, steps[1:], number)
}

func conflict(a *action, s *where.Setter) error {
	return fmt.Errorf("two edits of one field: %s and %s; write one of them, or run bagconv twice", a.byRule, s.Text)
}

// element returns what becomes of an element of a list; nil: it stays.
func (a *action) element(i int) *action {
	if e := a.at[i]; e != nil {
		return e
	}
	if a.at != nil && a.sub == nil {
		return nil
	}
	return a
}
