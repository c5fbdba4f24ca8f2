package parquet

import (
	"encoding/binary"
	"math/bits"

	"github.com/klauspost/compress/snappy"

	"github.com/bagconv/bagconv/internal/compress"
)

// A chunk has the levels and the values of a leaf in a row group.
type chunk struct {
	n          *node
	count      int     // of levels
	defs, reps []uint8 // nil: all are the highest, and 0
	values     []byte  // that are there, n.size bytes each; a byte for a bool
	offsets    []int   // of values of any length
	dictionary *chunk
	limit      int // of count
}

// Limits of a chunk.
const (
	maxFree  = 16 << 20 // values that take no bytes
	perByte  = 64
	maxPage  = 1 << 30 // bytes after decompression, or 1000 times what it has
	pageHead = 64 << 10
)

var zstd = compress.Lookup("zstd")

// read reads the pages of a chunk.
func (f *File) read(g *group, n *node) (*chunk, error) {
	m := g.chunks[n.leaf]
	if m.field(1).number != n.physical {
		return nil, corrupt("column %q: a chunk has another type than the schema", n.name)
	}
	b := make([]byte, m.field(7).number)
	if _, err := f.r.ReadAt(b, chunkStart(m)); err != nil {
		return nil, err
	}
	c := &chunk{n: n, limit: maxFree + perByte*len(b)}
	total := m.field(5).number
	for int64(c.count) < total {
		head, size, err := parseThrift(b[:min(len(b), pageHead)])
		if err != nil {
			return nil, err
		}
		packed := head.field(3).number
		if b = b[size:]; packed < 0 || packed > int64(len(b)) {
			return nil, corrupt("column %q: a page is beyond its chunk", n.name)
		}
		before := c.count
		if err := c.page(head, b[:packed], m.field(4).number); err != nil {
			return nil, err
		}
		if b = b[packed:]; c.count == before && len(b) == 0 {
			break
		}
	}
	if int64(c.count) != total {
		return nil, corrupt("column %q: a chunk has %d values, and its metadata say %d", n.name, c.count, total)
	}
	return c, nil
}

// unpack decompresses bytes.
func unpack(b []byte, codec, size int64) ([]byte, error) {
	limit := max(maxPage, 1000*int64(len(b)))
	if size < 0 || size > limit {
		return nil, corrupt("a page of %d bytes would become %d", len(b), size)
	}
	switch codec {
	case 0:
		return b, nil
	case 1:
		if n, err := snappy.DecodedLen(b); err != nil || int64(n) != size {
			return nil, corrupt("a page is not what its head says")
		}
		out, err := snappy.Decode(nil, b)
		if err != nil {
			return nil, corrupt("a page cannot be decompressed: %v", err)
		}
		return out, nil
	case 6:
		out, err := zstd.Decode(nil, b, size)
		if err != nil || int64(len(out)) != size {
			return nil, corrupt("a page cannot be decompressed: %v", err)
		}
		return out, nil
	}
	return nil,
		unsupported("the pages of the Parquet file are compressed with codec %d; zstd, snappy and none are read", codec)
}

// page takes a page.
func (c *chunk) page(head value, b []byte, codec int64) (err error) {
	size := head.field(2).number
	switch head.field(1).number {
	case 0:
		d := head.field(5)
		if b, err = unpack(b, codec, size); err != nil {
			return err
		}
		return c.data(int(d.field(1).number), d.field(2).number, b, nil, nil)
	case 2:
		d := head.field(7)
		if b, err = unpack(b, codec, size); err != nil {
			return err
		}
		c.dictionary = &chunk{n: c.n, limit: c.limit}
		return c.dictionary.plain(b, int(d.field(1).number))
	case 3:
		d := head.field(8)
		defs, reps := d.field(5).number, d.field(6).number
		if defs < 0 || reps < 0 || defs+reps > int64(len(b)) {
			return corrupt("column %q: levels are beyond their page", c.n.name)
		}
		rest := b[defs+reps:]
		if !d.has(7) || d.field(7).number != 0 {
			if rest, err = unpack(rest, codec, size-defs-reps); err != nil {
				return err
			}
		}
		return c.data(int(d.field(1).number), d.field(4).number, rest, b[:reps:reps], b[reps:reps+defs])
	case 1:
		return nil // an index
	}
	return unsupported("column %q has pages of a kind that is not read", c.n.name)
}

