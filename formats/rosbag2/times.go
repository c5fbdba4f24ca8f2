package rosbag2

import (
	"context"
	"errors"
	"math"

	"github.com/bagconv/bagconv/internal/sqlitefile"
	"github.com/bagconv/bagconv/storage"
)

// order is by parts or by blocks. The times of a database are known as a whole. The times of its
// ranges of rows are known if opening has gone over all rows, or findTimes.
func (r *reader) order() storage.Order {
	order := storage.OrderBlocks
	for _, p := range r.parts {
		switch {
		case p.empty || p.spans != nil:
		case !p.timed:
			return storage.OrderNone
		default:
			order = storage.OrderParts
		}
	}
	return order
}

// findTimes reads the index of timestamps, or the rows without their data. Parts whose rows can only be read as they
// are stay without times.
func (r *reader) findTimes(ctx context.Context) error {
	for _, p := range r.parts {
		if p.empty || p.spans != nil {
			continue
		}
		if err := r.findSpans(ctx, p); err != nil {
			return r.Fail(p.path, "times of messages", err)
		}
	}
	return nil
}

// findSpans finds the times of the blocks of a part.
func (r *reader) findSpans(ctx context.Context, p *part) error {
	if p.salvaged != nil {
		return nil
	}
	var ranges []sqlitefile.Range
	for i := range r.blocks {
		if b := &r.blocks[i]; b.part == p {
			ranges = append(ranges, sqlitefile.Range{Lo: b.lo, Hi: b.hi})
		}
	}
	if len(ranges) == 0 {
		return nil
	}
	c, err := r.acquire(p)
	if err != nil {
		return err
	}
	spans, err := p.spansByIndex(ctx, c, ranges)
	if storage.IsDamage(err) || errors.Is(err, sqlitefile.ErrDeclined) {
		spans, err = c.spans(ctx, ranges)
	}
	switch {
	case err == nil:
		p.spans = spans
	case storage.IsDamage(err):
		err = nil // reading reports what is wrong
	}
	return errors.Join(err, r.release(c))
}

// spansByIndex finds the times by the index of timestamps, if the index has as many rows as the
// table.
func (p *part) spansByIndex(ctx context.Context, c *conn, ranges []sqlitefile.Range) ([]sqlitefile.Span, error) {
	if p.table == nil || !p.table.Indexed() {
		return nil, sqlitefile.ErrDeclined
	}
	f, err := p.table.NewFinder(c.src)
	if err != nil {
		return nil, err
	}
	spans, err := f.Spans(ctx, ranges)
	if err != nil {
		return nil, err
	}
	n := int64(0)
	for _, s := range spans {
		n += s.Rows
	}
	if p.rows > 0 && n != p.rows {
		return nil, storage.ErrCorrupt
	}
	return spans, nil
}

// spans finds the times by going over the rows, without their data.
func (c *conn) spans(ctx context.Context, ranges []sqlitefile.Range) ([]sqlitefile.Span, error) {
	spans := sqlitefile.NewSpans(ranges)
	n := 0
	err := c.scanner(true).Scan(math.MinInt64, math.MaxInt64, func(row *sqlitefile.Row) error {
		if n++; n&4095 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		stamp, ok, err := c.rowTime(row)
		if err == nil && ok {
			spans.Add(row.ID, stamp)
		}
		return err
	})
	return spans.List, err
}
