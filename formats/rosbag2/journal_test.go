package rosbag2

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// A crash is a database and the journal beside it, as they were in the middle of a
// transaction, or when a recorder was stopped there.
type crash struct {
	db, journal []byte
	mode        string
}

// crashes makes some with SQLite: a recording of 60 rows, then a transaction that
// changes rows, adds more and spills. pages is those of its cache.
func crashes(t testing.TB, page int, sync string, pages int) (list []crash) {
	for _, mode := range []string{"DELETE", "PERSIST", "TRUNCATE"} {
		path := filepath.Join(t.TempDir(), "live.db3")
		d, err := sql.Open("sqlite",
			fmt.Sprintf("file:%s?_pragma=page_size(%d)&_pragma=journal_mode(%s)&_pragma=synchronous(%s)&_pragma=cache_size(%d)&_pragma=cache_spill(5)", path, page, mode, sync, pages))
		check(t, err)
		defer d.Close()
		d.SetMaxOpenConns(1)
		run := func(q string) {
			t.Helper()
			_, err := d.Exec(q)
			check(t, err)
		}
		snap := func() {
			db, err := os.ReadFile(path)
			check(t, err)
			journal, err := os.ReadFile(path + "-journal")
			if !os.IsNotExist(err) {
				check(t, err)
			}
			list = append(list, crash{db, journal, mode})
		}
		insert := func(from, n int) {
			run(fmt.Sprintf("WITH RECURSIVE n(i) AS (SELECT %d UNION ALL SELECT i+1 FROM n WHERE i<%d) INSERT INTO messages "+
				"(topic_id, timestamp, data) SELECT 1+i%%2, 1000+i, CAST('row '||i||substr(hex(zeroblob(i*37%%3000)),1) AS BLOB) "+
				"FROM n", from, from+n-1))
		}
		for _, q := range []string{createTopics2 + ")", createMessages, createIndex,
			"INSERT INTO topics VALUES (1,'/a','std_msgs/msg/String','cdr',''),(2,'/b','std_msgs/msg/String','cdr','')"} {
			run(q)
		}
		insert(0, 60)
		run("BEGIN")
		insert(60, 5)
		snap()
		for i := range 6 {
			insert(65+40*i, 40)
			run(fmt.Sprintf("UPDATE messages SET data=CAST('other' AS BLOB) WHERE id=%d", 1+7*i))
			snap()
		}
		run("COMMIT")
		snap() // nothing to roll back
	}
	return list
}

// onDisk writes a crash to a folder.
func (c crash) onDisk(t testing.TB) string {
	path := filepath.Join(t.TempDir(), "x.db3")
	check(t, os.WriteFile(path, c.db, 0o600))
	if c.journal != nil {
		check(t, os.WriteFile(path+"-journal", c.journal, 0o600))
	}
	return path
}

// bySQLite is the rows that SQLite has after its own rollback on a copy.
func (c crash) bySQLite(t testing.TB) (list []string, err error) {
	d, err := sql.Open("sqlite", "file:"+c.onDisk(t)+"?_pragma=synchronous(OFF)")
	check(t, err)
	defer d.Close()
	rows, err := d.Query("SELECT topic_id, timestamp, data FROM messages ORDER BY id")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var topic, stamp int64
		var data []byte
		check(t, rows.Scan(&topic, &stamp, &data))
		list = append(list, fmt.Sprint(topic, stamp, string(data)))
	}
	return list, rows.Err()
}