// data takes the values of a page. With reps and defs the levels are there, else before the values, each with its
// length.
func (c *chunk) data(count int, encoding int64, b, reps, defs []byte) (err error) {
	if count < 0 || count > c.limit-c.count {
		return corrupt("column %q: a chunk has more values than its bytes allow", c.n.name)
	}
	levels := func(own []byte, most int) ([]uint8, error) {
		if most == 0 {
			return nil, nil
		}
		if reps == nil {
			if len(b) < 4 || int64(binary.LittleEndian.Uint32(b)) > int64(len(b)-4) {
				return nil, corrupt("column %q: levels are beyond their page", c.n.name)
			}
			n := 4 + int(binary.LittleEndian.Uint32(b))
			own, b = b[4:n], b[n:]
		}
		list, err := hybrid(nil, own, bits.Len(uint(most)), count)
		if err != nil {
			return nil, err
		}
		out := make([]uint8, count)
		for i, v := range list {
			if int(v) > most {
				return nil, corrupt("column %q: a level is %d of %d", c.n.name, v, most)
			}
			out[i] = uint8(v)
		}
		return out, nil
	}
	r, err := levels(reps, c.n.rep)
	if err != nil {
		return err
	}
	d, err := levels(defs, c.n.def)
	if err != nil {
		return err
	}
	c.reps, c.defs, c.count = append(c.reps, r...), append(c.defs, d...), c.count+count
	there := count
	if d != nil {
		there = 0
		for _, v := range d {
			if int(v) == c.n.def {
				there++
			}
		}
	}
	return c.encoded(encoding, b, there)
}

// encoded takes so many values.
func (c *chunk) encoded(encoding int64, b []byte, n int) error {
	switch encoding {
	case 0:
		return c.plain(b, n)
	case 2, 8:
		return c.indexed(b, n)
	case 3:
		if c.n.physical == boolean && len(b) >= 4 {
			list, err := hybrid(nil, b[4:], 1, n)
			for _, v := range list {
				c.values = append(c.values, byte(v))
			}
			return err
		}
	case 5:
		if c.n.physical == int32s || c.n.physical == int64s {
			return c.delta(b, n)
		}
	}
	return unsupported("column %q has values in encoding %d, which is not read", c.n.name, encoding)
}

// plain takes values as they are.
func (c *chunk) plain(b []byte, n int) error {
	if n < 0 {
		return corrupt("column %q: a page has %d values", c.n.name, n)
	}
	short := func() error { return corrupt("column %q: values end before their page does", c.n.name) }
	switch {
	case c.n.physical == boolean:
		if len(b) < (n+7)/8 {
			return short()
		}
		for i := range n {
			c.values = append(c.values, b[i>>3]>>(i&7)&1)
		}
	case c.n.physical == byteArray:
		for range n {
			if len(b) < 4 || int64(binary.LittleEndian.Uint32(b)) > int64(len(b)-4) {
				return short()
			}
			size := int(binary.LittleEndian.Uint32(b))
			c.text(b[4 : 4+size])
			b = b[4+size:]
		}
	default:
		if n > len(b)/c.n.size {
			return short()
		}
		c.values = append(c.values, b[:n*c.n.size]...)
	}
	return nil
}

// text adds a value of any length.
func (c *chunk) text(b []byte) {
	if c.offsets == nil {
		c.offsets = []int{0}
	}
	c.values = append(c.values, b...)
	c.offsets = append(c.offsets, len(c.values))
}

