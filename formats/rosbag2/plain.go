package rosbag2

import (
	"context"
	"fmt"
	"math"

	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/internal/sqlitefile"
	"github.com/bagconv/bagconv/storage"
)

// A plainRows has SQLite read the rows of a part whose table is not of the usual kind: it has other
// columns, or no rowids. No known recorder makes such tables; SQLite is slower.
type plainRows struct {
	c     *conn
	heads bool // rows have no data, only its size
}

// Scan calls f for the rows from lo to hi, in order. See rowSource.
func (p *plainRows) Scan(lo, hi int64, f func(*sqlitefile.Row) error) error {
	if err := p.c.engine(0); err != nil {
		return err
	}
	data := "data"
	if p.heads {
		data = "NULL"
	}
	limit, last, some := p.c.part.real(), int64(0), false
	return p.c.db.Query("SELECT rowid, topic_id, timestamp, typeof(data) IN ('blob', 'text'), octet_length(data), "+data+
		" FROM messages WHERE rowid BETWEEN ? AND ? ORDER BY rowid", func(s *sqlite.Stmt) error {
		id := s.Int(0)
		if some && id <= last {
			return fmt.Errorf("row %d comes after row %d: %w", id, last, storage.ErrCorrupt)
		}
		last, some = id, true
		row := sqlitefile.NewRow(id, s.Int(1), s.Int(2), int(s.Int(4)), s.Bytes(5))
		if row.NoTime = !s.IsInt(2); row.NoTime {
			row.Time = 0
		}
		if row.NoData = s.Int(3) == 0; row.NoData {
			row.Size = 0
		}
		if limit -= int64(row.Size); limit < 0 {
			return fmt.Errorf("the rows from %d on have more bytes than the file: %w", lo, storage.ErrCorrupt)
		}
		return f(row)
	}, lo, hi)
}

// Append appends the data of a row, in the call that got it. See rowSource.
func (p *plainRows) Append(dst []byte, row *sqlitefile.Row) ([]byte, error) {
	if len(row.Local()) != row.Size { // SQLite had no memory for it
		return dst, fmt.Errorf("row %d has %d bytes, of which %d can be read: %w", row.ID, row.Size, len(row.Local()),
			storage.ErrCorrupt)
	}
	return append(dst, row.Local()...), nil
}

// ranges cuts the rows into ranges of about target bytes, which together are all rowids.
// Damage is for reading to report: after it there is one range.
func (p *plainRows) ranges(ctx context.Context, target int64) (list []sqlitefile.Range, err error) {
	open := sqlitefile.Range{Lo: math.MinInt64, Hi: math.MaxInt64}
	err = p.Scan(open.Lo, open.Hi, func(row *sqlitefile.Row) error {
		open.Bytes += int64(row.Size) + rowOverhead
		if open.Bytes < target || row.ID == math.MaxInt64 {
			return nil
		}
		list = append(list, sqlitefile.Range{Lo: open.Lo, Hi: row.ID, Bytes: open.Bytes, Size: open.Bytes})
		open.Lo, open.Bytes = row.ID+1, 0
		return ctx.Err()
	})
	if err != nil && !storage.IsDamage(err) {
		return nil, err
	}
	open.Size = open.Bytes
	return append(list, open), nil
}
