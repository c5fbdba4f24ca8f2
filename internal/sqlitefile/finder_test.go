package sqlitefile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// newFinder makes one for a database in memory.
func newFinder(b []byte) (*Finder, error) {
	r := bytes.NewReader(b)
	table, err := NewTable(r, int64(len(b)))
	if err != nil {
		return nil, err
	}
	return table.NewFinder(r)
}

// find returns the rows with times from first to last, n heads at once. max bounds
// the rows that there can be.
func find(f *Finder, first, last int64, n, max int, reverse bool) (rows []idRow, err error) {
	var after *Head
	var list []Head
	keys := f
	for {
		if list, err = keys.After(list[:0], after, first, last, n, reverse); err != nil || len(list) == 0 {
			return rows, err
		}
		if after != nil && n > 1 {
			f = keys.Another(keys.leaves.r) // which returns the same
		}
		if err := f.Heads(list); err != nil {
			return rows, err
		}
		for i := range list {
			h := list[i]
			after = &h
			data, err := f.Append(nil, &h)
			if err != nil {
				return rows, err
			}
			if rows = append(rows, idRow{h.ID, h.Topic, h.Time, string(data)}); len(rows) > max {
				return rows, fmt.Errorf("over %d rows", max)
			}
		}
	}
}

// inTime is what find must return of all rows.
func inTime(rows []idRow, first, last int64, reverse bool) (out []idRow) {
	for _, r := range rows {
		if r.time >= first && r.time <= last {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b idRow) int { return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.id, b.id)) })
	if reverse {
		slices.Reverse(out)
	}
	return out
}

// TestFinder compares the finder with SQLite, on databases of every history and
// order of times.
func TestFinder(t *testing.T) {
	for kind := range timeKinds {
		if testing.Short() && kind != "jittered" {
			continue
		}
		for i, life := range [][]string{
			nil,
			{"DELETE FROM messages WHERE id%7<3 OR id BETWEEN 300 AND 400"},
			{"UPDATE messages SET timestamp = timestamp/2 WHERE id%3=0", "DELETE FROM messages WHERE id%5=0", "VACUUM"},
			{"PRAGMA auto_vacuum=1", "VACUUM",
				"INSERT INTO messages(topic_id, timestamp, data) SELECT id, id, zeroblob(id*9%5000) FROM messages"},
			{fmt.Sprintf("INSERT INTO messages VALUES (%d, 1, 1, x'01'), (%d, 1<<40, 1, zeroblob(100000))", math.MinInt64,
				math.MaxInt64)},
			{"DELETE FROM messages"},
			{"DELETE FROM messages WHERE id>3"},
		} {
			u := []int{512, 1024, 4096, 65536}[i%4]
			t.Run(fmt.Sprint(kind, i), func(t *testing.T) {
				path := newBase(t, u)
				db := open(t, path)
				insert(t, db, makeRows(uint64(i), 600, 3*min(u, 1500), kind))
				for _, q := range life {
					exec1(t, db, q)
				}
				db.Close()
				all := library(t, path)
				f, err := newFinder(readFile(t, path))
				if err != nil {
					t.Fatal(err)
				}
				rng := rand.New(rand.NewPCG(uint64(i), 3))
				for k := range 12 {
					first, last := int64(math.MinInt64), int64(math.MaxInt64)
					if k > 1 && len(all) > 0 {
						first, last = all[rng.IntN(len(all))].time, all[rng.IntN(len(all))].time
					}
					n, reverse := []int{5000, 1, 7, 100}[rng.IntN(4)], k%2 == 1
					got, err := find(f, first, last, n, len(all), reverse)
					if err != nil {
						t.Fatal(err)
					}
					if want := inTime(all, first, last, reverse); !slices.Equal(got, want) {
						t.Fatalf("from %d to %d, %d at once, reverse %v: %d rows, want %d", first, last, n, reverse, len(got), len(want))
					}
				}
			})
		}
	}
}

// pagesRead counts the pages that are read.
type pagesRead struct {
	io.ReaderAt
	page  int
	count map[int64]int
}

func (p *pagesRead) ReadAt(b []byte, off int64) (int, error) {
	for at := off - off%int64(p.page); at < off+int64(len(b)); at += int64(p.page) {
		p.count[at]++
	}
	return p.ReaderAt.ReadAt(b, off)
}

