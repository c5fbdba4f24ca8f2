package sqlitefile

import "encoding/binary"

// Kinds of pages of a tree.
const (
	indexInterior = 0x02
	tableInterior = 0x05
	indexLeaf     = 0x0a
	tableLeaf     = 0x0d
)

// A page of a tree being filled: offsets of cells grow after the header, cells
// from the end towards them.
type page struct {
	b       []byte
	kind    byte
	header  int // 8, or 12 with a right child
	cells   int
	content int // where the cells begin
}

// newPage makes a page of u usable bytes.
func newPage(u int, kind byte) *page {
	p := &page{b: make([]byte, u)}
	p.reset(kind)
	return p
}

func (p *page) reset(kind byte) {
	p.kind, p.cells, p.content, p.header = kind, 0, len(p.b), 8
	if kind == indexInterior || kind == tableInterior {
		p.header = 12
	}
}

// fits reports whether a cell of n bytes has room, with its offset.
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
