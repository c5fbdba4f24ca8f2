package rosbag2

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

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

// tally finds the least and greatest time of a part: by its index where the counts
// are known or may be estimated, else by going over all rows, which counts them too.
func (r *Reader) tally(p *part, counted bool) (t tally, err error) {
	if p.found != nil {
		return p.tallyFound(), nil
	}
	c, err := r.acquire(p)
	if err != nil {
		return t, r.fail(p.path, "", err)
	}
	defer func() {
		if e := r.release(c); err == nil {
			err = r.fail(p.path, "", e)
		}
	}()
	if (counted || r.brief) && p.tables.timeIndex {
		t, err = c.tallyIndex()
		if err != nil && !isDamage(err) || err == nil && counted {
			return t, r.fail(p.path, "timestamp index", err)
		}
		if err != nil {
			t = tally{}
			if err := r.warn("index", false, p.path, "the timestamp index is damaged (%v) and is not used", err); err != nil {
				return t, err
			}
		}
	}
	if r.brief {
		if ok, err := r.estimate(c, &t); ok || err != nil {
			return t, r.fail(p.path, "messages", err)
		}
	}
	t, err = r.tallyRows(c)
	if err == nil && p.table != nil {
		err = r.lookForOrphans(c)
	}
	if !isDamage(err) {
		return t, r.fail(p.path, "messages", err)
	}
	plain, cause := p.table == nil, err
	if !r.strict {
		given := int64(0)
		if plain {
			given = t.rows
		}
		if err = p.giveUpTree(r.ctx, c.src, cause, given, r.warner(p.path)); err == nil {
			return p.tallyFound(), nil
		}
	}
	if plain && isDamage(err) {
		return t, r.warn("corrupt", true, p.path, "messages can be counted only up to row %d: %v", t.last, cause)
	}
	return t, r.fail(p.path, "messages", err)
}

// tallyIndex asks timestamp_idx, or another that begins with the time.
func (c *conn) tallyIndex() (t tally, err error) {
	if err := c.engine(0); err != nil {
		return t, err
	}
	const numbers = "SELECT timestamp FROM messages WHERE timestamp BETWEEN ? AND ? AND typeof(timestamp) = 'integer' ORDER BY timestamp"
	t.least, t.some, err = c.db.One(numbers+" LIMIT 1", int64(math.MinInt64), int64(math.MaxInt64))
	if err == nil {
		t.most, _, err = c.db.One(numbers+" DESC LIMIT 1", int64(math.MinInt64), int64(math.MaxInt64))
	}
	return t, err
}

// tallyRows goes over all rows.
func (r *Reader) tallyRows(c *conn) (tally, error) {
	p := c.part
	t := tally{topics: map[storage.TopicID]int64{}, unknown: map[int64]int64{}}
	count := make([]int64, len(r.topics))
	err := c.scanner(true).Scan(math.MinInt64, math.MaxInt64, func(row *sqlitefile.Row) error {
		if t.rows&4095 == 0 && r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		t.rows++
		t.last = row.ID
		stamp := row.Time
		if row.NoTime {
			odd, err := c.rowTime(row.ID)
			if err != nil || !odd.known {
				return err // reading tells of a row that is left out
			}
			stamp = odd.time
		}
		if row.NoData {
			return nil
		}
		t.time(stamp)
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
	return t, err
}

// lookForOrphans looks for messages that the tree does not have, where rowids are
// missing: a power cut can leave a tree that is sound, and short. A sound database
// whose messages were deleted has none; it is read once more to see that.
func (r *Reader) lookForOrphans(c *conn) error {
	p := c.part
	if p.rows == p.dense() {
		return nil
	}
	s, err := sqlitefile.NewSalvage(r.ctx, c.src, p.total)
	if err != nil || !s.Found.Freelist || s.Found.Rows <= p.rows {
		return err
	}
	return fmt.Errorf("%d messages lie in pages that are not in the tree: %w", s.Found.Rows-p.rows, storage.ErrCorrupt)
}

// maxUnknown is how many topic ids without a topic are given a number as a name.
const maxUnknown = 10_000

func (t *tally) none(id int64) {
	if len(t.unknown) < maxUnknown || t.unknown[id] > 0 {
		t.unknown[id]++
	}
}

// nameUnknown makes a topic of each id of a part that no row of topics has, so that
// its messages are not lost.
func (r *Reader) nameUnknown(p *part, unknown map[int64]int64) error {
	if len(unknown) == 0 {
		return nil
	}
	ids := maps.Clone(p.ids.all)
	about := ""
	if r.estimated {
		about = "about "
	}
	for _, id := range slices.Sorted(maps.Keys(unknown)) {
		t := storage.Topic{Name: fmt.Sprintf("/topic_%d", id), Type: "unknown/msg/Unknown", Encoding: encoding, Metadata: map[string]string{}}
		if id < 0 {
			t.Name = fmt.Sprintf("/topic_minus_%d", uint64(-id))
		}
		key := topicKey{t.Name, t.Type, t.Encoding}
		topic, ok := r.index[key]
		if !ok {
			topic = storage.TopicID(len(r.topics))
			r.index[key] = topic
			r.topics = append(r.topics, storage.TopicInfo{ID: topic, Topic: t})
		}
		ids[id] = topic
		r.topics[topic].Messages += unknown[id]
		if err := r.warn("unknown-topic", !r.told(), p.path, "no topic has id %d; its %s%d messages are given the topic %q, and their type is not known", id, about, unknown[id], t.Name); err != nil {
			return err
		}
	}
	p.ids = newTopicIDs(ids)
	return nil
}

// plainIDs tells whether the ids of the topics are 1 to n, as rosbag2 makes them.
// Where they are not, one may be damaged.
func (p *part) plainIDs() bool {
	for i, t := range p.topics {
		if t.id != int64(i)+1 {
			return false
		}
	}
	return true
}

// sortTopics puts the rows of topics in the order of their ids, each id once.
func sortTopics(list []topicRow) []topicRow {
	slices.SortStableFunc(list, func(a, b topicRow) int { return cmp.Compare(a.id, b.id) })
	return slices.CompactFunc(list, func(a, b topicRow) bool { return a.id == b.id })
}