// byUs is the rows that a reader has.
func (c crash) byUs(t testing.TB, o storage.ReadOptions) ([]string, *storage.Info, error) {
	fsys := memFS{"/x/x.db3": c.db}
	if c.journal != nil {
		fsys["/x/x.db3-journal"] = c.journal
	}
	o.FS = fsys
	r, err := open(t.Context(), "/x/x.db3", o)
	if err != nil {
		return nil, nil, err
	}
	defer func() { check(t, r.Close()) }()
	var list []string
	for {
		m, err := r.ReadNext()
		if err == io.EOF {
			break
		}
		check(t, err)
		list = append(list, fmt.Sprint(m.Topic+1, m.LogTime, string(m.Data)))
	}
	info := storagetest.InfoOf(r)
	if info.Messages != int64(len(list)) && !slices.Contains(codes(info), "salvaged") && !slices.Contains(codes(info),
		"corrupt") {
		t.Errorf("Info has %d messages, %d were read", info.Messages, len(list))
	}
	return list, info, nil
}

// TestJournal: a reader shows what SQLite shows after its rollback, in all journal
// modes, and reports what it leaves out. What recover takes has all of it besides.
func TestJournal(t *testing.T) {
	rolledBack, more, headers := 0, 0, 0
	pages := []int{512, 4096}
	if testing.Short() {
		pages = pages[:1]
	}
	for _, page := range pages {
		for _, sync := range []string{"FULL", "OFF"} {
			for i, c := range crashes(t, page, sync, 10) {
				name := fmt.Sprint(page, sync, c.mode, i)
				want, err := c.bySQLite(t)
				check(t, err)
				got, info, err := c.byUs(t, storage.ReadOptions{})
				check(t, err)
				if !slices.Equal(got, want) {
					t.Errorf("%s: %d rows, SQLite has %d; %v", name, len(got), len(want), info.Warnings)
				}
				all, _, err := c.byUs(t, storage.ReadOptions{Uncommitted: true})
				check(t, err)
				for _, row := range want {
					if !slices.Contains(all, row) {
						t.Errorf("%s: recover has not %.30q", name, row)
					}
				}
				headers += bytes.Count(c.journal, []byte(sqlite.JournalMagic))
				if slices.Contains(codes(info), "journal") {
					rolledBack++
					more += len(all) - len(want)
					if _, _, err := c.byUs(t, storage.ReadOptions{Strict: true}); !storage.IsDamage(err) {
						t.Errorf("%s: strict: %v", name, err)
					}
				} else if len(all) != len(want) {
					t.Errorf("%s: recover has %d rows of %d", name, len(all), len(want))
				}
			}
		}
	}
	if rolledBack < 25*len(pages) || more < 50*rolledBack || headers <= rolledBack {
		t.Errorf("%d rollbacks, %d headers, %d rows more: the test does not test", rolledBack, headers, more)
	}
}

// TestJournalCut: journals that end at any sector, or any byte around one, roll back
// what SQLite does.
func TestJournalCut(t *testing.T) {
	list := crashes(t, 512, "FULL", 10)
	c := list[6]
	step := 512 // a sector
	if testing.Short() {
		step *= 7
	}
	for n := 0; n <= len(c.journal); n += step {
		for _, d := range []int{0, 30} {
			if n+d < 0 || n+d > len(c.journal) {
				continue
			}
			cut := crash{db: c.db, journal: c.journal[:n+d]}
			want, refused := cut.bySQLite(t)
			got, info, err := cut.byUs(t, storage.ReadOptions{})
			if refused != nil {
				continue // SQLite finds the database broken; we salvage
			}
			check(t, err)
			if !slices.Equal(got, want) && !slices.Contains(codes(info), "salvaged") && !slices.Contains(codes(info),
				"corrupt") {
				t.Errorf("%d of %d bytes: %d rows, SQLite has %d: %v", n+d, len(c.journal), len(got), len(want), info.Warnings)
			}
		}
	}
}

