package rosbag2

import (
	"errors"
	"fmt"
	"math"
	"strings"

	engine "modernc.org/sqlite/lib"
)

// An oddTime is what is known of a row whose time is no integer, as one flipped bit
// in the row's header makes it: the time that the index has, if it has one.
type oddTime struct {
	time  int64
	known bool
}

// maxOdd is how many rows of a part with a time that is no integer are looked up.
const maxOdd = 100_000

const (
	selectOdd     = "SELECT rowid FROM messages NOT INDEXED WHERE typeof(timestamp) <> 'integer' LIMIT ?"
	selectIndexed = "SELECT rowid, timestamp FROM messages INDEXED BY %s WHERE timestamp BETWEEN ? AND ?"
)

// oddTimes finds all rows of a part whose time is no integer, and asks the index for
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
	err := c.db.query(selectOdd, func(s *stmt) error {
		odd[s.int(0)] = oddTime{}
		return nil
	}, int64(maxOdd))
	if isDamage(err) {
		err = nil // there may be more of them, which are then lost
	}
	if err == nil && p.tables.timeIndex {
		err = c.db.query(fmt.Sprintf(selectIndexed, sqlName(p.tables.indexName)), func(s *stmt) error {
			if _, ok := odd[s.int(0)]; ok && s.kind(1) == engine.SQLITE_INTEGER {
				odd[s.int(0)] = oddTime{s.int(1), true}
			}
			return nil
		}, int64(math.MinInt64), int64(math.MaxInt64))
		if isDamage(err) {
			err = nil
		}
	}
	if err == nil {
		p.odd = odd
	}
	return odd, err
}

// rowTime is the time in column col of the current row, whose rowid is id. ok is
// false when it is no integer and the index does not have it either.
func (p *part) rowTime(c *conn, s *stmt, col int, id int64) (t int64, ok bool, err error) {
	if s.kind(col) == engine.SQLITE_INTEGER {
		return s.int(col), true, nil
	}
	odd, err := p.oddTimes(c)
	return odd[id].time, odd[id].known, err
}

// errNoData tells that a row has no message.
var errNoData = errors.New("a row without data")

// isData tells whether column col of the current row can be a message.
func (s *stmt) isData(col int) bool {
	k := s.kind(col)
	return k == engine.SQLITE_BLOB || k == engine.SQLITE_TEXT
}

// oddRow says what became of a row that is not as rosbag2 writes it.
func (f *filler) oddRow(id int64, data, known bool) error {
	what := "the time of row %d is no integer; it is taken from the index of times"
	switch {
	case !data:
		what = "the message of row %d is not there: its data is neither blob nor text"
	case !known:
		what = "the message of row %d is left out: its time is no integer, and no index has it"
	}
	if !data || !known {
		f.lost.Messages++
		f.lost.Blocks = 1
	}
	return f.r.warn("row", true, f.p.path, what, id)
}

// sqlName writes a name into SQL.
func sqlName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
