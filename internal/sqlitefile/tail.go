package sqlitefile

import (
	"context"
	"io"
)

// RowsBehind counts the rows of messages in pages behind the last one that the
// header counts. SQLite does not look there, and leaves such pages only when it is
// stopped in the middle of a transaction: the pages are written, the header and the
// tree are not.
func RowsBehind(ctx context.Context, r io.ReaderAt, size int64) (rows int64, err error) {
	h, err := readHeader(r, size)
	if err != nil || !h.valid {
		return 0, err
	}
	p := newPager(r, size, h, scanBlock)
	p.cutPage()
	for no := int64(h.pages) + 1; no <= int64(p.pages); no++ {
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
