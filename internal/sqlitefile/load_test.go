package sqlitefile

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/internal/testing/faultio"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

// TestSizes: rows of every size around the thresholds at which a row spills: up to 30 bytes around them, and for
// the pages that are not 512 bytes, 4 or 64 kB up to 10 without BAGCONV_EXHAUSTIVE=1.
func TestSizes(t *testing.T) {
	for _, u := range []int{512, 1024, 2048, 4096, 8192, 16384, 32768, 65536} {
		around := 30
		if u&0x11600 == 0 {
			around = samples.Pick(30, 8, 3)
		}
		sizes := edgeSizes(u, around)
		for kind, at := range timeKinds {
			t.Run(fmt.Sprint(u, kind), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(u), 1))
				var rows []row
				for i, n := range sizes {
					rows = append(rows, row{int64(i % 300), at(r, i), fill(r, n)})
				}
				if kind != "ascending" {
					r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
				}
				path := newBase(t, u)
				load(t, path, way{hook: kind == "equal"}, rows)
				live := kind == "jittered" || kind == "ascending"
				if live {
					cli(t, path, cliLife)
				}
				check(t, path, rows, live)
			})
		}
	}
}

// TestTwin: a loaded database is what SQLite makes of the same rows, table by table
// and index by index, as its own command line sees both: of 400 rows, and with BAGCONV_EXHAUSTIVE=1 of 1,200, which
// take 800 MB.
func TestTwin(t *testing.T) {
	n := samples.Pick(1200, 400, 150)
	for _, u := range []int{512, 4096, 65536} {
		for kind := range timeKinds {
			rows := makeRows(uint64(u), n, 2*u, kind)
			path, twin := newBase(t, u), newBase(t, u)
			load(t, path, way{}, rows)
			db := open(t, twin)
			insert(t, db, rows)
			if !slices.Equal(library(t, path), library(t, twin)) {
				t.Errorf("%d %s: other rows", u, kind)
			}
			checkIndex(t, db, rows)
			db.Close()
			cli(t, path, fmt.Sprintf(`ATTACH %q AS twin;
SELECT CASE WHEN NOT EXISTS (SELECT id, topic_id, timestamp, typeof(data), data FROM main.messages EXCEPT SELECT id, topic_id, timestamp, typeof(data), data FROM twin.messages)
AND (SELECT count(*) FROM main.messages) = (SELECT count(*) FROM twin.messages)
AND (SELECT group_concat(timestamp||' '||rowid) FROM (SELECT timestamp, rowid FROM main.messages INDEXED BY timestamp_idx ORDER BY timestamp, rowid))
  = (SELECT group_concat(timestamp||' '||rowid) FROM (SELECT timestamp, rowid FROM twin.messages INDEXED BY timestamp_idx ORDER BY timestamp, rowid))
THEN 'ok' ELSE 'another' END`, twin))
		}
	}
}

// TestCounts: every 13th number of rows, and with BAGCONV_EXHAUSTIVE=1 every one, so that levels begin and end at
// every place.
func TestCounts(t *testing.T) {
	step := samples.Pick(1, 13, 37)
	empty, err := os.ReadFile(newBase(t, 512))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.db3")
	for _, size := range []int{0, 60} {
		for n := 0; n <= 3600; n += step {
			if err := os.WriteFile(path, empty, 0o666); err != nil {
				t.Fatal(err)
			}
			rows := makeRows(uint64(n), n, size, []string{"ascending", "random"}[n&1])
			load(t, path, way{}, rows)
			check(t, path, rows, n%100 == 0)
		}
	}
}

// TestDeep: trees of many levels.
func TestDeep(t *testing.T) {
	counts := []int{5000, 20_011, 41_000}
	if testing.Short() {
		counts = counts[:2]
	}
	for _, n := range counts {
		rows := makeRows(uint64(n), n, 40, "random")
		path := newBase(t, 512)
		load(t, path, way{}, rows)
		cli(t, path, cliLife)
		check(t, path, rows, true)
	}
}

// TestLarge: a row of several buffers.
func TestLarge(t *testing.T) {
	for _, u := range []int{512, 4096, 65536} {
		rows := []row{{1, 3, fill(rand.New(rand.NewPCG(1, 1)), 6<<20)}, {1, 2, nil}, {1, 1, make([]byte, 1<<20)}}
		path := newBase(t, u)
		load(t, path, way{hook: true}, rows)
		check(t, path, rows, true)
	}
}

// TestFreelist: a base with pages that are free.
func TestFreelist(t *testing.T) {
	path := newBase(t, 512, "INSERT INTO topics(name) SELECT hex(zeroblob(9000))", "DELETE FROM topics")
	rows := makeRows(3, 3000, 700, "jittered")
	load(t, path, way{}, rows)
	db := open(t, path)
	var free int
	one(t, db, "PRAGMA freelist_count", &free)
	db.Close()
	if free < 10 {
		t.Errorf("%d free pages: the case does not test what it says", free)
	}
	cli(t, path, cliLife)
	check(t, path, rows, true)
}

