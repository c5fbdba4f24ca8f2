package rosbag2

import (
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/storage"
)

// How much an estimate looks at. A window is rows that follow each other, about a
// page of them: reading it takes two or three pages of the tree.
const (
	sampleRounds  = 16
	roundWindows  = 64                     // of a round, of all parts together
	leastWindows  = 4                      // of a part
	windowRows    = 8                      // at most
	countedRows   = 4096                   // a part of no more is counted
	estimateLimit = 500 * time.Millisecond // after which no further round begins
)

var errBrief = errors.New("the recording was opened for Info only: open it without InfoOnlyAbove to read it")

// estimate adds to t how many messages each topic of a part has, about. In each
// round the rowids are cut into equal strata, and a window is looked at somewhere in
// each; how many rounds there are, the disk decides. ok is false if that will not
// do: the rowids are too far apart, there are few messages, or a page is damaged.
func (r *reader) estimate(c *conn, t *tally) (ok bool, err error) {
	p := c.part
	n := p.dense()
	if n <= countedRows {
		return false, nil
	}
	if err := c.engine(0); err != nil {
		return false, err
	}
	q, err := c.db.Prepare("SELECT topic_id, timestamp FROM messages WHERE rowid BETWEEN ? AND ?")
	if err != nil {
		return false, err
	}
	defer q.Finalize()
	parts := int64(len(r.parts))
	s := &sample{
		q: q, first: p.first, n: n, windows: max(roundWindows/parts, leastWindows),
		rows: min(max(int64(p.head.Page)/(p.real()/n), 1), windowRows),
		rnd:  rand.New(rand.NewPCG(uint64(n), uint64(p.first))), topics: map[int64]int64{},
	}
	begin := time.Now()
	for range sampleRounds {
		if err := r.Ctx.Err(); err != nil {
			return false, err
		}
		if err := s.round(); err != nil {
			if storage.IsDamage(err) {
				return false, nil // counting meets it again, and reports it
			}
			return false, err
		}
		if time.Since(begin) > estimateLimit/time.Duration(parts) {
			break
		}
	}
	if !t.some {
		*t = s.times
	}
	s.scale(t, &p.ids)
	r.estimated = true
	return true, nil
}

// A sample is the rows of a part that are looked at.
type sample struct {
	q             *sqlite.Stmt // the topic and time of a range of rowids
	first, n      int64        // rowids of the part
	windows, rows int64        // of a round; of a window
	rnd           *rand.Rand
	asked         int64 // rowids
	topics        map[int64]int64
	times         tally
}

// round looks at a window of each stratum. There are more rowids in a stratum than in
// a window.
func (s *sample) round() error {
	each, more := s.n/s.windows, s.n%s.windows
	for i := range s.windows {
		lo := s.first + each*i + min(i, more) + s.rnd.Int64N(each-s.rows+1)
		if err := s.q.Bind(lo, lo+s.rows-1); err != nil {
			return err
		}
		s.asked += s.rows
		for {
			row, err := s.q.Step()
			if err != nil {
				return err
			}
			if !row {
				break
			}
			s.topics[s.q.Int(0)]++
			s.times.time(s.q.Int(1))
		}
		s.q.Reset()
	}
	return nil
}

// scale makes counts of t: s.asked rowids of the sample stand for s.n.
func (s *sample) scale(t *tally, ids *topicIDs) {
	t.topics, t.unknown = map[storage.TopicID]int64{}, map[int64]int64{}
	sum, before := int64(0), int64(0)
	for _, id := range slices.Sorted(maps.Keys(s.topics)) {
		sum += s.topics[id]
		all := int64(math.Round(float64(s.n) * float64(sum) / float64(s.asked))) // of the sum: rounding loses no message
		if topic, ok := ids.get(id); ok {
			t.topics[topic] += all - before
		} else {
			t.unknown[id] = all - before
		}
		before = all
	}
}
