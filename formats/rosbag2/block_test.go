package rosbag2

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// readRoute reads all blocks, by SQLite alone where plain is set.
func readRoute(t *testing.T, path string, plain bool) (rows []row, warnings []storage.Warning) {
	t.Helper()
	s, err := open(context.Background(), path, storage.ReadOptions{})
	check(t, err)
	defer func() { check(t, s.Close()) }()
	r := s.(*reader)
	tables := 0
	for _, p := range r.parts {
		if p.table != nil {
			tables++
		}
		if plain {
			p.table, r.cut = nil, false
		}
	}
	check(t, r.findBlocks())
	if len(r.parts) == 0 || tables < len(r.parts) {
		t.Fatalf("%d of %d parts are read page by page", tables, len(r.parts))
	}
	var b storage.Batch
	for i := range r.blocks {
		check(t, r.ReadBlock(context.Background(), i, &b))
		for _, m := range b.Messages {
			topic := r.Topics.List[m.Topic]
			rows = append(rows, row{topic.Name, topic.Type, m.LogTime, slices.Clone(m.Data)})
		}
	}
	info := storagetest.InfoOf(r)
	return rows, info.Warnings
}

// TestRoutes: rows read page by page are those that SQLite reads, on all
// recordings, and the first route is really taken.
func TestRoutes(t *testing.T) {
	paths := []string{bag(t, sampleRows())}
	small, _ := smallBag(t, t.TempDir())
	edit(t, small, "DELETE FROM messages WHERE id%5=1",
		"INSERT INTO messages (topic_id, timestamp, data) VALUES (77, 5, x'00010000')")
	paths = append(paths, small)
	for _, path := range slices.Concat(samples.Glob(t, "rosbag2/*"), samples.Glob(t, "rosbag2/*/*")) {
		if st, err := os.Stat(path); err == nil && st.IsDir() {
			path = filepath.Clean(path)
		}
		r, err := open(context.Background(), path, storage.ReadOptions{})
		if err != nil {
			continue // MCAP, yaml and what the tests of real files expect
		}
		check(t, r.Close())
		paths = append(paths, path)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			fast, said := readRoute(t, path, false)
			slow, saidToo := readRoute(t, path, true)
			same := func(a, b row) bool {
				return a.topic == b.topic && a.typ == b.typ && a.time == b.time && slices.Equal(a.data, b.data)
			}
			if !slices.EqualFunc(fast, slow, same) || !slices.Equal(said, saidToo) {
				t.Errorf("%d rows, %d by SQLite; %v, %v", len(fast), len(slow), said, saidToo)
			}
		})
	}
}

// TestRoutesDeclined: a table of another kind is read by SQLite.
func TestRoutesDeclined(t *testing.T) {
	for name, c := range map[string]struct {
		sql   []string
		table bool
	}{
		"column": {[]string{"ALTER TABLE messages ADD COLUMN more INTEGER"}, false},
		"no rowid": {[]string{"ALTER TABLE messages RENAME TO old",
			"CREATE TABLE messages(rowid INTEGER PRIMARY KEY, topic_id, timestamp, data) WITHOUT ROWID",
			"INSERT INTO messages SELECT id, topic_id, timestamp, data FROM old", "DROP TABLE old"}, false},
		"reordered": {[]string{"ALTER TABLE messages RENAME TO old",
			"CREATE TABLE messages(timestamp INTEGER, data BLOB, topic_id INTEGER, id INTEGER PRIMARY KEY)",
			"INSERT INTO messages SELECT timestamp, data, topic_id, id FROM old", "DROP TABLE old"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			path, want := smallBag(t, t.TempDir())
			edit(t, path, c.sql...)
			rows, info := readAll(t, path, storage.ReadOptions{Strict: true})
			if len(rows) != len(want) || info.Messages != int64(len(want)) {
				t.Fatalf("%d rows, Info says %d", len(rows), info.Messages)
			}
			for i, r := range rows {
				data := want[i].Data
				if name == "row" && i == 6 {
					data = []byte("12345")
				}
				if r.time != want[i].LogTime || !slices.Equal(r.data, data) {
					t.Errorf("row %d: %d, %d bytes", i, r.time, len(r.data))
				}
			}
			s, err := open(context.Background(), path, storage.ReadOptions{})
			check(t, err)
			defer s.Close()
			if got := s.(*reader).parts[0].table != nil; got != c.table {
				t.Errorf("read page by page: %v", got)
			}
		})
	}
}

// TestIdleScans: of many databases that are read at once, some scanners wait for the
// next block, and none when the readers are closed.
func TestIdleScans(t *testing.T) {
	path, _ := smallBag(t, t.TempDir())
	before := idleScans.Load()
	var readers []storage.Reader
	for range 2 * maxIdleScans {
		r, err := open(context.Background(), path, storage.ReadOptions{})
		check(t, err)
		readers = append(readers, r)
		for range 2 {
			check(t, r.(storage.BlockReader).ReadBlock(context.Background(), 0, new(storage.Batch)))
		}
	}
	if n := idleScans.Load(); n != maxIdleScans {
		t.Errorf("%d scanners are idle, want %d", n, maxIdleScans)
	}
	for _, r := range readers {
		check(t, r.Close())
	}
	if n := idleScans.Load(); n != before {
		t.Errorf("%d scanners are idle at the end, %d before", n, before)
	}
}

// TestPlainBlocks: a table with other columns is cut into blocks by the sizes of its rows,
// however far apart their rowids are.
func TestPlainBlocks(t *testing.T) {
	const n, size = 12, 1 << 20
	path := filepath.Join(t.TempDir(), "x.db3")
	rows := make([]storage.Message, n)
	for i := range rows {
		rows[i] = storage.Message{LogTime: int64(i), Data: make([]byte, size)}
	}
	write(t, path, storage.WriteOptions{}, sampleTopics()[:1], rows)
	edit(t, path, "ALTER TABLE messages ADD COLUMN more INTEGER", "UPDATE messages SET id = -id * 100000000000")
	r, err := open(context.Background(), path, storage.ReadOptions{Strict: true})
	check(t, err)
	defer r.Close()
	blocks, _, err := r.(storage.BlockReader).Blocks(context.Background(), nil)
	check(t, err)
	var b storage.Batch
	total, last := 0, int64(n)
	for i, block := range blocks {
		check(t, r.(storage.BlockReader).ReadBlock(context.Background(), i, &b))
		if len(b.Buf) > 3*size || block.RawSize < int64(len(b.Buf)) {
			t.Errorf("block %d: %d bytes, which states %d", i, len(b.Buf), block.RawSize)
		}
		for _, m := range b.Messages {
			if m.LogTime >= last || len(m.Data) != size { // the greatest id has become the least
				t.Errorf("message at %d after %d, %d bytes", m.LogTime, last, len(m.Data))
			}
			last = m.LogTime
			total++
		}
	}
	if total != n || len(blocks) < n/3 {
		t.Errorf("%d messages in %d blocks", total, len(blocks))
	}
}
