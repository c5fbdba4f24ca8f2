package tables

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"github.com/bagconv/bagconv/internal/export/columns"
)

// A dictionary has the values of a chunk that repeat, each once, in the order in which they come.
type dictionary struct {
	indexes []int32 // of all values
	plain   []byte  // the values in PLAIN
	n       int     // how many they are
	fewest  int     // so many are always worth it

	slots []int32 // by hash: index + 1 of a number; 0: none
	keys  []uint64
	texts map[string]int32
}

// Limits of a dictionary. One with more values than fewest and an eighth of the values that it
// stands for is given up.
const (
	maxEntries   = 1 << 16
	maxDictBytes = 1 << 20
	fewest       = 2048
	maxText      = 256
)

// mayRepeat reports whether values of a leaf may have a dictionary.
func mayRepeat(f *columns.Field) bool { return f.Kind != columns.Bool && f.Kind != columns.FixedBinary }

// add adds values of a column that stand side by side; false: they do not repeat enough.
func (d *dictionary) add(l *leaf, c *columns.Column, s span) bool {
	switch c.Field.Kind {
	case columns.Enum:
		return d.addEnums(c, s)
	case columns.Text, columns.Binary:
		return d.addTexts(c, s)
	}
	return d.addNumbers(l, c, s)
}

func (d *dictionary) begin(fewest int) {
	d.fewest = fewest
	d.indexes, d.plain, d.n, d.keys = d.indexes[:0], d.plain[:0], 0, d.keys[:0]
	if d.slots == nil {
		d.slots = make([]int32, fewestSlots)
	}
	d.slots = d.slots[:fewestSlots]
	clear(d.slots)
	clear(d.texts)
}

// worth reports whether the dictionary is still small.
func (d *dictionary) worth() bool {
	return d.n <= maxEntries && len(d.plain) <= maxDictBytes && d.n <= d.fewest+len(d.indexes)/8
}

// addNumbers adds blocks of numbers: one that is the same as that before has the same indexes.
func (d *dictionary) addNumbers(l *leaf, c *columns.Column, s span) bool {
	w, block := c.Field.Width(), max(1, l.block)
	size := w * block
	p := c.Values[s.from*w : s.to*w]
	var before []byte
	for ; len(p) >= size; p = p[size:] {
		now := p[:size]
		if before != nil && bytes.Equal(now, before) {
			d.indexes = append(d.indexes, d.indexes[len(d.indexes)-block:]...)
			continue
		}
		before = now
		for ; len(now) > 0; now = now[w:] {
			d.indexes = append(d.indexes, d.number(c, now[:w]))
		}
		if !d.worth() {
			return false
		}
	}
	return true
}

// number returns the index of a number.
func (d *dictionary) number(c *columns.Column, p []byte) int32 {
	var key uint64
	switch len(p) {
	case 8:
		key = binary.LittleEndian.Uint64(p)
	case 4:
		key = uint64(binary.LittleEndian.Uint32(p))
	case 2:
		key = uint64(binary.LittleEndian.Uint16(p))
	default:
		key = uint64(p[0])
	}
	mask := len(d.slots) - 1
	at := slot(key) & mask
	for ; d.slots[at] != 0; at = (at + 1) & mask {
		if i := d.slots[at] - 1; d.keys[i] == key {
			return i
		}
	}
	d.keys = append(d.keys, key)
	d.n++
	d.slots[at] = int32(d.n)
	d.plain = appendNumber(d.plain, c.Field.Kind, key, len(p))
	if 2*d.n > len(d.slots) {
		d.grow()
	}
	return int32(d.n - 1)
}

// appendNumber appends a number in PLAIN.
func appendNumber(dst []byte, k columns.Kind, bits uint64, width int) []byte {
	switch {
	case width == 8:
		return binary.LittleEndian.AppendUint64(dst, bits)
	case k == columns.Int8:
		bits = uint64(int64(int8(bits)))
	case k == columns.Int16:
		bits = uint64(int64(int16(bits)))
	}
	return binary.LittleEndian.AppendUint32(dst, uint32(bits))
}

const fewestSlots = 512

// seed is another one in each process, so that nobody can choose numbers for one slot. The file does not depend on it.
var seed = rand.Uint64() | 1

// slot returns where to look for a number first.
func slot(key uint64) int { return int((key ^ key>>32) * seed >> 32) }

func (d *dictionary) grow() {
	n := 2 * len(d.slots)
	d.slots = slices.Grow(d.slots[:0], n)[:n]
	clear(d.slots)
	mask := len(d.slots) - 1
	for i, key := range d.keys {
		at := slot(key) & mask
		for d.slots[at] != 0 {
			at = (at + 1) & mask
		}
		d.slots[at] = int32(i + 1)
	}
}

func (d *dictionary) addTexts(c *columns.Column, s span) bool {
	if d.texts == nil {
		d.texts = map[string]int32{}
	}
	var before []byte
	for i := s.from; i < s.to; i++ {
		v := c.Values[c.Offsets[i]:c.Offsets[i+1]]
		if i > s.from && bytes.Equal(v, before) {
			d.indexes = append(d.indexes, d.indexes[len(d.indexes)-1])
			continue
		}
		if before = v; len(v) > maxText {
			return false
		}
		index, ok := d.texts[string(v)]
		if !ok {
			index = d.text(v)
			d.texts[string(v)] = index
		}
		if d.indexes = append(d.indexes, index); !d.worth() {
			return false
		}
	}
	return true
}

// text adds a text.
func (d *dictionary) text(v []byte) int32 {
	d.plain = append(binary.LittleEndian.AppendUint32(d.plain, uint32(len(v))), v...)
	d.n++
	return int32(d.n - 1)
}

// addEnums adds the texts that the values use.
func (d *dictionary) addEnums(c *columns.Column, s span) bool {
	if d.n == 0 {
		d.keys = append(d.keys[:0], make([]uint64, len(c.Field.Texts)+len(c.Texts))...) // index + 1 of each text
	}
	for i := s.from; i < s.to; i++ {
		at := int(binary.LittleEndian.Uint32(c.Values[4*i:]))
		if d.keys[at] == 0 {
			d.keys[at] = uint64(d.text([]byte(enumText(c, at)))) + 1
		}
		d.indexes = append(d.indexes, int32(d.keys[at]-1))
	}
	return true
}