// TestLockPage: the structure around a page that may not be used, at a number
// that a small file reaches. SQLite knows only the real one, so the one complaint
// of its check is the page that nothing points to.
func TestLockPage(t *testing.T) {
	for lock := uint32(6); lock < 60; lock++ {
		rows := makeRows(uint64(lock), 300, 900, "ascending")
		path := newBase(t, 512)
		load(t, path, way{lock: lock}, rows)
		db := open(t, path)
		var s string
		one(t, db, "PRAGMA integrity_check", &s)
		checkIndex(t, db, rows)
		db.Close()
		if s = strings.TrimPrefix(s, "*** in database main ***\n"); !strings.HasSuffix(s, fmt.Sprintf("age %d: never used",
			lock)) || strings.Count(s, "\n") > 0 {
			t.Fatalf("lock page %d: %s", lock, s)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b[(lock-1)*512:lock*512], make([]byte, 512)) {
			t.Errorf("lock page %d is not zero", lock)
		}
	}
}

// TestPastLockPage goes past the real one, at 1 GiB.
func TestPastLockPage(t *testing.T) {
	if testing.Short() || os.Getenv("BAGCONV_EXHAUSTIVE") == "" {
		t.Skip("writes 1.1 GB; BAGCONV_EXHAUSTIVE=1 runs it")
	}
	rows := make([]row, 1100)
	data := fill(rand.New(rand.NewPCG(1, 1)), 1_000_000)
	for i := range rows {
		rows[i] = row{1, int64(i), data}
	}
	path := newBase(t, 4096)
	load(t, path, way{}, rows)

	cli(t, path, "PRAGMA integrity_check")
	check(t, path, rows, false)
}

// TestBuffers: handing buffers out makes the same file.
func TestBuffers(t *testing.T) {
	rows := makeRows(4, 4000, 3000, "jittered")
	var files [2][]byte
	for i, hook := range []bool{false, true} {
		path := newBase(t, 4096)
		load(t, path, way{hook: hook}, rows)
		files[i], _ = os.ReadFile(path)
	}
	if len(files[0]) < 5<<20 || !bytes.Equal(files[0], files[1]) {
		t.Error("another file")
	}
}

