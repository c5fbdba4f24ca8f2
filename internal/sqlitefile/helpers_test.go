package sqlitefile

import (
	"bytes"
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/storage"
	_ "modernc.org/sqlite"
)

type row struct {
	topic, time int64
	data        []byte
}

const (
	createTopics   = "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT)"
	createMessages = "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, timestamp INTEGER NOT " +
		"NULL, data BLOB NOT NULL)"
	createIndex = "CREATE INDEX timestamp_idx ON messages (timestamp ASC)"
)

// newBase makes an empty database with the library. more is SQL to run at its end.
func newBase(t testing.TB, pageSize int, more ...string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "x.db3")
	db := open(t, path)
	defer db.Close()
	exec1(t, db, fmt.Sprintf("PRAGMA page_size=%d; PRAGMA synchronous=OFF", pageSize))
	exec1(t, db, strings.Join([]string{createTopics, createMessages, createIndex}, ";"))
	for _, q := range more {
		exec1(t, db, q)
	}
	return path
}

func open(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	return db
}

func exec1(t testing.TB, db *sql.DB, q string, args ...any) {
	t.Helper()
	if _, err := db.Exec(q, args...); err != nil {
		t.Fatalf("%s: %v", q, err)
	}
}

func one(t testing.TB, db *sql.DB, q string, to any) {
	t.Helper()
	if err := db.QueryRow(q).Scan(to); err != nil {
		t.Fatalf("%s: %v", q, err)
	}
}

// insert writes rows with the library.
func insert(t testing.TB, db *sql.DB, rows []row) {
	t.Helper()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	s, err := tx.Prepare("INSERT INTO messages(topic_id, timestamp, data) VALUES (?, ?, ?)")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		data := r.data
		if data == nil {
			data = []byte{}
		}
		if _, err := s.Exec(r.topic, r.time, data); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

// way has options of loading, beyond the usual.
type way struct {
	Options
	lock    uint32 // 0: the real one
	hook    bool   // buffers are handed out
	points  int    // after so many rows there is a Checkpoint; 0: never
	unended bool   // it is left as if the process had been killed
}

// load writes rows with a Loader.
func load(t testing.TB, path string, w way, rows []row) {
	t.Helper()
	if err := tryLoad(path, w, rows, func(path string) (storage.File, error) {
		return os.OpenFile(path, os.O_RDWR,
			0)
	}); err != nil {
		t.Fatal(err)
	}
}

func tryLoad(path string, w way, rows []row, openFile func(string) (storage.File, error)) (err error) {
	f, err := openFile(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b, err := findBase(f)
	if err != nil {
		return err
	}
	if w.lock == 0 {
		w.lock = uint32(sqlite.LockByte/b.page) + 1
	}
	l := newLoader(f, b, w.Options, w.lock)
	defer func() { err = errors.Join(err, l.Close()) }()
	var pending []storage.PendingBlock
	write := func() (err error) {
		for _, p := range pending {
			err = errors.Join(err, p.Encode(), p.Append())
		}
		pending = nil
		return err
	}
	if w.hook {
		l.OnBuffer(func(p storage.PendingBlock) error {
			if pending = append(pending, p); len(pending) == 3 {
				return write()
			}
			return nil
		})
	}
	for i, r := range rows {
		if err = l.Add(r.topic, r.time, r.data); err != nil {
			return err
		}
		if w.points > 0 && (i+1)%w.points == 0 {
			if err = l.Checkpoint(smallRows(i)); err != nil {
				return err
			}
		}
	}
	if w.unended {
		return l.flushBuffer()
	}
	if err := errors.Join(l.Flush(), write()); err != nil {
		return err
	}
	if err := l.Finish(); err != nil {
		return err
	}
	return Free(f, b.page, l.Spare())
}

// check compares a loaded database with its rows: the library's own check, every
// row, every entry of the index in its order, and that it can go on living.
func check(t testing.TB, path string, rows []row, live bool) {
	t.Helper()
	db := open(t, path)
	defer db.Close()
	ok := func(when string) {
		t.Helper()
		var s string
		if one(t, db, "PRAGMA integrity_check", &s); s != "ok" {
			t.Fatalf("%s: integrity_check: %.300s", when, s)
		}
	}
	ok("loaded")
	list, err := db.Query("SELECT id, topic_id, timestamp, data FROM messages ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for list.Next() {
		var id, topic, time int64
		var data []byte
		if err := list.Scan(&id, &topic, &time, &data); err != nil {
			t.Fatal(err)
		}
		if n >= len(rows) || id != int64(n)+1 || topic != rows[n].topic || time != rows[n].time ||
			!bytes.Equal(data, rows[n].data) {
			t.Fatalf("row %d is %d, %d, %d, %d bytes", n, id, topic, time, len(data))
		}
		n++
	}
	if err := list.Err(); err != nil || n != len(rows) {
		t.Fatalf("%d rows, want %d: %v", n, len(rows), err)
	}
	checkIndex(t, db, rows)
	if !live {
		return
	}
	for i := range 60 {
		exec1(t, db, "INSERT INTO messages(topic_id, timestamp, data) VALUES (1, ?, ?)", i*1000, make([]byte, i*97))
	}
	exec1(t, db, "INSERT INTO topics(name) VALUES (?)", strings.Repeat("x", 20_000))
	ok("after inserts")
	exec1(t, db, "DELETE FROM messages WHERE id % 3 = 0")
	ok("after deletes")
	exec1(t, db, "VACUUM")
	ok("after VACUUM")
}

// checkIndex reads the index alone.
func checkIndex(t testing.TB, db *sql.DB, rows []row) {
	t.Helper()
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rows[a].time, rows[b].time) })
	list, err := db.Query("SELECT rowid, timestamp FROM messages INDEXED BY timestamp_idx ORDER BY timestamp, rowid")
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	n := 0
	for ; list.Next(); n++ {
		var id, time int64
		if err := list.Scan(&id, &time); err != nil {
			t.Fatal(err)
		}
		if n >= len(rows) || id != int64(order[n])+1 || time != rows[order[n]].time {
			t.Fatalf("entry %d of the index is row %d at %d", n, id, time)
		}
	}
	if err := list.Err(); err != nil || n != len(rows) {
		t.Fatalf("the index has %d entries, want %d: %v", n, len(rows), err)
	}
}

