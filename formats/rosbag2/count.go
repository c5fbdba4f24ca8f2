package rosbag2

import (
	"fmt"
	"math"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/internal/sqlitefile"
	"github.com/bagconv/bagconv/storage"
)

// A tally is what the rows of a part are known to be.
type tally struct {
	rows    int64 // that were looked at
	last    int64 // rowid of the last one
	some    bool  // there are times
	least   int64 // time
	most    int64
	topics  map[storage.TopicID]int64 // nil: not counted
	unknown map[int64]int64           // rows by topic ids that no topic has
}

func (t *tally) time(stamp int64) {
	if !t.some {
		t.some, t.least, t.most = true, stamp, stamp
	}
	t.least, t.most = min(t.least, stamp), max(t.most, stamp)
}

// count finds how many messages each topic has, and the first and last time.
// The counts of metadata.yaml are used if they agree: the sum over
// the topics is the stated total and the number of rowids, and each topic that
// has messages is one of the database. Anything else is counted row by row,
// without touching the payloads.
func (r *reader) count() error {
	for _, p := range r.parts {
		if err := r.sniffRows(p); err != nil {
			return err
		}
	}
	trusted := r.useCounts()
	first := true
	for _, p := range r.parts {
		if p.empty {
			continue
		}
		t, err := r.tally(p, trusted)
		if err != nil {
			return err
		}
		if !trusted {
			for topic, n := range t.topics {
				r.Topics.List[topic].Messages += n
			}
			if err := r.nameUnknown(p, t.unknown); err != nil {
				return err
			}
		}
		if !t.some {
			continue
		}
		p.timed, p.least, p.most = true, t.least, t.most
		if trusted {
			p.rows = p.dense()
		}
		if first {
			r.start, r.end, first = t.least, t.most, false
		}
		r.start, r.end = min(r.start, t.least), max(r.end, t.most)
	}
	if m := r.Layout.Meta; m != nil && !trusted {
		return r.compareCount(m.Messages)
	}
	return nil
}

// compareCount reports a count of metadata.yaml that differs from the number of messages. If that
// number is an estimate, only a count above the number of rowids is known to be wrong.
func (r *reader) compareCount(stated int64) error {
	total, about := r.messages(), ""
	if r.estimated {
		total, about = 0, "no more than "
		for _, p := range r.parts {
			total += max(p.dense(), 0)
		}
		total = min(total, stated)
	}
	return r.CompareCount(total, fmt.Sprintf("the database has %s%d", about, total))
}

// useCounts takes the counts of metadata.yaml, or of the metadata table of a
// single file, if they agree with each other and with the rowids.
func (r *reader) useCounts() bool {
	m := r.Layout.Meta
	if m == nil {
		m = r.row
	}
	if m == nil {
		return false
	}
	rows := int64(0)
	for _, p := range r.parts {
		n := p.dense()
		if n < 0 || p.salvaged != nil || !p.plainIDs() {
			return false
		}
		rows += n
	}
	counts := make([]int64, len(r.Topics.List))
	sum := int64(0)
	for i := range m.Topics {
		t := &m.Topics[i]
		k, ok := r.Topics.ID(ros2bag.TopicKey{Name: t.Name, Type: t.Type, Encoding: t.Format})
		if t.Messages < 0 || t.Messages > 0 && !ok {
			return false
		}
		if ok {
			counts[k] += t.Messages
		}
		sum += t.Messages
	}
	if sum != m.Messages || sum != rows {
		return false
	}
	for i := range counts {
		r.Topics.List[i].Messages = counts[i]
	}
	return true
}