// TestOrderOfCalls: what a caller may not do is an error, not a broken file.
func TestOrderOfCalls(t *testing.T) {
	f, err := os.OpenFile(newBase(t, 512), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l, err := Open(f, Options{})
	if err != nil {
		t.Fatal(err)
	}
	l.OnBuffer(func(storage.PendingBlock) error { return nil })
	if err := errors.Join(l.Add(1, 1, make([]byte, 5000)), l.Flush()); err != nil {
		t.Fatal(err)
	}
	if err := l.Finish(); err == nil || !strings.Contains(err.Error(), "1 buffers are not written") {
		t.Errorf("Finish before the buffers are written: %v", err)
	}
	if err := l.Add(1, 1, nil); err == nil {
		t.Error("Add after Finish succeeds")
	}
}

// TestHugeRow: SQLite does not read more than 10^9 bytes of a row.
func TestHugeRow(t *testing.T) {
	f, err := os.OpenFile(newBase(t, 512), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l, err := Open(f, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Add(1, 1, make([]byte, sqlite.MaxRow)); !errors.Is(err, storage.ErrUnsupported) {
		t.Errorf("a huge row: %v", err)
	}
	if err := l.Add(1, 1, nil); err == nil {
		t.Error("goes on after an error")
	}
}

// TestDeclined: bases that are not for the loader.
func TestDeclined(t *testing.T) {
	table := func(q string) []string {
		return []string{"DROP TABLE messages", q, createIndex}
	}
	for name, c := range map[string]struct {
		more []string
		want string
	}{
		"rows":        {[]string{"INSERT INTO messages VALUES (1,1,1,x'00')"}, "not empty"},
		"wal":         {[]string{"PRAGMA journal_mode=WAL"}, "write-ahead"},
		"auto-vacuum": {[]string{"PRAGMA auto_vacuum=1", "VACUUM"}, "auto-vacuum"},
		"no table":    {[]string{"DROP TABLE messages"}, "no table"},
		"no index":    {[]string{"DROP INDEX timestamp_idx"}, "root in page 0"},
		"two indexes": {[]string{"CREATE INDEX more ON messages(topic_id)"}, `index "more"`},
		"descending": {[]string{"DROP INDEX timestamp_idx", "CREATE INDEX timestamp_idx ON messages(timestamp DESC)"},
			"timestamp_idx"},
		"unique": {[]string{"DROP INDEX timestamp_idx", "CREATE UNIQUE INDEX timestamp_idx ON messages(timestamp)"},
			"timestamp_idx"},
		"trigger": {[]string{"CREATE TRIGGER x AFTER INSERT ON messages BEGIN DELETE FROM topics; END"}, "trigger"},
		"without rowid": {table("CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data " +
			"BLOB) WITHOUT ROWID"), "another kind"},
		"strict": {table(
			"CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB) STRICT"),
			"another kind"},
		"no alias": {table("CREATE TABLE messages(id INT PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB)"),
			"column 1"},
		"descending id": {table(
			"CREATE TABLE messages(id INTEGER PRIMARY KEY DESC, topic_id INTEGER, timestamp INTEGER, data BLOB)"), "column 1"},
		"autoincrement": {table("CREATE TABLE messages(id INTEGER PRIMARY KEY AUTOINCREMENT, topic_id INTEGER, timestamp " +
			"INTEGER, data BLOB)"), "keeps count"},
		"real": {table("CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp REAL, data BLOB)"),
			"column 3"},
		"order": {table(
			"CREATE TABLE messages(id INTEGER PRIMARY KEY, timestamp INTEGER, topic_id INTEGER, data BLOB)"), "column 2"},
		"five": {table("CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data " +
			"BLOB, more BLOB)"), "other columns"},
		"unique column": {table(
			"CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER UNIQUE, timestamp INTEGER, data BLOB)"), "column 2"},
		"generated": {table("CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER AS " +
			"(topic_id), data BLOB)"), "column 3"},
		"view": {[]string{"DROP TABLE messages", "CREATE VIEW messages AS SELECT 1"}, "no table"},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := os.OpenFile(newBase(t, 4096, c.more...), os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if _, err := Open(f, Options{}); !errors.Is(err, ErrDeclined) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	// And one that is written differently, but the same.
	path := newBase(t, 4096, table("CREATE TABLE \"messages\" (\n [id] INTEGER PRIMARY KEY, -- the id\n`topic_id` int "+
		"NOT NULL, timestamp BIGINT /* ns */, 'data' BLOB)")...)
	rows := makeRows(1, 10, 10, "equal")
	load(t, path, way{}, rows)
	check(t, path, rows, false)
}

// TestDeclinedHeader: headers that do not fit the file.
func TestDeclinedHeader(t *testing.T) {
	good, err := os.ReadFile(newBase(t, 512))
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(b []byte) []byte{
		"empty":    func([]byte) []byte { return nil },
		"magic":    func(b []byte) []byte { copy(b, "no database"); return b },
		"cut":      func(b []byte) []byte { return b[:len(b)-512] },
		"tail":     func(b []byte) []byte { return append(b, 0) },
		"count":    func(b []byte) []byte { b[31]++; return b },
		"old":      func(b []byte) []byte { b[95]++; return b },
		"reserved": func(b []byte) []byte { b[20] = 8; return b },
		"size":     func(b []byte) []byte { b[16] = 3; return b },
		"format":   func(b []byte) []byte { b[47] = 1; return b },
		"text":     func(b []byte) []byte { b[59] = 2; return b },
		"schema":   func(b []byte) []byte { b[100] = 2; return b },
	} {
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, change(bytes.Clone(good)), 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Open(f, Options{})
		f.Close()
		if !errors.Is(err, ErrDeclined) && !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFaults: each operation on the disk fails in turn, with an error and no
// panic, and the base is as it was until the roots are written.
func TestFaults(t *testing.T) {
	empty, err := os.ReadFile(newBase(t, 512))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "x.db3")
	rows := makeRows(5, 1500, 4000, "random")
	for _, fault := range []faultio.Fault{faultio.Error, faultio.Short} {
		n := int64(1)
		for ; ; n++ {
			if err := os.WriteFile(path, empty, 0o666); err != nil {
				t.Fatal(err)
			}
			fs := &faultio.FS{FS: iox.OS, N: n, Fault: fault}
			w := way{hook: n&1 == 0}
			w.Memory = 500 * sortBytes
			w.Temp = func() (storage.File, error) {
				return fs.OpenFile(filepath.Join(dir, "temp"), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
			}
			err := tryLoad(path, w, rows, func(path string) (storage.File, error) { return fs.OpenFile(path, os.O_RDWR, 0) })
			if !fs.Fired() {
				if err != nil {
					t.Fatal(err)
				}
				break
			}
			if !errors.Is(err, faultio.ErrFault) {
				t.Fatalf("operation %d: %v", n, err)
			}
		}
		if n < 20 {
			t.Errorf("only %d operations", n)
		}
		check(t, path, rows, false)
	}
}

// TestAbandoned: a base stays an empty database until Finish.
func TestAbandoned(t *testing.T) {
	path := newBase(t, 4096)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Open(f, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		if err := l.Add(1, 1, make([]byte, 10_000)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(l.Flush(), l.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(path); err != nil || st.Size() < 9<<20 {
		t.Fatal("nothing was written")
	}
	db := open(t, path)
	defer db.Close()
	var n int
	if one(t, db, "SELECT count(*) FROM messages", &n); n != 0 {
		t.Errorf("%d rows", n)
	}
}