// cli runs SQL with the C library's command line, on a copy of the file, and
// wants its last line to be "ok".
func cli(t testing.TB, path, script string) {
	t.Helper()
	exe, err := exec.LookPath("sqlite3")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("sqlite3 is missing, and CI must have it")
		}
		return
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	path += ".copy"
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(path)
	out, err := exec.Command(exe, "-bail", path, script).CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || lines[len(lines)-1] != "ok" {
		t.Fatalf("sqlite3: %v %.500s", err, out)
	}
}

// runCLI makes or changes a database with the C library's command line, if there
// is one.
func runCLI(t testing.TB, path, script string) bool {
	t.Helper()
	exe, err := exec.LookPath("sqlite3")
	if err != nil {
		return false
	}
	c := exec.Command(exe, "-bail", path)
	c.Stdin = strings.NewReader(script)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("sqlite3: %v %.500s", err, out)
	}
	return true
}

// cliLife is what a database may be put through.
const cliLife = `PRAGMA integrity_check; PRAGMA journal_mode=WAL;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<600)
INSERT INTO messages(topic_id, timestamp, data) SELECT 1, i*7919%1000-500, zeroblob(i*13%2000) FROM n;
PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode=DELETE; DELETE FROM messages WHERE id%5=2;
INSERT INTO topics(name) VALUES (hex(zeroblob(20000))); REINDEX; ANALYZE; PRAGMA integrity_check; VACUUM; PRAGMA integrity_check`

// timeKinds makes the times of rows in each of the ways that matter to the index.
var timeKinds = map[string]func(r *rand.Rand, i int) int64{
	"ascending": func(_ *rand.Rand, i int) int64 { return 1_700_000_000_000_000_000 + int64(i)*1_000_003 },
	"jittered":  func(r *rand.Rand, i int) int64 { return 1_700_000_000_000_000_000 + int64(i)*1000 + r.Int64N(50_000) },
	"negative":  func(_ *rand.Rand, i int) int64 { return -1_000_000 + int64(i)*999 },
	"equal":     func(*rand.Rand, int) int64 { return 5 },
	"edges": func(r *rand.Rand, _ int) int64 {
		e := []int64{0, 1, -1, 127, 128, -128, -129, 32767, 32768, 1 << 23, 1<<31 - 1, -1 << 31, 1 << 47, -1<<47 - 1,
			math.MinInt64, math.MaxInt64}
		return e[r.IntN(len(e))]
	},
	"random": func(r *rand.Rand, _ int) int64 { return int64(r.Uint64()) },
}

func fill(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// rows makes n of them, of up to size bytes.
func makeRows(seed uint64, n, size int, kind string) []row {
	r := rand.New(rand.NewPCG(seed, 1))
	rows := make([]row, n)
	for i := range rows {
		rows[i] = row{int64(r.IntN(300)) - 2, timeKinds[kind](r, i), fill(r, r.IntN(size+1))}
	}
	return rows
}

// edgeSizes are the sizes around which a row spills differently, for pages of u
// usable bytes.
func edgeSizes(u, around int) (sizes []int) {
	most, least := u-35, (u-12)*32/255-23
	for _, at := range []int{0, 30, most, least, least + u - 4, most + u - 4, least + 2*(u-4), u, 2 * u, 7*u + 100} {
		for d := -around; d <= around; d++ {
			if at+d >= 0 {
				sizes = append(sizes, at+d)
			}
		}
	}
	return sizes
}