// tally finds the least and greatest time of a part: by its index if the counts
// are known or may be estimated, else by going over all rows, which counts them too.
func (r *reader) tally(p *part, counted bool) (t tally, err error) {
	if p.salvaged != nil {
		return p.tallyFound(), nil
	}
	c, err := r.acquire(p)
	if err != nil {
		return t, r.Fail(p.path, "", err)
	}
	defer func() {
		if e := r.release(c); err == nil {
			err = r.Fail(p.path, "", e)
		}
	}()
	if (counted || r.brief) && p.tables.timeIndex {
		t, err = c.tallyIndex()
		if err != nil && !storage.IsDamage(err) || err == nil && counted {
			return t, r.Fail(p.path, "timestamp index", err)
		}
		if err != nil {
			t = tally{}
			if err := r.Warn("index", false, p.path, "the timestamp index is damaged (%v) and is not used", err); err != nil {
				return t, err
			}
		}
	}
	if r.brief {
		if ok, err := r.estimate(c, &t); ok || err != nil {
			return t, r.Fail(p.path, "messages", err)
		}
	}
	t, err = r.tallyRows(c)
	if err == nil && p.table != nil {
		err = r.lookForOrphans(c)
	}
	if !storage.IsDamage(err) {
		return t, r.Fail(p.path, "messages", err)
	}
	plain, cause := p.table == nil, err
	if !r.Strict {
		rows := int64(0)
		if plain {
			rows = t.rows
		}
		if err = p.giveUpTree(r.Ctx, c.src, cause, rows, r.Warner(p.path)); err == nil {
			return p.tallyFound(), nil
		}
	}
	if plain && storage.IsDamage(err) {
		return t, r.Warn("corrupt", true, p.path, "messages can be counted only up to row %d: %v", t.last, cause)
	}
	return t, r.Fail(p.path, "messages", err)
}

// tallyIndex asks timestamp_idx, or another index that begins with the time.
func (c *conn) tallyIndex() (t tally, err error) {
	if err := c.engine(0); err != nil {
		return t, err
	}
	const numbers = "SELECT timestamp FROM messages WHERE timestamp BETWEEN ? AND ? AND typeof(timestamp) = 'integer' " +
		"ORDER BY timestamp"
	t.least, t.some, err = c.db.One(numbers+" LIMIT 1", int64(math.MinInt64), int64(math.MaxInt64))
	if err == nil {
		t.most, _, err = c.db.One(numbers+" DESC LIMIT 1", int64(math.MinInt64), int64(math.MaxInt64))
	}
	return t, err
}

// tallyRows goes over all rows.
func (r *reader) tallyRows(c *conn) (tally, error) {
	p := c.part
	t := tally{topics: map[storage.TopicID]int64{}, unknown: map[int64]int64{}}
	count := make([]int64, len(r.Topics.List))
	var spans *sqlitefile.Spans
	if p.ranges != nil && !p.zstdRows { // they are the blocks
		spans = sqlitefile.NewSpans(p.ranges)
	}
	err := c.scanner(true).Scan(math.MinInt64, math.MaxInt64, func(row *sqlitefile.Row) error {
		if t.rows&4095 == 0 && r.Ctx.Err() != nil {
			return r.Ctx.Err()
		}
		t.rows++
		t.last = row.ID
		stamp, ok, err := c.rowTime(row)
		if err != nil || !ok || row.NoData {
			return err // reading reports a row that is left out
		}
		t.time(stamp)
		if spans != nil {
			spans.Add(row.ID, stamp)
		}
		if topic, ok := p.ids.get(row.Topic); ok {
			count[topic]++
			return nil
		}
		t.none(row.Topic)
		return nil
	})
	for topic, n := range count {
		t.topics[storage.TopicID(topic)] = n
	}
	p.rows = t.rows
	if err == nil && spans != nil {
		p.spans = spans.List
	}
	return t, err
}

// lookForOrphans looks for messages that the tree does not have, where rowids are missing: a power
// cut can leave a tree that is sound, and short. A sound database whose messages were deleted has
// no orphans; it is read once more to see that.
func (r *reader) lookForOrphans(c *conn) error {
	p := c.part
	if p.rows == p.dense() {
		return nil
	}
	s, err := sqlitefile.NewSalvage(r.Ctx, c.src, p.total)
	if err != nil || !s.Found.Freelist || s.Found.Rows <= p.rows {
		return err
	}
	return fmt.Errorf("%d messages lie in pages that are not in the tree: %w", s.Found.Rows-p.rows, storage.ErrCorrupt)
}

// maxUnknown is how many topic ids without a topic get a number as a name.
const maxUnknown = 10_000

func (t *tally) none(id int64) {
	if len(t.unknown) < maxUnknown || t.unknown[id] > 0 {
		t.unknown[id]++
	}
}