// indexed takes values of the dictionary.
func (c *chunk) indexed(b []byte, n int) error {
	d := c.dictionary
	if n == 0 {
		return nil
	}
	if d == nil || len(b) == 0 || b[0] > 32 {
		return corrupt("column %q: indexes without a dictionary", c.n.name)
	}
	list, err := hybrid(nil, b[1:], int(b[0]), n)
	if err != nil {
		return err
	}
	width := c.n.size
	for _, v := range list {
		i := int(v)
		if c.n.physical == byteArray {
			if i >= len(d.offsets)-1 {
				return corrupt("column %q: index %d is beyond the dictionary", c.n.name, i)
			}
			if text := d.values[d.offsets[i]:d.offsets[i+1]]; len(c.values)+len(text) <= maxPage+perByte*c.limit {
				c.text(text)
				continue
			}
			return corrupt("column %q: texts of the dictionary grow out of proportion", c.n.name)
		}
		if width == 0 || i >= len(d.values)/width {
			return corrupt("column %q: index %d is beyond the dictionary", c.n.name, i)
		}
		c.values = append(c.values, d.values[i*width:(i+1)*width]...)
	}
	return nil
}

// hybrid takes n numbers of so many bits in runs (RLE/bit-packing hybrid): a head of a varint, whose lowest bit is 0
// for a number that repeats head>>1 times, and 1 for head>>1 times 8 numbers side by side.
func hybrid(dst []uint32, b []byte, width, n int) ([]uint32, error) {
	for len(dst) < n {
		head, k := binary.Uvarint(b)
		if k <= 0 || head>>1 == 0 || head>>1 > 1<<40 {
			return nil, corrupt("a run of numbers ends early")
		}
		b = b[k:]
		left := uint64(n - len(dst))
		if head&1 == 0 {
			size := (width + 7) / 8
			if len(b) < size {
				return nil, corrupt("a run of numbers ends early")
			}
			v := uint32(0)
			for i := range size {
				v |= uint32(b[i]) << (8 * i)
			}
			for range min(left, head>>1) {
				dst = append(dst, v)
			}
			b = b[size:]
			continue
		}
		count := min(left, 8*(head>>1))
		if uint64(len(b))*8 < count*uint64(width) {
			return nil, corrupt("a run of numbers ends early")
		}
		for i := range count {
			dst = append(dst, uint32(bitsAt(b, int(i)*width, width)))
		}
		b = b[min(uint64(len(b)), (head>>1)*uint64(width)):]
	}
	return dst, nil
}

// bitsAt returns a number of up to 64 bits, the lowest bit first.
func bitsAt(b []byte, at, width int) (v uint64) {
	for got := 0; got < width; {
		i, shift := (at+got)>>3, (at+got)&7
		v |= uint64(b[i]>>shift) << got
		got += 8 - shift
	}
	if width < 64 {
		v &= 1<<width - 1
	}
	return v
}

// delta takes whole numbers as differences (DELTA_BINARY_PACKED): varints block size, miniblocks of a block, count,
// and the first value with zigzag; then blocks of the least difference, a byte of bits for each miniblock, and what is
// more.
func (c *chunk) delta(b []byte, n int) error {
	wrong := corrupt("column %q: differences end early or are wrong", c.n.name)
	var head [3]uint64
	for i := range head {
		v, k := binary.Uvarint(b)
		if k <= 0 {
			return wrong
		}
		head[i], b = v, b[k:]
	}
	v, k := binary.Varint(b)
	if k <= 0 || head[1] == 0 || head[0] > 1<<20 || head[0]%head[1] != 0 || head[2] != uint64(n) {
		return wrong
	}
	b = b[k:]
	mini := int(head[0] / head[1])
	left := n
	put := func(v int64) {
		if c.n.size == 4 {
			c.values = binary.LittleEndian.AppendUint32(c.values, uint32(v))
		} else {
			c.values = binary.LittleEndian.AppendUint64(c.values, uint64(v))
		}
		left--
	}
	if left > 0 {
		put(v)
	}
	for left > 0 {
		least, k := binary.Varint(b)
		if k <= 0 || len(b)-k < int(head[1]) {
			return wrong
		}
		widths := b[k : k+int(head[1])]
		b = b[k+len(widths):]
		for _, w := range widths {
			if left == 0 {
				break
			}
			size := (mini*int(w) + 7) / 8
			count := min(left, mini)
			if w > 64 || len(b)*8 < count*int(w) {
				return wrong
			}
			for i := range count {
				v += least + int64(bitsAt(b, i*int(w), int(w)))
				put(v)
			}
			b = b[min(size, len(b)):]
		}
	}
	return nil
}
