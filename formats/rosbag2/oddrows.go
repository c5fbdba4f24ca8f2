package rosbag2

import (
	"fmt"
	"math"
	"strings"

	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/internal/sqlitefile"
	"github.com/bagconv/bagconv/storage"
)

// An oddTime is what is known of a row whose time is not an integer, as one flipped bit
// in the row's header makes it: the time that the index has, if it has one.
type oddTime struct {
	time  int64
	known bool
}

// maxOdd is how many rows of a part with a time that is not an integer are looked up.
const maxOdd = 100_000

const (
	selectOdd     = "SELECT rowid FROM messages NOT INDEXED WHERE typeof(timestamp) <> 'integer' LIMIT ?"
	selectIndexed = "SELECT rowid, timestamp FROM messages INDEXED BY %s WHERE timestamp BETWEEN ? AND ?"
)

// oddTimes finds all rows of a part whose time is not an integer, and asks the index for
// the true times. It is done once for a part, when the first such row is met.
func (p *part) oddTimes(c *conn) (map[int64]oddTime, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.odd != nil {
		return p.odd, nil
	}
	odd := map[int64]oddTime{}
	if err := c.engine(0); err != nil {
		return nil, err
	}
	err := c.db.Query(selectOdd, func(s *sqlite.Stmt) error {
		odd[s.Int(0)] = oddTime{}
		return nil
	}, int64(maxOdd))
	if storage.IsDamage(err) {
		err = nil // damage may hide more such rows, which are then lost
	}
	if err == nil && p.tables.timeIndex {
		err = c.db.Query(fmt.Sprintf(selectIndexed, sqlName(p.tables.indexName)), func(s *sqlite.Stmt) error {
			if _, ok := odd[s.Int(0)]; ok && s.IsInt(1) {
				odd[s.Int(0)] = oddTime{s.Int(1), true}
			}
			return nil
		}, int64(math.MinInt64), int64(math.MaxInt64))
		if storage.IsDamage(err) {
			err = nil
		}
	}
	if err == nil {
		p.odd = odd
	}
	return odd, err
}

// odd decides about a row that is not as rosbag2 writes it, and reports it. ok is false if the row
// is left out: it has no data, or its time is not an integer and not in the index either.
func (f *filler) odd(row *sqlitefile.Row) (stamp int64, ok bool, err error) {
	if stamp, ok, err = f.c.rowTime(row); err != nil {
		return 0, false, err
	}
	what := "the time of row %d is not an integer; its time in the index is used"
	switch {
	case row.NoData:
		what = "row %d has no message: its data is neither blob nor text"
	case !ok:
		what = "the message of row %d is left out: its time is not an integer, and no index has it"
	}
	if ok = ok && !row.NoData; !ok {
		f.lost.Messages++
		f.lost.Blocks = 1
	}
	return stamp, ok, f.r.Warn("row", true, f.c.part.path, what, row.ID)
}

// rowTime returns the time of a row, or the time in the index if the row has no time. ok is false
// if neither has a time.
func (c *conn) rowTime(row *sqlitefile.Row) (stamp int64, ok bool, err error) {
	if !row.NoTime {
		return row.Time, true, nil
	}
	odd, err := c.part.oddTimes(c)
	return odd[row.ID].time, odd[row.ID].known, err
}

// sqlName writes a name into SQL.
func sqlName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
