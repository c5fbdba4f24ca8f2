package build

import (
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/schema"
)

// Rows are the values of a batch of columns.
type Rows struct {
	Missing []string // paths of fields that no column has: they are zero
	Unknown []string // columns that no field takes

	p    *Program
	root *Column
	size int // bytes of a row, about
	s    columnSource
}

// Bind finds the columns of each field by their names; ours are names of columns that are of no field. The columns,
// all of one length, are kept. They belong to these Rows alone.
func (p *Program) Bind(list []*Column, ours ...string) *Rows {
	r := &Rows{p: p, root: &Column{Kind: Struct, Children: list}}
	for _, c := range list {
		r.root.Len = c.Len
		r.size += c.weight()
	}
	used := r.bind(r.root, p.typ, "")
	for i, c := range list {
		if !used[i] && !slices.Contains(ours, c.Name) {
			r.Unknown = append(r.Unknown, c.Name)
		}
	}
	if r.root.Len > 0 {
		r.size /= r.root.Len
	}
	return r
}

// weight is how many bytes the values of a column take.
func (c *Column) weight() int {
	n := len(c.Values) + 4*len(c.Offsets)
	for _, child := range c.Children {
		n += child.weight()
	}
	return n
}

// Len returns how many rows there are.
func (r *Rows) Len() int { return r.root.Len }

// Append makes a message of row i, at the end of dst. On error dst is returned at its old length. The error wraps
// ErrValue.
func (r *Rows) Append(dst []byte, i int, d *Doubts) ([]byte, error) {
	r.s.marks = marks{unknown: len(r.Unknown) > 0}
	out, err := r.p.append(dst, &r.s, place{r.root, i}, r.size)
	if err == nil {
		r.s.count(d)
	}
	return out, err
}

// bind finds the members of a struct; used says which of its children a field takes.
func (r *Rows) bind(c *Column, t *message.Type, path string) (used []bool) {
	used = make([]bool, len(c.Children))
	c.members = make([]*Column, len(t.Fields))
	for i := range t.Fields {
		f := &t.Fields[i]
		at := slices.IndexFunc(c.Children, func(m *Column) bool { return m.Name == f.Name })
		if at >= 0 {
			used[at] = true
			c.members[i] = c.Children[at]
			r.below(c.Children[at], f, path+f.Name)
			continue
		}
		if c.members[i] = r.gather(c, used, f, f.Name+".", path); c.members[i] == nil {
			r.Missing = append(r.Missing, path+f.Name)
		}
	}
	return used
}

// below binds the column of a field.
func (r *Rows) below(c *Column, f *message.Field, path string) {
	if c.Kind == List && len(c.Children) == 1 {
		c = c.Children[0]
	}
	if c.Kind != Struct || f.Type == nil {
		return
	}
	for i, ok := range r.bind(c, f.Type, path+".") {
		if !ok && !(f.Clock != schema.Invalid) {
			r.Unknown = append(r.Unknown, path+"."+c.Children[i].Name)
		}
	}
}

// gather makes a struct of the columns whose names begin with a prefix; nil without such columns.
func (r *Rows) gather(c *Column, used []bool, f *message.Field, prefix, path string) *Column {
	if f.Type == nil || f.List && !f.Lone {
		return nil
	}
	made := &Column{Name: f.Name, Kind: Struct, Len: c.Len, flat: true}
	var places []int
	for k, m := range c.Children {
		if strings.HasPrefix(m.Name, prefix) && !used[k] {
			part := *m
			part.Name = m.Name[len(prefix):]
			made.Children, places = append(made.Children, &part), append(places, k)
		}
	}
	if places == nil {
		return nil
	}
	for k, ok := range r.bind(made, f.Type, path+f.Name+".") {
		used[places[k]] = ok
	}
	return made
}

// A columnSource has the values of columns.
type columnSource struct{ marks }

func (s *columnSource) seen() *marks { return &s.marks }

func (s *columnSource) open(at place, t *message.Type) (frame, error) {
	c := at.column
	if c.Kind == Bool && len(t.Fields) == 0 {
		return frame{place: at}, nil
	}
	if c.Kind != Struct {
		return frame{}, refused("the column has %s, and it is a %s", kindNames[c.Kind], t.Name)
	}
	if !c.flat {
		at.at += c.First
	}
	return frame{place: at}, nil
}