// TestJournalOdd: journals that are none, or not to be applied.
func TestJournalOdd(t *testing.T) {
	c := crashes(t, 512, "FULL", 10)[6]
	with := func(f func(b []byte) []byte) crash { return crash{db: c.db, journal: f(bytes.Clone(c.journal))} }
	put := func(at int, v uint32) crash {
		return with(func(b []byte) []byte { binary.BigEndian.PutUint32(b[at:], v); return b })
	}
	super := func(name string) []byte {
		sum := uint32(0)
		for _, ch := range []byte(name) {
			sum += uint32(ch)
		}
		b := binary.BigEndian.AppendUint32([]byte(name), uint32(len(name)))
		return append(binary.BigEndian.AppendUint32(b, sum), sqlite.JournalMagic...)
	}
	for name, x := range map[string]crash{
		"empty":            {db: c.db, journal: []byte{}},
		"zeroed":           with(func(b []byte) []byte { clear(b[:28]); return b }),
		"other magic":      with(func(b []byte) []byte { b[3]++; return b }),
		"page size 0":      put(24, 0),
		"page size 1":      put(24, 1),
		"page size 2^31":   put(24, 1<<31),
		"sector 0":         put(20, 0),
		"sector 2^31":      put(20, 1<<31),
		"records 0":        put(8, 0),
		"records 2^32-1":   put(8, 1<<32-1),
		"records 2^31":     put(8, 1<<31),
		"other nonce":      put(12, 77),
		"zero page number": put(512, 0),
		"page 2^32-1":      put(512, 1<<32-1),
		"lock page":        put(512, sqlite.LockByte/512+1),
		"super gone":       with(func(b []byte) []byte { return append(b, super("/elsewhere/x.db3-mj0123")...) }),
		"no super":         with(func(b []byte) []byte { s := super("/y"); s[0]++; return append(b, s...) }),
	} {
		want, refused := x.bySQLite(t)
		got, info, err := x.byUs(t, storage.ReadOptions{})
		if refused != nil || err != nil {
			if err != nil && !storage.IsDamage(err) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if !slices.Equal(got, want) && !slices.Contains(codes(info), "salvaged") && !slices.Contains(codes(info), "corrupt") {
			t.Errorf("%s: %d rows, SQLite has %d: %v", name, len(got), len(want), info.Warnings)
		}
	}
	huge := put(16, 1<<32-1) // pages of the database before
	if _, _, err := huge.byUs(t, storage.ReadOptions{}); err != nil && !storage.IsDamage(err) {
		t.Error(err)
	}
	first := put(16, 0)                       // the first transaction of all
	for _, all := range []bool{false, true} { // then there is nothing but what was not committed
		if rows, info, err := first.byUs(t, storage.ReadOptions{Uncommitted: all}); err != nil || len(rows) < 100 ||
			!slices.Contains(codes(info), "salvaged") {
			t.Errorf("the first transaction: %d rows, %v", len(rows), err)
		}
	}
}

// TestUncommittedWAL: frames of a log that were never committed are taken on request.
func TestUncommittedWAL(t *testing.T) {
	path, _ := smallBag(t, t.TempDir())
	edit(t, path, "DELETE FROM metadata")
	old, err := os.ReadFile(path)
	check(t, err)
	edit(t, path, "BEGIN; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<20) INSERT INTO messages "+
		"(topic_id, timestamp, data) SELECT 1, 1000+i, zeroblob(500*i) FROM n; COMMIT")
	now, err := os.ReadFile(path)
	check(t, err)
	old[18], old[19], now[18], now[19] = 2, 2, 2, 2
	fsys := memFS{"/x/x.db3": old, "/x/x.db3-wal": makeWAL(old, now, pageSize, false)}
	if rows, info := readAll(t, "/x/x.db3", storage.ReadOptions{FS: fsys}); len(rows) != 40 {
		t.Errorf("%d rows, want 40: %v", len(rows), info.Warnings)
	}
	rows, info := readAll(t, "/x/x.db3", storage.ReadOptions{FS: fsys, Uncommitted: true})
	if len(rows) != 60 || len(rows[59].data) != 10000 ||
		!slices.Equal(codes(info), []string{"salvaged", "wal-uncommitted"}) {
		t.Errorf("%d rows, want 60: %v", len(rows), info.Warnings)
	}
}
