package parquet

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/bagconv/bagconv/internal/ingest/build"
)

// Rows are the values of a column, row by row: all that it has in a row, the values of lists in one
// slice, without what is null. A row group is in memory at a time. It is for one goroutine.
type Rows struct {
	f       *File
	name    string
	members []string // of structs, to the one that is read
	group   int
	at      int
	column  *build.Column // of the group; nil: it is not read yet

	ints   []int64
	floats []float64
	bytes  [][]byte
	err    error
}

// Has reports whether there is a column of a name.
func (f *File) Has(name string) bool {
	return slices.ContainsFunc(f.Names(), func(n Name) bool { return n.Name == name })
}

// Rows returns the rows of a column, or of a member of it if it has structs.
func (f *File) Rows(name string, members ...string) (*Rows, error) {
	if !f.Has(name) {
		return nil, corrupt("there is no column %q", name)
	}
	return &Rows{f: f, name: name, members: members}, nil
}

// Next goes to the next row, and reports whether there is one.
func (r *Rows) Next() bool {
	for r.err == nil && (r.column == nil || r.at >= r.column.Len) {
		if r.column != nil {
			r.column, r.at, r.group = nil, 0, r.group+1
		}
		if r.group >= r.f.Groups() {
			return false
		}
		r.err = r.read()
	}
	if r.err != nil {
		return false
	}
	r.ints, r.floats, r.bytes = r.ints[:0], r.floats[:0], r.bytes[:0]
	r.take(r.column, r.at)
	r.at++
	return r.err == nil
}

// read reads the column of a row group.
func (r *Rows) read() error {
	list, err := r.f.Read(r.group, r.name)
	if err != nil {
		return err
	}
	c := list[0]
	for _, name := range r.members {
		i := slices.IndexFunc(c.Children, func(m *build.Column) bool { return m.Name == name })
		if c.Kind != build.Struct || i < 0 {
			return corrupt("column %q has no member %q", r.name, name)
		}
		c = c.Children[i]
	}
	r.column = c
	return nil
}

// take takes value i of a column.
func (r *Rows) take(c *build.Column, i int) {
	i += c.First
	if c.Valid != nil && c.Valid[i/8]>>(i%8)&1 == 0 {
		return
	}
	switch c.Kind {
	case build.Signed, build.Unsigned, build.Time:
		r.ints = append(r.ints, integer(c, i))
	case build.Float:
		switch c.Width {
		case 4:
			r.floats = append(r.floats, float64(math.Float32frombits(binary.LittleEndian.Uint32(c.Values[4*i:]))))
		case 8:
			r.floats = append(r.floats, math.Float64frombits(binary.LittleEndian.Uint64(c.Values[8*i:])))
		default:
			r.err = unsupported("column %q has floats of %d bytes", r.name, c.Width)
		}
	case build.Bool:
		r.ints = append(r.ints, int64(c.Values[i/8]>>(i%8)&1))
	case build.Bytes:
		from, to := i*c.Width, (i+1)*c.Width
		if c.Offsets != nil {
			from, to = int(c.Offsets[i]), int(c.Offsets[i+1])
		}
		r.bytes = append(r.bytes, c.Values[from:to])
	case build.List:
		from, to := i*c.Width, (i+1)*c.Width
		if c.Offsets != nil {
			from, to = int(c.Offsets[i]), int(c.Offsets[i+1])
		}
		for k := from; k < to; k++ {
			r.take(c.Children[0], k)
		}
	case build.Struct:
		for _, m := range c.Children {
			r.take(m, i)
		}
	case build.Texts:
		r.take(c.Dictionary, int(integer(c, i)))
	}
}

// integer returns number i of a column.
func integer(c *build.Column, i int) int64 {
	p := c.Values[i*c.Width:]
	signed := c.Kind != build.Unsigned
	switch c.Width {
	case 1:
		if signed {
			return int64(int8(p[0]))
		}
		return int64(p[0])
	case 2:
		v := binary.LittleEndian.Uint16(p)
		if signed {
			return int64(int16(v))
		}
		return int64(v)
	case 4:
		v := binary.LittleEndian.Uint32(p)
		if signed {
			return int64(int32(v))
		}
		return int64(v)
	}
	return int64(binary.LittleEndian.Uint64(p))
}

// Floats returns the numbers of the row, whatever their type is. It is valid until Next.
func (r *Rows) Floats() []float64 {
	if len(r.floats) == 0 {
		for _, v := range r.ints {
			r.floats = append(r.floats, float64(v))
		}
	}
	return r.floats
}

// Ints returns the integers of the row; floats are cut. It is valid until Next.
func (r *Rows) Ints() []int64 {
	if len(r.ints) == 0 {
		for _, v := range r.floats {
			if math.Abs(v) < 1<<62 {
				r.ints = append(r.ints, int64(v))
			}
		}
	}
	return r.ints
}

// Bytes returns the texts or bytes of the row. They are valid until Next.
func (r *Rows) Bytes() [][]byte { return r.bytes }

// Err returns the error that ended Next.
func (r *Rows) Err() error { return r.err }
