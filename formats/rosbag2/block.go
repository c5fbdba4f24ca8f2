package rosbag2

import (
	"context"

	"github.com/bagconv/bagconv/internal/sqlitefile"
)

// A block is a range of rowids in a part.
type block struct {
	part   *part
	lo, hi int64
	bytes  int64 // of the pages that hold its rows, about
	size   int64 // of its rows in memory, about
	sized  bool  // size is no less than what its rows, decompressed, may have
}

const (
	blockBytes     = 2 << 20   // of a block's pages, or of its rows when they are decompressed
	zstdBlockBytes = 512 << 10 // of rows that are compressed one by one, where their sizes are not looked at
)

// blocks cuts a part into ranges of about equal size.
func (p *part) blocks(ctx context.Context, c *conn) (list []block, err error) {
	if p.empty {
		return nil, nil
	}
	target := int64(blockBytes)
	if p.zstdRows {
		target = zstdBlockBytes
	}
	ranges := p.ranges
	switch {
	case p.found != nil:
		ranges = p.found.Ranges(target)
	case p.table == nil:
		ranges, err = (&plainRows{c: c, heads: true}).ranges(ctx, target)
	case ranges == nil || p.zstdRows:
		var size func(*sqlitefile.Row) int64
		if p.zstdRows {
			target, size = blockBytes, func(row *sqlitefile.Row) int64 { return unpackedSize(row.Local(), row.Size) }
		}
		ranges, err = p.table.Ranges(ctx, c.src, target, size)
	}
	if err != nil {
		return nil, err
	}
	list = make([]block, len(ranges))
	for i, g := range ranges {
		list[i] = block{part: p, lo: g.Lo, hi: g.Hi, bytes: g.Bytes, size: max(g.Size, g.Bytes), sized: p.zstdRows && p.table != nil}
	}
	return list, nil
}
