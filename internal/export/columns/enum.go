package columns

import (
	"encoding/binary"
	"strconv"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// An enum has the index of the text of each of its numbers.
type enum struct {
	texts  []string
	dense  []int32 // by number; -1: none
	sparse map[int32]int32
}

const maxDense = 256

// enum returns the enum of a descriptor. Of two names of a number the first counts.
func (c *compiler) enum(ed protoreflect.EnumDescriptor) *enum {
	if e := c.enums[ed]; e != nil {
		return e
	}
	e := &enum{sparse: map[int32]int32{}}
	c.enums[ed] = e
	for i := range ed.Values().Len() {
		v := ed.Values().Get(i)
		num := int32(v.Number())
		if _, ok := e.find(num); ok {
			continue
		}
		index := int32(len(e.texts))
		e.texts = append(e.texts, string(v.Name()))
		if num < 0 || num >= maxDense {
			e.sparse[num] = index
			continue
		}
		for len(e.dense) <= int(num) {
			e.dense = append(e.dense, -1)
		}
		e.dense[num] = index
	}
	return e
}

func (e *enum) find(num int32) (index int32, ok bool) {
	if num >= 0 && int(num) < len(e.dense) {
		return e.dense[num], e.dense[num] >= 0
	}
	index, ok = e.sparse[num]
	return index, ok
}

// enumIndex returns the index of the text of a number in a column.
func (b *Batch) enumIndex(col int, num int32) int32 {
	e := b.p.enums[col]
	if index, ok := e.find(num); ok {
		return index
	}
	b.doubts.Enums++
	key := unnamed{col, num}
	index, ok := b.unnamed[key]
	if !ok {
		c := &b.cols[col]
		index = int32(len(e.texts) + len(c.Texts))
		c.Texts = append(c.Texts, strconv.Itoa(int(num)))
		if b.unnamed == nil {
			b.unnamed = map[unnamed]int32{}
		}
		b.unnamed[key] = index
	}
	return index
}

// unnamed is a number of an enum without a name, and its column.
type unnamed struct {
	col int
	num int32
}

// forgetTexts removes the texts of numbers that only a message had that was rolled back.
func (b *Batch) forgetTexts() {
	for col, e := range b.p.enums {
		if e == nil {
			continue
		}
		c, used := &b.cols[col], len(e.texts)
		for p := c.Values; len(p) >= 4; p = p[4:] {
			used = max(used, int(binary.LittleEndian.Uint32(p))+1)
		}
		c.Texts = c.Texts[:used-len(e.texts)]
		for key, index := range b.unnamed {
			if key.col == col && int(index) >= used {
				delete(b.unnamed, key)
			}
		}
	}
}
