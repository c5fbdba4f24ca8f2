package sqlitefile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// idRow is a row as it was read.
type idRow struct {
	id, topic, time int64
	data            string
}

// library reads a table with SQLite.
func library(t testing.TB, path string) (rows []idRow) {
	t.Helper()
	db := open(t, path)
	defer db.Close()
	list, err := db.Query("SELECT rowid, topic_id, timestamp, data FROM messages ORDER BY rowid")
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	for list.Next() {
		var r idRow
		var data []byte
		if err := list.Scan(&r.id, &r.topic, &r.time, &data); err != nil {
			t.Fatal(err)
		}
		r.data = string(data)
		rows = append(rows, r)
	}
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// scan reads a table with a Scanner, range by range.
func scan(b []byte, target int64) (rows []idRow, ranges []Range, err error) {
	r := bytes.NewReader(b)
	table, err := NewTable(r, int64(len(b)))
	if err != nil {
		return nil, nil, err
	}
	if ranges, err = table.Ranges(context.Background(), r, target, nil); err != nil {
		return nil, nil, err
	}
	s := table.NewScanner(r, 100_000)
	var buf []byte
	for _, g := range ranges {
		err := s.Scan(g.Lo, g.Hi, func(row *Row) (err error) {
			if buf, err = s.Append(buf[:0], row); err != nil {
				return err
			}
			if len(buf) != row.Size {
				return fmt.Errorf("internal error: %d bytes of %d", len(buf), row.Size)
			}
			rows = append(rows, idRow{row.ID, row.Topic, row.Time, string(buf)})
			return nil
		})
		if err != nil {
			return rows, ranges, err
		}
	}
	return rows, ranges, nil
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestScan compares the scanner with SQLite, on databases of every history.
func TestScan(t *testing.T) {
	for _, u := range []int{512, 1024, 4096, 65536} {
		for name, life := range map[string][]string{
			"plain":   nil,
			"deleted": {"DELETE FROM messages WHERE id%7<3 OR id BETWEEN 500 AND 900"},
			"refilled": {"DELETE FROM messages WHERE id%2=0",
				"INSERT INTO messages(topic_id, timestamp, data) SELECT id, id, zeroblob(id*9%5000) FROM messages"},
			"vacuumed":    {"DELETE FROM messages WHERE id%3=0", "VACUUM"},
			"auto-vacuum": {"PRAGMA auto_vacuum=1", "VACUUM", "DELETE FROM messages WHERE id%3=0"},
			"ids": {fmt.Sprintf("INSERT INTO messages VALUES (-5, 1, -1, x'01'), (%d, 1, 1, x'02'), (%d, 1<<40, "+
				"1<<62, zeroblob(100000))", math.MinInt64, math.MaxInt64)},
			"empty": {"DELETE FROM messages"},
			"text":  {"INSERT INTO messages(topic_id, timestamp, data) VALUES (1, 2, 'a text')"},
		} {
			t.Run(fmt.Sprint(u, name), func(t *testing.T) {
				path := newBase(t, u)
				db := open(t, path)
				insert(t, db, makeRows(uint64(u), 1500, 3*min(u, 5000), "jittered"))
				for _, q := range life {
					exec1(t, db, q)
				}
				db.Close()
				want := library(t, path)
				b := readFile(t, path)
				for _, target := range []int64{1, 20_000, 1 << 40} {
					rows, ranges, err := scan(b, target)
					if err != nil {
						t.Fatal(err)
					}
					if !slices.Equal(rows, want) {
						t.Fatalf("target %d: %d rows, not the %d of SQLite", target, len(rows), len(want))
					}
					if ranges[0].Lo != math.MinInt64 || ranges[len(ranges)-1].Hi != math.MaxInt64 {
						t.Errorf("the ranges are %v", ranges)
					}
					if n := len(ranges); name == "plain" && (n > 1) != (target < 1<<40) {
						t.Errorf("target %d: %d ranges", target, n)
					}
				}
			})
		}
	}
}

// TestScanLoaded: what the loader writes, the scanner reads; of large rows too.
func TestScanLoaded(t *testing.T) {
	for _, u := range []int{512, 4096, 65536} {
		r := rand.New(rand.NewPCG(uint64(u), 2))
		var rows []row
		for i, n := range append(edgeSizes(u, 3), 3<<20, 700_000, 0) {
			rows = append(rows, row{int64(i), int64(i), fill(r, n)})
		}
		path := newBase(t, u)
		load(t, path, way{}, rows)
		got, ranges, err := scan(readFile(t, path), 500_000)
		if err != nil || len(got) != len(rows) || len(ranges) < 3 {
			t.Fatalf("%d rows of %d in %d ranges: %v", len(got), len(rows), len(ranges), err)
		}
		for i, g := range got {
			if w := rows[i]; g.id != int64(i)+1 || g.topic != w.topic || g.time != w.time || g.data != string(w.data) {
				t.Fatalf("row %d", i)
			}
		}
	}
}

// TestScanReserved: bytes that a page keeps at its end, made by the C library.
func TestScanReserved(t *testing.T) {
	made := filepath.Join(t.TempDir(), "x.db3")
	if !runCLI(t, made, ".filectrl reserve_bytes 48\nVACUUM;\n"+createTopics+";"+createMessages+";"+createIndex+";"+
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<900) INSERT INTO messages SELECT i, i%5, "+
		"i*7, randomblob(i*37%20000) FROM n;\n") {
		t.Skip("no sqlite3")
	}
	b := readFile(t, made)
	if b[20] != 48 {
		t.Skip("this sqlite3 does not reserve bytes")
	}
	rows, _, err := scan(b, 100_000)
	if err != nil || len(rows) != 900 || !slices.Equal(rows, library(t, made)) {
		t.Errorf("%d rows: %v", len(rows), err)
	}
}

// TestOddRows: rows with values of other types are reported as such, by a scanner and by a
// finder, and the data is there if it is a blob or text.
func TestOddRows(t *testing.T) {
	const table = "DROP TABLE messages; CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp " +
		"INTEGER, data BLOB); "
	for values, want := range map[string]Row{
		"1, 5, x'0102'":           {Topic: 1, Time: 5, Size: 2},
		"1, 5, 'text'":            {Topic: 1, Time: 5, Size: 4},
		"1, NULL, x'01'":          {Topic: 1, Size: 1, NoTime: true},
		"1, 'noon', x'01'":        {Topic: 1, Size: 1, NoTime: true},
		"1, 1.5, x'01'":           {Topic: 1, Size: 1, NoTime: true},
		"1, x'05', x'01'":         {Topic: 1, Size: 1, NoTime: true},
		"1, 5, NULL":              {Topic: 1, Time: 5, NoData: true},
		"1, 5, 77":                {Topic: 1, Time: 5, NoData: true},
		"1, 5, 1.5":               {Topic: 1, Time: 5, NoData: true},
		"'one', 5, x'01'":         {Time: 5, Size: 1},
		"NULL, NULL, NULL":        {NoTime: true, NoData: true},
		"1, NULL, zeroblob(9000)": {Topic: 1, Size: 9000, NoTime: true},
	} {
		b := readFile(t, newBase(t, 1024, table+"INSERT INTO messages VALUES (3, 1, 1, x'00'), (7, "+values+
			"), (9, 1, 1, x'00')"))
		r := bytes.NewReader(b)
		x, err := NewTable(r, int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		s := x.NewScanner(r, 4096)
		err = s.Scan(math.MinInt64, math.MaxInt64, func(row *Row) error {
			n++
			if row.ID != 7 {
				return nil
			}
			data, err := s.Append(nil, row)
			if row.Topic != want.Topic || row.Time != want.Time || row.Size != want.Size || row.NoTime != want.NoTime ||
				row.NoData != want.NoData || len(data) != want.Size {
				t.Errorf("%s: %+v, %d bytes", values, *row, len(data))
			}
			return err
		})
		if err != nil || n != 3 {
			t.Errorf("%s: %d rows, %v", values, n, err)
		}
	}
}

// TestScanDeclined: databases that are left to SQLite.
func TestScanDeclined(t *testing.T) {
	table := func(q string) []string { return []string{"DROP TABLE messages", q} }
	for name, c := range map[string]struct {
		more []string
		want string
	}{
		"wal":      {[]string{"PRAGMA journal_mode=WAL"}, "write-ahead"},
		"no table": {[]string{"DROP TABLE messages"}, "no table"},
		"view":     {[]string{"DROP TABLE messages", "CREATE VIEW messages AS SELECT 1"}, "no table"},
		"without rowid": {table("CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data " +
			"BLOB) WITHOUT ROWID"), "another kind"},
		"five": {table("CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB, " +
			"more BLOB)"), "other columns"},
		"added":   {[]string{"ALTER TABLE messages ADD COLUMN more INTEGER DEFAULT 5"}, "other columns"},
		"virtual": {table("CREATE VIRTUAL TABLE messages USING fts5(id, topic_id, timestamp, data)"), "no tree"},
	} {
		t.Run(name, func(t *testing.T) {
			path := newBase(t, 4096, c.more...)
			if _, _, err := scan(readFile(t, path), 1); !errors.Is(err, ErrDeclined) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	path := newBase(t, 4096)
	for name, c := range map[string]struct {
		at    int
		value byte
		want  error
	}{
		"text": {59, 2, ErrDeclined}, "format": {47, 5, ErrDeclined}, "magic": {0, 'x', storage.ErrCorrupt}, "page size": {16,
			3, storage.ErrCorrupt},
	} {
		b := readFile(t, path)
		b[c.at] = c.value
		if _, _, err := scan(b, 1); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := scan(readFile(t, path)[:50], 1); !errors.Is(err, storage.ErrTruncated) {
		t.Errorf("cut: %v", err)
	}
}

// TestScanLoops: trees and chains that never end.
func TestScanLoops(t *testing.T) {
	path := newBase(t, 512)
	load(t, path, way{}, makeRows(1, 3000, 2000, "ascending"))
	good := readFile(t, path)
	table, err := NewTable(bytes.NewReader(good), int64(len(good)))
	if err != nil {
		t.Fatal(err)
	}
	page := func(b []byte, no uint32) []byte { return b[(no-1)*512:][:512] }
	root := page(good, table.root)
	if root[0] != tableInterior {
		t.Fatal("the tree is too small")
	}
	child := get32(root[get16(root[12:]):])
	for name, change := range map[string]func(b []byte){
		"root is its own child":  func(b []byte) { put32(page(b, table.root)[get16(root[12:]):], table.root) },
		"root is its last child": func(b []byte) { put32(page(b, table.root)[8:], table.root) },
		"child is its parent":    func(b []byte) { copy(page(b, child), root) },
		"a leaf comes twice":     func(b []byte) { put32(page(b, table.root)[get16(root[14:]):], child) },
		"page 1":                 func(b []byte) { put32(page(b, table.root)[8:], 1) },
		"after the end":          func(b []byte) { put32(page(b, table.root)[8:], 1<<30) },
		"many cells":             func(b []byte) { page(b, table.root)[3] = 0xff },
	} {
		b := bytes.Clone(good)
		change(b)
		if _, _, err := scan(b, 10_000); !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Every row claims all of the file, in a chain of one page.
	b := bytes.Clone(good)
	for no := uint32(2); no <= uint32(len(b)/512); no++ {
		p := page(b, no)
		if p[0] == 0 {
			put32(p, no)
		}
	}
	if _, _, err := scan(b, 1<<40); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("chains: %v", err)
	}
}

func put32(b []byte, v uint32) {
	b[0], b[1], b[2], b[3] = byte(v>>24), byte(v>>16), byte(v>>8), byte(v)
}

// FuzzScan: no panic, no loop, rows in order, no range with more bytes than the
// file has.
func FuzzScan(f *testing.F) {
	for _, u := range []int{512, 1024} {
		path := newBase(f, u)
		load(f, path, way{}, makeRows(1, 60, 1500, "jittered"))
		f.Add(readFile(f, path))
		db := open(f, path)
		exec1(f, db, "DELETE FROM messages WHERE id>20")
		db.Close()
		f.Add(readFile(f, path))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		rows, ranges, err := scan(b, 3000)
		if err != nil && !errors.Is(err, ErrDeclined) && !errors.Is(err, storage.ErrCorrupt) &&
			!errors.Is(err, storage.ErrTruncated) {
			t.Fatal(err)
		}
		sum := 0
		for _, r := range rows {
			sum += len(r.data)
		}
		if len(ranges) > len(b) || sum > len(b)*(1+len(ranges)) {
			t.Fatalf("%d rows of %d bytes in %d ranges out of %d bytes", len(rows), sum, len(ranges), len(b))
		}
		for i := range rows {
			if i > 0 && rows[i].id <= rows[i-1].id {
				t.Fatalf("row %d after row %d", rows[i].id, rows[i-1].id)
			}
		}
	})
}

// BenchmarkScan reads all rows of a table, bytes included.
func BenchmarkScan(b *testing.B) {
	for _, sh := range []struct{ rows, size int }{{300_000, 320}, {4000, 32_000}, {100, 1 << 20}} {
		b.Run(fmt.Sprint(sh.size), func(b *testing.B) {
			path := newBase(b, 4096)
			data := fill(rand.New(rand.NewPCG(1, 1)), sh.size)
			rows := make([]row, sh.rows)
			for i := range rows {
				rows[i] = row{1, int64(i), data}
			}
			load(b, path, way{}, rows)
			f, err := iox.OS.Open(path)
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			st, err := f.Stat()
			if err != nil {
				b.Fatal(err)
			}
			table, err := NewTable(f, st.Size())
			if err != nil {
				b.Fatal(err)
			}
			s := table.NewScanner(f, scanBlock)
			var buf []byte
			b.SetBytes(int64(sh.rows * sh.size))
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				err := s.Scan(math.MinInt64, math.MaxInt64, func(row *Row) (err error) {
					n++
					if len(buf) > 2<<20 {
						buf = buf[:0]
					}
					buf, err = s.Append(buf, row)
					return err
				})
				if err != nil || n != sh.rows {
					b.Fatal(n, err)
				}
			}
			b.ReportMetric(float64(sh.rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}

// TestZeroedWords sets each four bytes of a database to zero, page numbers among
// them: rows come whole or not at all.
func TestZeroedWords(t *testing.T) {
	path := newBase(t, 512)
	load(t, path, way{}, makeRows(1, 12, 1500, "jittered"))
	whole := readFile(t, path)
	for at := 0; at+4 <= len(whole); at += 2 {
		b := bytes.Clone(whole)
		clear(b[at : at+4])
		_, _, err := scan(b, 3000)
		if err != nil && !errors.Is(err, ErrDeclined) && !errors.Is(err, storage.ErrCorrupt) &&
			!errors.Is(err, storage.ErrTruncated) {
			t.Fatalf("byte %d: %v", at, err)
		}
	}
}
