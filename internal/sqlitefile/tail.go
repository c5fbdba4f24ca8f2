package sqlitefile

import (
	"context"
	"io"

	"github.com/bagconv/bagconv/internal/sqlite"
)

// RowsBehind counts the rows of messages after the first pages of a database of size
// bytes, with pages of page bytes. SQLite leaves pages behind the pages that the header
// counts only when it is stopped in the middle of a transaction: they are written, the
// header and the tree are not.
func RowsBehind(ctx context.Context, r io.ReaderAt, size, page, pages int64) (rows int64, err error) {
	h, err := sqlite.ReadHeader(r, size)
	if err != nil && !damage(err) {
		return 0, err
	}
	if err != nil || int64(h.Page) != page {
		h = sqlite.Header{Page: int(page), Usable: int(page)}
	}
	p := newPager(r, size, h, scanBlock)
	p.cutPage()
	for no := pages + 1; no <= int64(p.pages); no++ {
		if no&1023 == 0 && ctx.Err() != nil {
			return rows, ctx.Err()
		}
		b, err := p.get(uint32(no))
		if err != nil {
			return rows, err
		}
		if b[0] == tableLeaf {
			rows += p.messages(b)
		}
	}
	return rows, nil
}
