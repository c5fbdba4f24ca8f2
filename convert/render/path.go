package render

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/message"
)

// A pathStep of a path goes into a field and, with an index, to one element of it.
type pathStep struct {
	field int
	index int // -1: none
}

// A column is a field that is written by itself.
type column struct {
	label
	steps []pathStep    // nil: an empty cell
	flow  bool          // in YAML its value stands on the line of its name
	whole bool          // a long list is written whole: a path names it
	sub   *message.Type // the struct that it is; nil for a list and for what has no fields
}

// A PathError describes where a path does not fit the type.
type PathError struct {
	Path  string
	Type  string   // the type in which the field is looked for
	Field string   // what it does not have
	Known []string // what it has; nil when the fault is another one
	What  string   // the other fault
}

func (e *PathError) Error() string {
	if e.What != "" {
		return fmt.Sprintf("path %q: %s", e.Path, e.What)
	}
	return fmt.Sprintf("path %q: %s has no field %q", e.Path, e.Type, e.Field)
}

// setColumns resolves the paths, or finds those of all cells of CSV.
func (p *Program) setColumns(root *message.Type) error {
	if p.o.Paths == nil {
		if p.o.Style != CSV {
			return nil
		}
		l := flattener{open: map[*message.Type]bool{}}
		err := l.add(root, "")
		p.names = l.names
		return err
	}
	for _, path := range p.o.Paths {
		if path == "" {
			p.names, p.columns = append(p.names, ""), append(p.columns, column{})
			continue
		}
		paths, err := p.expand(root, path)
		if err != nil {
			return err
		}
		for _, name := range paths {
			c, err := resolve(root, name, nil)
			if err != nil {
				return err
			}
			c.whole = name == path
			c.label = labelOf(name, p.picked == 0)
			p.picked++
			p.names, p.columns = append(p.names, name), append(p.columns, c)
		}
	}
	return nil
}

// expand returns the paths of the cells that a path becomes in CSV: a struct has those
// that it has in the whole message.
func (p *Program) expand(root *message.Type, path string) ([]string, error) {
	if p.o.Style != CSV {
		return []string{path}, nil
	}
	l := flattener{open: map[*message.Type]bool{}}
	c, err := resolve(root, path, l.open)
	if err != nil || c.sub == nil || l.open[c.sub] {
		return []string{path}, err
	}
	return l.names, l.add(c.sub, path+".")
}

// A flattener lists the cells of a struct: fields of structs that are not lists
// are cells of their own. A type within itself is one cell.
type flattener struct {
	open  map[*message.Type]bool
	names []string
	work  int
}

func (l *flattener) add(t *message.Type, prefix string) error {
	l.open[t] = true
	defer delete(l.open, t)
	for i := range t.Fields {
		if l.work++; l.work > maxColumns*10 || len(l.names) == maxColumns {
			return fmt.Errorf("%s has more than %d columns; name the fields that you need", t.Name, maxColumns)
		}
		f := &t.Fields[i]
		if f.List || f.Type == nil || l.open[f.Type] {
			l.names = append(l.names, prefix+f.Name)
		} else if err := l.add(f.Type, prefix+f.Name+"."); err != nil {
			return err
		}
	}
	return nil
}

// resolve finds the fields of a path, and adds the structs that it leads through to
// open, which may be nil.
func resolve(t *message.Type, path string, open map[*message.Type]bool) (column, error) {
	c := column{flow: true}
	for rest := path; ; {
		if open != nil {
			open[t] = true
		}
		var word string
		var more bool
		word, rest, more = strings.Cut(rest, ".")
		name, index, err := cutIndex(word)
		if err != nil {
			return c, &PathError{Path: path, What: err.Error()}
		}
		f := t.Find(name)
		if f == nil {
			e := &PathError{Path: path, Type: t.Name, Field: name, Known: []string{}}
			for k := range t.Fields {
				e.Known = append(e.Known, t.Fields[k].Name)
			}
			return c, e
		}
		if index >= 0 && !f.List {
			return c, &PathError{Path: path, What: name + " is not a list"}
		}
		c.steps = append(c.steps, pathStep{f.Index, index})
		projects := f.List && index < 0
		if !more {
			c.flow = f.Type == nil
			if !projects {
				c.sub = f.Type
			}
			return c, nil
		}
		if f.Type == nil {
			return c, &PathError{Path: path, What: name + " has no fields"}
		}
		t = f.Type
		if projects {
			return projection(c, t, path, rest)
		}
	}
}

// projection resolves the rest of a path after a list.
func projection(c column, t *message.Type, path, rest string) (column, error) {
	tail, err := resolve(t, rest, nil)
	if pe, ok := err.(*PathError); ok {
		pe.Path = path
	}
	c.steps = append(c.steps, tail.steps...) // c.flow stays: all of such a list is on one line
	return c, err
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
	return "", 0, fmt.Errorf("%q is not an index; write a number from 0 on, as in points[3], or no index for all elements", "["+number)
}