func (s *columnSource) member(f frame, i int) place {
	m := f.column.members[i]
	switch {
	case m == nil:
		return place{at: missing}
	case m.null(f.at):
		return place{m, null}
	}
	return place{m, f.at}
}

func (s *columnSource) leave(frame) {}

func (s *columnSource) list(at place, f *message.Field) (frame, int, error) {
	c := at.column
	if c.Kind != List {
		return frame{}, 0, refused("the column has %s, and it is a list", kindNames[c.Kind])
	}
	from, to := c.span(at.at)
	return frame{place: place{c.Children[0], from}}, to - from, nil
}

func (s *columnSource) element(f frame, i int) place {
	if f.column.null(f.at + i) {
		return place{f.column, null}
	}
	return place{f.column, f.at + i}
}

// numbers takes numbers that are of the field's type, without a null.
func (s *columnSource) numbers(fr frame, f *message.Field, n int) ([]byte, bool) {
	c := fr.column
	if c.Valid != nil || c.Width != f.Size || f.Size == 0 || f.Kind == message.Bool {
		return nil, false
	}
	switch c.Kind {
	case Signed:
		if f.Kind != message.Signed {
			return nil, false
		}
	case Unsigned:
		if f.Kind != message.Unsigned {
			return nil, false
		}
	case Float:
		if f.Kind != message.Float {
			return nil, false
		}
	default:
		return nil, false
	}
	from := (fr.at + c.First) * c.Width
	return c.Values[from : from+n*c.Width], true
}

func (s *columnSource) number(at place, f *message.Field) (uint64, error) {
	c, i := at.column, at.at
	switch c.Kind {
	case Bool:
		return s.fit(c.raw(i), message.Unsigned, f)
	case Signed:
		if v := c.signed(i); f.Kind == message.Signed && f.Size == c.Width {
			return uint64(v), nil
		}
		return s.fit(uint64(c.signed(i)), message.Signed, f)
	case Unsigned:
		if f.Kind == message.Unsigned && f.Size == c.Width {
			return c.raw(i), nil
		}
		return s.fit(c.raw(i), message.Unsigned, f)
	case Float:
		if f.Kind == message.Float && f.Size == c.Width {
			return c.raw(i), nil
		}
		return s.fit(floatBits(c.float(i)), message.Float, f)
	case Texts, Bytes:
		b, err := s.text(at, f)
		if err != nil {
			return 0, err
		}
		return s.named(b, f)
	case Time:
		if ns, ok := c.Nanoseconds(i); ok {
			return s.fit(uint64(ns), message.Signed, f)
		}
	}
	return 0, refused("the column has %s, and it is a %s", kindNames[c.Kind], kindName(f))
}

func (s *columnSource) text(at place, f *message.Field) ([]byte, error) {
	c, i := at.column, at.at
	if c.Kind == Texts {
		index := c.signed(i)
		if c.Dictionary == nil || index < 0 || index >= int64(c.Dictionary.Len) {
			return nil, refused("the dictionary has no text %d", index)
		}
		c, i = c.Dictionary, int(index)
	}
	if c.Kind != Bytes {
		return nil, refused("the column has %s, and it is a %s", kindNames[c.Kind], kindName(f))
	}
	return c.bytes(i), nil
}

func (s *columnSource) bytes(at place, f *message.Field) ([]byte, bool, error) {
	c := at.column
	switch {
	case c.Kind == Bytes || c.Kind == Texts:
		b, err := s.text(at, f)
		return b, err == nil, err
	case c.Kind == List && f.Kind == message.Bytes && c.Children[0].Width == 1 && c.Children[0].Valid == nil:
		from, to := c.span(at.at)
		from, to = from+c.Children[0].First, to+c.Children[0].First
		return c.Children[0].Values[from:to], true, nil
	}
	return nil, false, nil
}

func (s *columnSource) time(at place, _ *message.Field) (sec, nsec int64, ok bool) {
	if at.column.Kind == Struct {
		return 0, 0, false
	}
	if at.column.Kind == Time && at.column.Unit >= 1e9 {
		return at.column.signed(at.at) * (at.column.Unit / 1e9), 0, true
	}
	ns, ok := at.column.Nanoseconds(at.at)
	sec, nsec = split(ns)
	return sec, nsec, ok
}