// TestFinderReads: of large rows only the leaves are read for their heads, each
// once, and for data the pages of the row and no more.
func TestFinderReads(t *testing.T) {
	const u, size, n = 4096, 500_000, 200
	var rows []row
	for i := range n {
		rows = append(rows, row{int64(i), int64(i), make([]byte, size)})
	}
	path := newBase(t, u)
	load(t, path, way{}, rows)
	b := readFile(t, path)
	r := &pagesRead{bytes.NewReader(b), u, map[int64]int{}}
	table, err := NewTable(r, int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	f, err := table.NewFinder(r)
	if err != nil {
		t.Fatal(err)
	}
	clear(r.count)
	list, err := f.After(nil, nil, 0, n, n, false)
	if err == nil {
		err = f.Heads(list)
	}
	if err != nil || len(list) != n {
		t.Fatalf("%d heads, %v", len(list), err)
	}
	leaves := map[uint32]bool{}
	for _, h := range list {
		leaves[h.leaf] = true
	}
	for at, n := range r.count {
		if n > 1 {
			t.Errorf("the page at %d is read %d times", at, n)
		}
	}
	// An entry of the index has 4 bytes before its two numbers of up to 2, and 2 for its offset.
	if most := len(leaves) + 2*(n*10/u+2); len(r.count) > most {
		t.Errorf("%d pages are read for heads in %d leaves, want %d at most", len(r.count), len(leaves), most)
	}
	clear(r.count)
	if data, err := f.Append(nil, &list[n/2]); err != nil || len(data) != size {
		t.Fatalf("%d bytes, %v", len(data), err)
	}
	if want := (size-(u-12)*32/255+23)/(u-4) + 2; len(r.count) > want {
		t.Errorf("%d pages are read for a row that has %d", len(r.count), want)
	}
}

// TestFinderDeclined: indexes that are left to SQLite.
func TestFinderDeclined(t *testing.T) {
	for _, q := range []string{
		"CREATE INDEX y ON messages (timestamp DESC)",
		"CREATE INDEX y ON messages (timestamp, topic_id)",
		"CREATE INDEX y ON messages (timestamp) WHERE topic_id > 5",
		"CREATE UNIQUE INDEX y ON messages (timestamp)",
		"CREATE INDEX y ON topics (id)",
		"",
	} {
		path := newBase(t, 4096, "DROP INDEX timestamp_idx", q)
		if _, err := newFinder(readFile(t, path)); !errors.Is(err, ErrDeclined) {
			t.Errorf("%s: %v", q, err)
		}
	}
	for q, want := range map[string]error{
		"INSERT INTO messages VALUES (7, 1, 'soon', x'00')":                ErrDeclined,
		"INSERT INTO messages VALUES (7, 1, 1.5, x'00')":                   ErrDeclined,
		"INSERT INTO messages VALUES (7, 'x', 5, x'00')":                   nil,
		"INSERT INTO messages VALUES (7, 1, 5, 1)":                         nil,
		"INSERT INTO messages VALUES (7, 1, 5, x'00')":                     nil,
		"CREATE INDEX \"a b\" ON [messages] ( 'timestamp' asc ) -- ending": nil,
	} {
		f, err := newFinder(readFile(t, newBase(t, 4096, q)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := find(f, math.MinInt64, math.MaxInt64, 10, 10, false); !errors.Is(err, want) {
			t.Errorf("%s: %v", q, err)
		}
	}
}

// TestFinderIndexLies: entries of rows that are not there or at another time.
func TestFinderIndexLies(t *testing.T) {
	for _, q := range []string{
		"DELETE FROM messages WHERE id = 300",
		"DELETE FROM messages WHERE id > 700",
		"UPDATE messages SET timestamp = timestamp + 1 WHERE id = 300",
	} {
		path := newBase(t, 1024)
		db := open(t, path)
		insert(t, db, makeRows(1, 800, 300, "ascending"))
		// An index that SQLite is made to forget stays as it is.
		for _, q := range []string{
			"PRAGMA writable_schema=ON", "CREATE TABLE kept AS SELECT * FROM sqlite_master WHERE name='timestamp_idx'",
			"DELETE FROM sqlite_master WHERE name='timestamp_idx'", "PRAGMA writable_schema=RESET", q,
			"PRAGMA writable_schema=ON", "INSERT INTO sqlite_master SELECT * FROM kept", "PRAGMA writable_schema=RESET",
		} {
			exec1(t, db, q)
		}
		db.Close()
		f, err := newFinder(readFile(t, path))
		if err != nil {
			t.Fatal(err)
		}
		if rows, err := find(f, math.MinInt64, math.MaxInt64, 50, 800, false); !errors.Is(err, storage.ErrCorrupt) ||
			len(rows) == 0 {
			t.Errorf("%s: %d rows, %v", q, len(rows), err)
		}
	}
}

// FuzzFinder: any bytes lead to rows in the order of time, or a sensible error.
func FuzzFinder(f *testing.F) {
	for _, kind := range []string{"ascending", "random"} {
		path := newBase(f, 512)
		load(f, path, way{}, append(makeRows(1, 120, 100, kind), row{1, 1, make([]byte, 3000)}))
		f.Add(readFile(f, path), 10, false)
		f.Add(readFile(f, path), 1, true)
	}
	f.Fuzz(func(t *testing.T, b []byte, n int, reverse bool) {
		x, err := newFinder(b)
		var rows []idRow
		if err == nil {
			rows, err = find(x, math.MinInt64, math.MaxInt64, 1+n&0xff, len(b), reverse)
		}
		if err != nil && !damage(err) && !errors.Is(err, ErrDeclined) {
			t.Fatal(err)
		}
		if want := inTime(rows, math.MinInt64, math.MaxInt64, reverse); !slices.Equal(rows, want) {
			t.Fatal("out of order")
		}
	})
}
