package rosbag2

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// FuzzQuery asks any database for anything.
func FuzzQuery(f *testing.F) {
	path, _ := smallBag(f, f.TempDir())
	db, err := os.ReadFile(path)
	check(f, err)
	f.Add(db, int64(0), int64(0), int64(5), false)
	f.Add(db, int64(5), int64(30), int64(0), true)
	f.Add(db[:len(db)/2], int64(0), int64(0), int64(0), true)
	f.Fuzz(func(t *testing.T, db []byte, start, end, limit int64, reverse bool) {
		r, err := open(context.Background(), "/x/bad.db3", storage.ReadOptions{FS: memFS{"/x/bad.db3": db}})
		if err != nil {
			return
		}
		defer r.Close()
		ask := storage.Query{Start: start, End: end, Limit: max(limit, 0), Reverse: reverse}
		info := r.Info()
		if len(info.Topics) > 1 {
			ask.Topics = []storage.TopicID{1, 0}
		}
		storagetest.CheckQuery(t, r, ask)
	})
}

// TestQueryRefused: a database without the index, and a reader that is closed.
func TestQueryRefused(t *testing.T) {
	path, _ := smallBag(t, t.TempDir())
	edit(t, path, "DROP INDEX timestamp_idx")
	r, err := open(context.Background(), path, storage.ReadOptions{})
	check(t, err)
	if n, err := askAll(r); n > 0 || !errors.Is(err, storage.ErrUnsupported) {
		t.Errorf("without the index: %d messages, %v", n, err)
	}
	check(t, r.Close())
	if n, err := askAll(r); n > 0 || err == nil {
		t.Errorf("after Close: %d messages, %v", n, err)
	}
}

// TestQueryShortIndex: an index that lacks rows, in a database that SQLite takes.
func TestQueryShortIndex(t *testing.T) {
	path, rows := smallBag(t, t.TempDir())
	edit(t, path, "DROP INDEX timestamp_idx; CREATE INDEX timestamp_idx ON messages (timestamp ASC) WHERE timestamp < 30; "+
		"PRAGMA writable_schema=ON; UPDATE sqlite_master SET sql='CREATE INDEX timestamp_idx ON messages (timestamp ASC)' "+
		"WHERE name='timestamp_idx'")
	r, err := open(context.Background(), path, storage.ReadOptions{})
	check(t, err)
	defer r.Close()
	n, last := askAll(r)
	if n >= len(rows) || !errors.Is(last, storage.ErrCorrupt) {
		t.Errorf("%d messages of %d, and %v", n, len(rows), last)
	}
}

// TestQueryRoutes: queries read any rows by the pages of an index of timestamps, and are
// refused before the first message where the index or the table is of another kind.
func TestQueryRoutes(t *testing.T) {
	for q, answered := range map[string]bool{
		"": true,
		"DROP INDEX timestamp_idx; CREATE INDEX timestamp_idx ON messages (timestamp, topic_id)":                               false,
		"DROP INDEX timestamp_idx; CREATE INDEX timestamp_idx ON messages (timestamp DESC)":                                    false,
		"ALTER TABLE messages ADD COLUMN more INTEGER":                                                                         false,
		"UPDATE messages SET timestamp = 17":                                                                                   true,
		"DELETE FROM metadata; UPDATE messages SET data = 5 WHERE id % 3 = 0; UPDATE messages SET topic_id = 'x' WHERE id = 7": true,
		"UPDATE messages SET timestamp = -timestamp; DELETE FROM messages WHERE id BETWEEN 5 AND 9; DELETE FROM metadata":      true,
	} {
		for _, meta := range []bool{false, true} {
			path, _ := smallBag(t, t.TempDir())
			if q != "" {
				edit(t, path, q)
			}
			if meta {
				path = filepath.Dir(path)
			}
			r, err := open(context.Background(), path, storage.ReadOptions{})
			check(t, err)
			if answered {
				storagetest.CheckQueries(t, r, 7, 300)
			} else {
				n, err := askAll(r)
				if n > 0 || !errors.Is(err, storage.ErrUnsupported) {
					t.Errorf("%s: %d messages, %v", q, n, err)
				}
			}
			check(t, r.Close())
		}
	}
}

// TestQueryOddIndex: entries of the index that are not times end a query with an error that
// names the next step.
func TestQueryOddIndex(t *testing.T) {
	path, rows := smallBag(t, t.TempDir())
	edit(t, path, "UPDATE messages SET timestamp = 'noon' WHERE id = 7")
	r, err := open(context.Background(), path, storage.ReadOptions{})
	check(t, err)
	defer r.Close()
	var e *storage.Error
	if n, err := askAll(r); n >= len(rows) || !errors.Is(err, storage.ErrUnsupported) || !errors.As(err, &e) ||
		e.Hint == "" {
		t.Errorf("%d messages of %d, %v", n, len(rows), err)
	}
}

// askAll asks for all messages, and returns how many there are before an error.
func askAll(r storage.Reader) (n int, last error) {
	for _, err := range r.(storage.Querier).Query(context.Background(), storage.Query{}) {
		if last = err; err == nil {
			n++
		}
	}
	return n, last
}

// TestQueryTotal: counts of metadata.yaml that are not those of the rows do not
// lead a query to another message.
func TestQueryTotal(t *testing.T) {
	_, rows := smallBag(t, t.TempDir())
	path := filepath.Join(t.TempDir(), "bag")
	write(t, path, storage.WriteOptions{}, sampleTopics()[:2], rows)
	meta := filepath.Join(path, ros2bag.MetadataName)
	text, err := os.ReadFile(meta)
	check(t, err)
	for _, change := range [][2]string{{"message_count: ", "message_count: 1"},
		{"message_count: ", "message_count: 0 # "}} {
		check(t, os.WriteFile(meta, bytes.ReplaceAll(text, []byte(change[0]), []byte(change[1])), 0o666))
		r, err := open(context.Background(), path, storage.ReadOptions{})
		check(t, err)
		storagetest.CheckQueries(t, r, 1, 200)
		check(t, r.Close())
	}
}

// TestQueryAhead: of many rows some are looked at ahead. The answers are the same,
// also if a row on the way has no time but in the index, and no connection is lost.
func TestQueryAhead(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	const n = 40_000
	rng := rand.New(rand.NewPCG(1, 2))
	var rows []storage.Message
	for i := range n {
		m := storage.Message{LogTime: 1.7e18 + int64(i)*10 + rng.Int64N(40), Data: []byte{0, 1, 0, 0, byte(i), byte(i >> 8)}}
		if rng.IntN(9) == 0 {
			m.Topic = 1
		}
		rows = append(rows, m)
	}
	for _, odd := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "x.db3")
		write(t, path, storage.WriteOptions{}, sampleTopics()[:2], rows)
		if odd {
			flipTime(t, path, rows[21000].LogTime)
		}
		r, err := open(context.Background(), path, storage.ReadOptions{})
		check(t, err)
		storagetest.CheckQueries(t, r, 3, 15)
		for range 3 * maxIdle { // a caller that leaves while steps are ahead
			ask, n := storage.Query{Topics: []storage.TopicID{1}, Reverse: true, NoData: true}, 0
			for _, err := range r.(storage.Querier).Query(context.Background(), ask) {
				check(t, err)
				if n++; n > 2000 {
					break
				}
			}
		}
		if idle := len(r.(*reader).idle); idle == 0 || idle > maxIdle { // how many there are depends on who was quick
			t.Errorf("%d connections are idle", idle)
		}
		check(t, r.Close())
	}
}
