package columns

import (
	"bytes"
	"slices"
)

// unique removes the entries of a map whose key comes again behind them, as protobuf reads maps, from the n entries
// that begin with from. It returns how many there are then.
func (b *Batch) unique(entries *Column, from, n int) int {
	kept := b.keptEntries(entries.Children[0], from, from+n)
	if len(kept) == n {
		return n
	}
	b.doubts.Keys += n - len(kept)
	for _, i := range kept {
		entries.repeat(i, i+1, b.limit) // fewer than there are
	}
	entries.remove(from, from+n)
	return len(kept)
}

// manyKeys is from how many keys on they are in a set, keptKeys up to how many its memory is kept.
const manyKeys, keptKeys = 16, 1 << 16

// keptEntries lists the entries whose key does not come again.
func (b *Batch) keptEntries(keys *Column, from, to int) []int {
	kept := b.kept[:0]
	many := to-from >= manyKeys
	if many && b.keys == nil {
		b.keys = map[string]bool{}
	}
	for i := to - 1; i >= from; i-- {
		key := keys.value(i)
		var again bool
		if many {
			again = b.keys[string(key)]
			b.keys[string(key)] = true
		} else {
			again = slices.ContainsFunc(kept, func(k int) bool { return bytes.Equal(keys.value(k), key) })
		}
		if !again {
			kept = append(kept, i)
		}
	}
	clear(b.keys)
	slices.Reverse(kept)
	if b.kept = kept[:0]; to-from > keptKeys {
		b.kept, b.keys = nil, nil
	}
	return kept
}

// value returns the bytes of a value that is no struct and no list.
func (c *Column) value(i int) []byte {
	if c.Offsets != nil {
		return c.Values[c.Offsets[i]:c.Offsets[i+1]]
	}
	w := c.Field.Width()
	return c.Values[i*w : (i+1)*w]
}

// remove removes values, also the values below them.
func (c *Column) remove(from, to int) {
	if c.Field.Nullable {
		c.Valid = slices.Delete(c.Valid, from, to)
	}
	if c.Field.offsets() {
		first, last := c.Offsets[from], c.Offsets[to]
		c.Offsets = slices.Delete(c.Offsets, from+1, to+1)
		for i := from + 1; i < len(c.Offsets); i++ {
			c.Offsets[i] -= last - first
		}
		if c.Field.text() {
			c.Values = slices.Delete(c.Values, int(first), int(last))
		} else {
			c.Children[0].remove(int(first), int(last))
		}
		return
	}
	if c.Field.Kind == FixedList {
		from, to = from*c.Field.Size, to*c.Field.Size
	}
	for _, child := range c.Children {
		child.remove(from, to)
	}
	if w := c.Field.Width(); w > 0 {
		c.Values = slices.Delete(c.Values, from*w, to*w)
	}
}
