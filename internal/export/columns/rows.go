package columns

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
)

// NewRows returns a batch for rows that are put together of values of other batches, or of bytes: AppendFrom,
// AppendBetween, AppendBytes or AppendNull for each of its Columns, then AddRow.
func NewRows(schema []Field) *Batch {
	p := &Program{schema: schema}
	for i := range p.schema {
		p.number(&p.schema[i])
	}
	return p.empty()
}

// Top returns the columns while rows are put together.
func (b *Batch) Top() []*Column { return b.top }

// AddRow ends a row; each column has a value for it.
func (b *Batch) AddRow() { b.rows++ }

// mark appends whether a value is there.
func (c *Column) mark(valid bool) {
	c.Len++
	if !c.Field.Nullable {
		return
	}
	v := byte(0)
	if valid {
		v = 1
	} else {
		c.Nulls++
	}
	c.Valid = append(c.Valid, v)
}

// AppendNull appends a null, or zeros if the column has no null.
func (c *Column) AppendNull() {
	c.mark(false)
	switch c.Field.Kind {
	case Text, Binary, List, Map:
		c.Offsets = append(c.Offsets, c.Offsets[len(c.Offsets)-1])
	case Struct:
		for _, child := range c.Children {
			child.AppendNull()
		}
	case FixedList:
		for range c.Field.Size {
			c.Children[0].AppendNull()
		}
	default:
		c.Values = append(c.Values, make([]byte, c.Field.Width())...)
	}
}

// AppendBytes appends a value: a number of Width bytes, a text or bytes.
func (c *Column) AppendBytes(b []byte) {
	c.mark(true)
	c.Values = append(c.Values, b...)
	if c.Field.text() {
		c.Offsets = append(c.Offsets, int32(len(c.Values)))
	}
}

// AppendFrom appends value i of a column with a field of the same kind and children.
func (c *Column) AppendFrom(from *Column, i int) { c.AppendBetween(from, i, i, 0) }

// AppendBetween appends what is between values i and k of a column, share of the way to k, from 0
// to 1: of floats and times, also in structs, arrays, and lists of the same length. Quaternions
// keep their length. All else is taken from i. A value is null if one of the two is.
func (c *Column) AppendBetween(from *Column, i, k int, share float64) {
	if from.Null(i) || from.Null(k) {
		c.AppendNull()
		return
	}
	c.mark(true)
	switch c.Field.Kind {
	case Text, Binary:
		c.Values = append(c.Values, from.Values[from.Offsets[i]:from.Offsets[i+1]]...)
		c.Offsets = append(c.Offsets, int32(len(c.Values)))
	case List, Map:
		c.list(from, i, k, share)
	case FixedList:
		n := c.Field.Size
		for j := range n {
			c.Children[0].AppendBetween(from.Children[0], i*n+j, k*n+j, share)
		}
	case Struct:
		for j, child := range c.Children {
			child.AppendBetween(from.Children[j], i, k, share)
		}
		if i != k && isQuaternion(c.Field) {
			c.normalise(from, i, k, share)
		}
	case Enum:
		c.Values = binary.LittleEndian.AppendUint32(c.Values, c.textIndex(from, i))
	default:
		c.number(from, i, k, share)
	}
}

// list appends a list.
func (c *Column) list(from *Column, i, k int, share float64) {
	first, other := from.Offsets[i], from.Offsets[k]
	n := from.Offsets[i+1] - first
	if from.Offsets[k+1]-other != n || c.Field.Kind == Map {
		other = first
	}
	for j := range n {
		c.Children[0].AppendBetween(from.Children[0], int(first+j), int(other+j), share)
	}
	c.Offsets = append(c.Offsets, c.Offsets[len(c.Offsets)-1]+n)
}

// number appends a value of fixed size.
func (c *Column) number(from *Column, i, k int, share float64) {
	w := c.Field.Width()
	a, b := from.Values[i*w:][:w], from.Values[k*w:][:w]
	switch le := binary.LittleEndian; {
	case i == k:
		c.Values = append(c.Values, a...)
	case c.Field.Kind == Float64:
		x, y := math.Float64frombits(le.Uint64(a)), math.Float64frombits(le.Uint64(b))
		c.Values = le.AppendUint64(c.Values, math.Float64bits(between(x, y, share)))
	case c.Field.Kind == Float32:
		x, y := math.Float32frombits(le.Uint32(a)), math.Float32frombits(le.Uint32(b))
		c.Values = le.AppendUint32(c.Values, math.Float32bits(float32(between(float64(x), float64(y), share))))
	case c.Field.Kind == Time || c.Field.Kind == Duration:
		x, y := int64(le.Uint64(a)), int64(le.Uint64(b))
		c.Values = le.AppendUint64(c.Values, uint64(x+int64(math.Round(float64(y-x)*share))))
	default:
		c.Values = append(c.Values, a...)
	}
}

// between returns what is between two numbers.
func between(x, y, share float64) float64 {
	if x == y { // also infinities
		return x
	}
	return x*(1-share) + y*share
}

// textIndex returns the index of the text of value i of another column of an enum.
func (c *Column) textIndex(from *Column, i int) uint32 {
	index, named := binary.LittleEndian.Uint32(from.Values[4*i:]), uint32(len(from.Field.Texts))
	if index < named {
		return index
	}
	text := from.Texts[index-named]
	at := slices.Index(c.Texts, text)
	if at < 0 {
		at = len(c.Texts)
		c.Texts = append(c.Texts, text)
	}
	return named + uint32(at)
}

// isQuaternion reports whether a struct is a quaternion of ROS or Foxglove.
func isQuaternion(f *Field) bool {
	if !strings.HasSuffix(f.Type, "Quaternion") || len(f.Children) != 4 {
		return false
	}
	for _, child := range f.Children {
		if child.Kind != Float64 {
			return false
		}
	}
	return true
}

// normalise makes the last value of a quaternion one of length 1 between two others, by the shorter way.
func (c *Column) normalise(from *Column, i, k int, share float64) {
	le := binary.LittleEndian
	var q [4]float64
	dot, sum := 0.0, 0.0
	for pass := range 2 {
		for j, child := range from.Children {
			x, y := math.Float64frombits(le.Uint64(child.Values[8*i:])), math.Float64frombits(le.Uint64(child.Values[8*k:]))
			switch {
			case pass == 0:
				dot += x * y
				continue
			case dot < 0:
				y = -y
			}
			q[j] = between(x, y, share)
			sum += q[j] * q[j]
		}
	}
	if !(sum > 0) {
		return
	}
	for j, child := range c.Children {
		le.PutUint64(child.Values[len(child.Values)-8:], math.Float64bits(q[j]/math.Sqrt(sum)))
	}
}

// AppendMembers appends a struct whose members are values of other columns, in their order, as AppendBetween does for
// each; a null if i is less than 0.
func (c *Column) AppendMembers(from []*Column, i, k int, share float64) {
	if i < 0 {
		c.AppendNull()
		return
	}
	c.mark(true)
	for n, child := range c.Children {
		child.AppendBetween(from[n], i, k, share)
	}
}
