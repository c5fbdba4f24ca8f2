package sqlitefile

import "encoding/binary"

// Kinds of pages of a tree.
const (
	indexInterior = 0x02
	tableInterior = 0x05
	indexLeaf     = 0x0a
	tableLeaf     = 0x0d
)

// A page of a tree being filled: offsets of cells grow behind the header, cells
// from the end towards them.
type page struct {
	b       []byte
	kind    byte
	header  int // 8, or 12 with a right child
	cells   int
	content int // where the cells begin
}

func newPage(size int, kind byte) *page {
	p := &page{b: make([]byte, size)}
	p.reset(kind)
	return p
}

func (p *page) reset(kind byte) {
	p.kind, p.cells, p.content, p.header = kind, 0, len(p.b), 8
	if kind == indexInterior || kind == tableInterior {
		p.header = 12
	}
}

// fits tells whether a cell of n bytes has room, with its offset.
func (p *page) fits(n int) bool { return p.header+2*p.cells+2+n <= p.content }

// reserve makes room for a cell of n bytes and returns where it begins.
func (p *page) reserve(n int) int {
	p.content -= n
	binary.BigEndian.PutUint16(p.b[p.header+2*p.cells:], uint16(p.content))
	p.cells++
	return p.content
}

// last returns the last cell; drop takes it off.
func (p *page) last() []byte {
	end := len(p.b)
	if p.cells > 1 {
		end = int(binary.BigEndian.Uint16(p.b[p.header+2*(p.cells-2):]))
	}
	return p.b[p.content:end]
}

func (p *page) drop() {
	p.content += len(p.last())
	p.cells--
}

// finish writes the header and clears what is free.
func (p *page) finish() {
	h := p.b
	h[0] = p.kind
	binary.BigEndian.PutUint16(h[1:], 0)
	binary.BigEndian.PutUint16(h[3:], uint16(p.cells))
	binary.BigEndian.PutUint16(h[5:], uint16(p.content)) // 65536 is written as 0
	h[7] = 0
	clear(p.b[p.header+2*p.cells : p.content])
}

func (p *page) setRight(no uint32) { binary.BigEndian.PutUint32(p.b[8:], no) }

// localSize is how many bytes of a row's record stand in its leaf.
func localSize(total, u int) int {
	most := u - 35
	if total <= most {
		return total
	}
	least := (u-12)*32/255 - 23
	if k := least + (total-least)%(u-4); k <= most {
		return k
	}
	return least
}

// serial is the type of an integer in a record: the least that holds it.
func serial(v int64) byte {
	switch {
	case v == 0:
		return 8
	case v == 1:
		return 9
	case v >= -1<<7 && v < 1<<7:
		return 1
	case v >= -1<<15 && v < 1<<15:
		return 2
	case v >= -1<<23 && v < 1<<23:
		return 3
	case v >= -1<<31 && v < 1<<31:
		return 4
	case v >= -1<<47 && v < 1<<47:
		return 5
	}
	return 6
}

var serialBytes = [10]int{1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}

func appendInt(b []byte, v int64, serial byte) []byte {
	for n := serialBytes[serial] - 1; n >= 0; n-- {
		b = append(b, byte(v>>(8*n)))
	}
	return b
}

func varintLen(v uint64) int {
	n := 1
	for ; v > 0x7f && n < 9; n++ {
		v >>= 7
	}
	return n
}

// appendVarint writes 7 bits to a byte, the highest first. All values here are
// below 2^56, so the form of nine bytes is never needed.
func appendVarint(b []byte, v uint64) []byte {
	for n := varintLen(v) - 1; n > 0; n-- {
		b = append(b, byte(v>>(7*n))|0x80)
	}
	return append(b, byte(v&0x7f))
}
