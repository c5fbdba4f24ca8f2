package sqlitefile

import (
	"context"
	"io"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/sqlite"
)

// voteBytes is how much is looked at at once: a multiple of every page size.
const voteBytes = 1 << 20

// vote finds the size of a page, by the number of rows of messages that pages of
// each size have. h is what the header has, if known is set; its
// size wins if no other size has more rows.
func vote(ctx context.Context, r io.ReaderAt, size int64, h sqlite.Header, known bool) (sqlite.Header, error) {
	var list []sqlite.Header
	if known {
		list = append(list, h)
	}
	for page := 512; page <= 65536; page *= 2 {
		try := h // with what else the header has
		try.Page, try.Usable = page, page
		list = append(list, try)
	}
	votes := make([]int64, len(list))
	pagers := make([]pager, len(list))
	for i, try := range list {
		pagers[i] = pager{size: size, page: try.Page, usable: try.Usable}
	}
	buf := make([]byte, min(voteBytes, size))
	for off := int64(0); off < size; off += voteBytes {
		if ctx.Err() != nil {
			return h, ctx.Err()
		}
		b := buf[:min(voteBytes, size-off)]
		if err := iox.ReadFull(r, b, off); err != nil {
			return h, err
		}
		for at := 0; at+8 <= len(b); at += 512 {
			if b[at] != tableLeaf {
				continue
			}
			for i := range pagers {
				if p := &pagers[i]; at%p.page == 0 {
					votes[i] += p.messages(b[at:min(at+p.usable, len(b))])
				}
			}
		}
	}
	best := 0
	for i, n := range votes {
		if n > votes[best] {
			best = i
		}
	}
	if votes[best] == 0 && !known {
		return h, corrupt("no page has rows of messages")
	}
	return list[best], nil
}

// messages counts the rows of messages in a leaf.
func (p *pager) messages(b []byte) (n int64) {
	for i := range cellsAtMost(b) {
		var c cell
		var m message
		if p.message(b, i, &c, &m) {
			n++
		}
	}
	return n
}
