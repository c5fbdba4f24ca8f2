package sqlitefile

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/storage"
)

// A pager reads pages in blocks, and keeps the last few. Tree, chains and index
// pages may lie in any order; if they follow each other, one read gets many.
type pager struct {
	r      io.ReaderAt
	size   int64  // of the file
	page   int    // bytes of a page
	usable int    // bytes of a page that are used
	pages  uint32 // whole pages in the file
	total  uint32 // pages by the header, at least the pages in the file
	block  int64  // bytes read at once, a multiple of page

	columns *columns // of messages, nil for the usual ones: for salvaging

	blocks [8]pageBlock
	last   int // the block that was used last
	clock  uint32
}

// A pageBlock is a run of pages from off on.
type pageBlock struct {
	off  int64
	b    []byte
	used uint32
}

// scanBlock is how much a salvage reads at once.
const scanBlock = 128 << 10

func newPager(r io.ReaderAt, size int64, h sqlite.Header, block int64) *pager {
	p := &pager{r: r, size: size, page: h.Page, usable: h.Usable}
	p.block = max(block-block%int64(h.Page), int64(h.Page))
	p.pages = uint32(min(size/int64(h.Page), maxPage))
	p.total = p.pages
	if h.Valid {
		p.total = max(p.total, h.Pages)
	}
	return p
}

// get returns the usable bytes of a page, valid until the next call.
func (p *pager) get(no uint32) ([]byte, error) {
	off := int64(no-1) * int64(p.page)
	b := &p.blocks[p.last]
	if at := off - b.off; at >= 0 && at+int64(p.usable) <= int64(len(b.b)) && no > 0 {
		return b.b[at : at+int64(p.usable)], nil
	}
	return p.find(no, off)
}

func (p *pager) find(no uint32, off int64) ([]byte, error) {
	if no == 0 || no > p.total {
		return nil, corrupt("page %d of %d", no, p.total)
	}
	if no > p.pages {
		return nil, fmt.Errorf("page %d of %d lies after the file's end: %w", no, p.total, storage.ErrTruncated)
	}
	p.clock++
	oldest := 0
	for i := range p.blocks {
		b := &p.blocks[i]
		if at := off - b.off; at >= 0 && at < int64(len(b.b)) {
			p.last, b.used = i, p.clock
			return b.b[at:min(at+int64(p.usable), int64(len(b.b)))], nil
		}
		if b.used < p.blocks[oldest].used {
			oldest = i
		}
	}
	b := &p.blocks[oldest]
	start := off - off%p.block
	n := min(p.block, p.size-start, int64(p.pages)*int64(p.page)-start)
	if int64(cap(b.b)) < n {
		b.b = make([]byte, n)
	}
	b.off, b.b = start, b.b[:n]
	if err := iox.ReadFull(p.r, b.b, start); err != nil {
		b.b, b.used = b.b[:0], 0
		return nil, fmt.Errorf("page %d: %w", no, err)
	}
	p.last, b.used = oldest, p.clock
	at := off - start
	return b.b[at:min(at+int64(p.usable), int64(len(b.b)))], nil
}

// cutPage makes the start of a last page that is cut off readable: get returns
// what there is of it.
func (p *pager) cutPage() {
	if p.size%int64(p.page) >= 8 && p.pages < maxPage {
		p.pages++
		p.total = max(p.total, p.pages)
	}
}

// chain copies the overflow pages from first on into dst, which they fill.
func (p *pager) chain(dst []byte, first uint32) error {
	no := first
	for len(dst) > 0 {
		b, err := p.get(no)
		if err != nil {
			return fmt.Errorf("overflow: %w", err)
		}
		if len(dst) > len(b)-4 && len(b) < p.usable {
			return fmt.Errorf("overflow: page %d is cut off: %w", no, storage.ErrTruncated)
		}
		before := no
		no = binary.BigEndian.Uint32(b)
		dst = dst[copy(dst, b[4:]):]
		if before == first && no == first+1 { // most lie one after the other
			iox.Prefetch(p.r, iox.Span{Off: int64(first) * int64(p.page), Len: int64(len(dst)/(p.usable-4)+1) * int64(p.page)})
		}
	}
	if no != 0 {
		return corrupt("overflow: goes on with page %d after a row's end", no)
	}
	return nil
}
