package columns

// burst makes the values of the other columns as many as the values of the field whose elements are
// rows.
func (b *Batch) burst(rows int) error {
	if b.p.rows.to == 0 || rows == 1 {
		return nil
	}
	for i, c := range b.top {
		if i >= b.p.rows.from && i < b.p.rows.to {
			continue
		}
		if rows == 0 {
			c.cut(b.rows)
			continue
		}
		if size := c.size(b.rows, b.rows+1); size > 0 && rows > b.budget/size {
			b.c.Fail("the rows of the message would be out of proportion, leave out columns")
			return b.c.Err()
		}
		for range rows - 1 {
			if !c.repeat(b.rows, b.rows+1, b.limit) {
				return b.overflow()
			}
		}
	}
	return nil
}

// size returns the bytes of some values.
func (c *Column) size(from, to int) (n int) {
	switch c.Field.Kind {
	case Text, Binary:
		return int(c.Offsets[to]-c.Offsets[from]) + 4*(to-from)
	case List, Map:
		return c.Children[0].size(int(c.Offsets[from]), int(c.Offsets[to])) + 4*(to-from)
	case FixedList:
		return c.Children[0].size(from*c.Field.Size, to*c.Field.Size)
	}
	for _, child := range c.Children {
		n += child.size(from, to)
	}
	return n + (to-from)*c.Field.Width()
}

// repeat appends some values again; false: a column would have more than limit values or bytes.
func (c *Column) repeat(from, to, limit int) bool {
	if c.Field.Nullable {
		c.Valid = append(c.Valid, c.Valid[from:to]...)
	}
	if c.Field.offsets() {
		first, last := c.Offsets[from], c.Offsets[len(c.Offsets)-1]
		if int(last)+int(c.Offsets[to]-first) > limit {
			return false
		}
		for i := from; i < to; i++ {
			c.Offsets = append(c.Offsets, last+c.Offsets[i+1]-first)
		}
		if c.Field.text() {
			c.Values = append(c.Values, c.Values[first:c.Offsets[to]]...)
			return true
		}
		return c.Children[0].repeat(int(first), int(c.Offsets[to]), limit)
	}
	if c.Field.Kind == FixedList {
		return c.Children[0].repeat(from*c.Field.Size, to*c.Field.Size, limit)
	}
	for _, child := range c.Children {
		if !child.repeat(from, to, limit) {
			return false
		}
	}
	w := c.Field.Width()
	c.Values = append(c.Values, c.Values[from*w:to*w]...)
	return true
}

// overflow returns the error of a message that has no place in the batch.
func (b *Batch) overflow() error {
	if b.rows > 0 {
		return ErrFull
	}
	b.c.Fail("a column would have more than 2^31 values or bytes")
	return b.c.Err()
}
