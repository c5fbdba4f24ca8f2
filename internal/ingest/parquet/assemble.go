package parquet

import (
	"math"
	"slices"

	"github.com/bagconv/bagconv/internal/ingest/build"
)

// Read returns the columns of a row group; with names only these. They belong to the caller.
func (f *File) Read(g int, names ...string) ([]*build.Column, error) {
	a := &assembler{file: f, group: &f.groups[g], chunks: map[int]*chunk{}}
	var list []*build.Column
	for _, n := range f.root.children {
		if len(names) > 0 && !slices.Contains(names, n.name) {
			continue
		}
		c, err := a.column(n, 0, 0)
		if err != nil {
			return nil, err
		}
		if c.Len != a.group.rows {
			return nil, corrupt("column %q has %d rows, and its row group %d", n.name, c.Len, a.group.rows)
		}
		list = append(list, c)
	}
	return list, nil
}

// An assembler makes columns of chunks.
//
//	rows            [1 2] [] null [3]
//	repetition      0 1   0  0    0      in which list a value goes on: less or equal to the level of a list begins one
//	definition      2 2   1  0    2      how much of the way to a value there is
type assembler struct {
	file   *File
	group  *group
	chunks map[int]*chunk // by leaf
}

// chunk reads the pages of the first leaf of a node, once.
func (a *assembler) chunk(n *node) (*chunk, error) {
	if c := a.chunks[n.leaf]; c != nil {
		return c, nil
	}
	leaf := n
	for leaf.kind == build.List || leaf.kind == build.Struct {
		if leaf.kind == build.List {
			leaf = leaf.element
		} else if len(leaf.children) > 0 {
			leaf = leaf.children[0]
		} else {
			return nil, unsupported("column %q of the Parquet file is a group without columns", n.name)
		}
	}
	c, err := a.file.read(a.group, leaf)
	if err == nil {
		a.chunks[n.leaf] = c
	}
	return c, err
}

// def and rep return levels.
func (c *chunk) def(i int) int {
	if c.defs == nil {
		return c.n.def
	}
	return int(c.defs[i])
}

func (c *chunk) rep(i int) int {
	if c.reps == nil {
		return 0
	}
	return int(c.reps[i])
}

// column makes the column of a node whose values are the values of an element of a list with these
// levels; 0 and 0: rows.
func (a *assembler) column(n *node, def, rep int) (*build.Column, error) {
	c, err := a.chunk(n)
	if err != nil {
		return nil, err
	}
	out := &build.Column{Name: n.name, Kind: n.kind, Width: n.width, Unit: n.unit}
	if n.optional {
		out.Valid = []byte{}
	}
	for i := range c.count {
		if c.rep(i) > rep || c.def(i) < def {
			continue
		}
		if n.optional {
			if out.Len&7 == 0 {
				out.Valid = append(out.Valid, 0)
			}
			if c.def(i) >= n.def {
				out.Valid[out.Len>>3] |= 1 << (out.Len & 7)
			}
		}
		out.Len++
	}
	switch n.kind {
	case build.Struct:
		for _, child := range n.children {
			part, err := a.column(child, def, rep)
			if err != nil {
				return nil, err
			}
			if part.Len != out.Len {
				return nil, corrupt("column %q has %d values, and %q in it %d", n.name, out.Len, child.name, part.Len)
			}
			out.Children = append(out.Children, part)
		}
	case build.List:
		return out, a.list(out, n, c, def, rep)
	default:
		return out, c.fill(out, def, rep)
	}
	return out, nil
}

// list fills in the offsets and the elements of a list.
func (a *assembler) list(out *build.Column, n *node, c *chunk, def, rep int) error {
	out.Offsets = make([]int32, 0, out.Len+1)
	count := int32(0)
	for i := range c.count {
		if c.rep(i) <= rep && c.def(i) >= def {
			out.Offsets = append(out.Offsets, count)
		}
		if c.rep(i) <= n.elemRep && c.def(i) >= n.elemDef {
			if len(out.Offsets) == 0 {
				return corrupt("column %q begins within a list", n.name)
			}
			count++
		}
	}
	out.Offsets = append(out.Offsets, count)
	element, err := a.column(n.element, n.elemDef, n.elemRep)
	if err != nil {
		return err
	}
	if element.Len != int(count) {
		return corrupt("column %q has lists of %d values, and %d values", n.name, count, element.Len)
	}
	out.Children = []*build.Column{element}
	return nil
}

// fill fills in the values of a leaf; values that are not there are zero.
func (c *chunk) fill(out *build.Column, def, rep int) error {
	n := c.n
	width := n.size
	if n.physical == boolean {
		width = 1
		out.Values = make([]byte, (out.Len+7)/8)
	}
	texts := n.physical == byteArray
	if len(c.values) > math.MaxInt32 && texts {
		return unsupported("column %q has more than 2 GiB in a row group", n.name)
	}
	if texts {
		out.Offsets = []int32{0}
	}
	if !texts && n.physical != boolean && c.defs == nil && out.Len == c.count { // all are there
		out.Values = c.values
		return nil
	}
	next, slot := 0, 0
	for i := range c.count {
		there := c.def(i) == n.def
		if c.rep(i) <= rep && c.def(i) >= def {
			switch {
			case texts && there:
				out.Values = append(out.Values, c.values[c.offsets[next]:c.offsets[next+1]]...)
			case n.physical == boolean && there:
				out.Values[slot>>3] |= c.values[next] << (slot & 7)
			case n.physical == boolean, texts:
			case there:
				out.Values = append(out.Values, c.values[next*width:(next+1)*width]...)
			default:
				out.Values = append(out.Values, make([]byte, width)...)
			}
			if slot++; texts {
				out.Offsets = append(out.Offsets, int32(len(out.Values)))
			}
		}
		if there {
			next++
		}
	}
	return nil
}
