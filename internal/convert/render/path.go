package render

import (
	"fmt"

	"github.com/bagconv/bagconv/internal/message"
)

// A pathStep of a path goes into a field and, with an index, to one of its elements.
type pathStep struct {
	field int
	index int // -1: no index
}

// A column is a field that is written by itself.
type column struct {
	label
	steps []pathStep    // nil: an empty cell
	flow  bool          // in YAML its value stands on the line of its name
	whole bool          // a long list is written whole: a path names it
	sub   *message.Type // type of a struct; nil for a list and for what has no fields
}

// A PathError describes where a path does not fit the type.
type PathError = message.PathError

// setColumns resolves the paths, or finds the paths of all cells of CSV.
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
		paths := []string{path}
		if p.o.Style == CSV {
			var err error
			if paths, err = Cells(root, path); err != nil {
				return err
			}
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

// Cells returns the paths of the cells that a path becomes in CSV: a struct has the
// cells that it has in the whole message.
func Cells(t *message.Type, path string) ([]string, error) {
	l := flattener{open: map[*message.Type]bool{}}
	c, err := resolve(t, path, l.open)
	if err != nil || c.sub == nil || l.open[c.sub] {
		return []string{path}, err
	}
	err = l.add(c.sub, path+".")
	return l.names, err
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

// resolve finds the fields of a path, and adds the structs that it leads through before a list to
// open, which may be nil.
func resolve(t *message.Type, path string, open map[*message.Type]bool) (column, error) {
	c := column{flow: true}
	steps, err := t.Resolve(path)
	projects := false
	for i, s := range steps {
		if open != nil && !projects {
			open[t] = true
		}
		c.steps = append(c.steps, pathStep{s.Field.Index, s.Index})
		t = s.Field.Type
		list := s.Field.List && s.Index < 0
		if last := i == len(steps)-1; last && !projects {
			if c.flow = t == nil; !list {
				c.sub = t
			}
		}
		projects = projects || list // all of such a list is on one line
	}
	return c, err
}
