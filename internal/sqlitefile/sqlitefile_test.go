package sqlitefile

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/bagconv/bagconv/storage"
)

type row struct {
	topic, time int64
	data        []byte
}

// base makes an empty database with the library.
func base(t testing.TB, pageSize int) (path string, b Base) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "x.db3")
	db := open(t, path)
	defer db.Close()
	exec1(t, db, fmt.Sprintf("PRAGMA page_size=%d", pageSize))
	exec1(t, db, "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT)")
	exec1(t, db, "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, timestamp INTEGER NOT NULL, data BLOB NOT NULL)")
	exec1(t, db, "CREATE INDEX timestamp_idx ON messages (timestamp ASC)")
	b.PageSize = pageSize
	one(t, db, "SELECT rootpage FROM sqlite_master WHERE name = 'messages'", &b.TableRoot)
	one(t, db, "SELECT rootpage FROM sqlite_master WHERE name = 'timestamp_idx'", &b.IndexRoot)
	one(t, db, "PRAGMA page_count", &b.Pages)
	return path, b
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

// load writes rows with a lock page of the test's choice (0: the real one).
func load(t testing.TB, path string, b Base, lock uint32, rows []row) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if lock == 0 {
		lock = uint32(lockByte/b.PageSize) + 1
	}
	l, err := newLoader(f, b, lock)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if err := l.Add(r.topic, r.time, r.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Flush(); err != nil {
		t.Fatal(err)
	}
	if indexed, err := l.Finish(); err != nil || !indexed {
		t.Fatal(indexed, err)
	}
}

// check holds a loaded database against its rows: the library's own check, every
// row, the order of the index, and that it can go on living.
func check(t *testing.T, path string, rows []row, live bool) {
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
		if n >= len(rows) || id != int64(n)+1 || topic != rows[n].topic || time != rows[n].time || !bytes.Equal(data, rows[n].data) {
			t.Fatalf("row %d is %d, %d, %d, %d bytes", n, id, topic, time, len(data))
		}
		n++
	}
	if err := list.Err(); err != nil || n != len(rows) {
		t.Fatalf("%d rows, want %d: %v", n, len(rows), err)
	}
	var indexed int
	if one(t, db, "SELECT count(*) FROM messages INDEXED BY timestamp_idx WHERE timestamp >= -9223372036854775808", &indexed); indexed != len(rows) {
		t.Fatalf("the index has %d entries, want %d", indexed, len(rows))
	}
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

func cliCheck(t *testing.T, path string) {
	t.Helper()
	exe, err := exec.LookPath("sqlite3")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("sqlite3 is missing, and CI must have it")
		}
		return
	}
	if out, err := exec.Command(exe, path, "pragma integrity_check").CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "ok" {
		t.Fatalf("sqlite3: %v %s", err, out)
	}
}

// times makes the times of rows in each of the ways that matter to the index.
var times = map[string]func(r *rand.Rand, i int) int64{
	"ascending": func(_ *rand.Rand, i int) int64 { return 1_700_000_000_000_000_000 + int64(i)*1_000_003 },
	"jittered":  func(r *rand.Rand, i int) int64 { return 1_700_000_000_000_000_000 + int64(i)*1000 + r.Int64N(50_000) },
	"equal":     func(*rand.Rand, int) int64 { return 5 },
	"edges": func(r *rand.Rand, i int) int64 {
		e := []int64{0, 1, -1, 127, 128, -128, -129, 32767, 32768, 1 << 23, 1<<31 - 1, -1 << 31, 1 << 47, math.MinInt64, math.MaxInt64}
		return e[r.IntN(len(e))]
	},
	"random": func(r *rand.Rand, _ int) int64 { return int64(r.Uint64()) },
}

// TestSizes: rows of every size around the thresholds at which a row spills.
func TestSizes(t *testing.T) {
	for _, u := range []int{512, 1024, 4096, 65536} {
		most, least := u-35, (u-12)*32/255-23
		var sizes []int
		for _, at := range []int{0, 30, most, least, least + u - 4, most + u - 4, least + 2*(u-4), u, 2 * u, 7*u + 100} {
			for d := -30; d <= 30; d++ {
				if at+d >= 0 {
					sizes = append(sizes, at+d)
				}
			}
		}
		for name, at := range times {
			r := rand.New(rand.NewPCG(uint64(u), 1))
			var rows []row
			for i, n := range sizes {
				rows = append(rows, row{int64(i % 300), at(r, i), fill(r, n)})
			}
			r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
			path, b := base(t, u)
			load(t, path, b, 0, rows)
			check(t, path, rows, name == "jittered")
			if name == "jittered" {
				cliCheck(t, path)
			}
		}
	}
}

func fill(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// TestCounts: every number of rows, so that levels begin and end at every place.
func TestCounts(t *testing.T) {
	step := 7
	switch {
	case os.Getenv("BAGCONV_EXHAUSTIVE") != "":
		step = 1
	case testing.Short():
		step = 37
	}
	for _, size := range []int{0, 60} {
		for n := 0; n <= 3600; n += step {
			r := rand.New(rand.NewPCG(uint64(n), 2))
			rows := make([]row, n)
			for i := range rows {
				rows[i] = row{int64(i), times[[]string{"ascending", "random"}[n&1]](r, i), fill(r, size)}
			}
			path, b := base(t, 512)
			load(t, path, b, 0, rows)
			check(t, path, rows, n%100 == 0)
		}
	}
}

// TestDeep: trees of many levels.
func TestDeep(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for _, n := range []int{5000, 20_011, 41_000} {
		rows := make([]row, n)
		for i := range rows {
			rows[i] = row{3, times["random"](r, i), fill(r, 20)}
		}
		path, b := base(t, 512)
		load(t, path, b, 0, rows)
		check(t, path, rows, true)
		cliCheck(t, path)
	}
}

// TestLockPage: the structure around a page that may not be used, at a number
// that a small file reaches. SQLite knows only the real one, so the file is read
// with the page filled by a number that nothing points to.
func TestLockPage(t *testing.T) {
	for lock := uint32(6); lock < 60; lock++ {
		r := rand.New(rand.NewPCG(uint64(lock), 5))
		rows := make([]row, 300)
		for i := range rows {
			rows[i] = row{1, times["ascending"](r, i), fill(r, r.IntN(900))}
		}
		path, b := base(t, 512)
		load(t, path, b, lock, rows)
		db := open(t, path)
		var s string
		one(t, db, "PRAGMA integrity_check", &s)
		db.Close()
		// The one complaint is the page that we left out.
		if s = strings.TrimPrefix(s, "*** in database main ***\n"); !strings.HasSuffix(s, fmt.Sprintf("age %d: never used", lock)) || strings.Count(s, "\n") > 0 {
			t.Fatalf("lock page %d: %s", lock, s)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		p := make([]byte, 512)
		_, err = f.ReadAt(p, int64(lock-1)*512)
		f.Close()
		if err != nil || !bytes.Equal(p, make([]byte, 512)) {
			t.Errorf("lock page %d is not zero", lock)
		}
	}
}

// TestPastLockPage goes past the real one, at 1 GiB.
func TestPastLockPage(t *testing.T) {
	if testing.Short() || os.Getenv("BAGCONV_EXHAUSTIVE") == "" {
		t.Skip("writes 1.1 GB; BAGCONV_EXHAUSTIVE=1 runs it")
	}
	path, b := base(t, 4096)
	rows := make([]row, 1100)
	data := fill(rand.New(rand.NewPCG(1, 1)), 1_000_000)
	for i := range rows {
		rows[i] = row{1, int64(i), data}
	}
	load(t, path, b, 0, rows)
	check(t, path, rows, false)
	cliCheck(t, path)
}

// TestBuffers: handing buffers out gives the same file.
func TestBuffers(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	rows := make([]row, 4000)
	for i := range rows {
		rows[i] = row{1, times["jittered"](r, i), fill(r, r.IntN(3000))}
	}
	path, b := base(t, 4096)
	load(t, path, b, 0, rows)
	other, b := base(t, 4096)
	f, err := os.OpenFile(other, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l, err := NewLoader(f, b)
	if err != nil {
		t.Fatal(err)
	}
	var pending []storage.PendingBlock
	write := func() {
		for _, p := range pending {
			if err := errors.Join(p.Encode(), p.Append()); err != nil {
				t.Fatal(err)
			}
		}
		pending = nil
	}
	l.OnBuffer(func(p storage.PendingBlock) error {
		if pending = append(pending, p); len(pending) == 3 {
			write()
		}
		return nil
	})
	for _, r := range rows {
		if err := l.Add(r.topic, r.time, r.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Flush(); err != nil {
		t.Fatal(err)
	}
	write()
	if _, err := l.Finish(); err != nil {
		t.Fatal(err)
	}
	x, _ := os.ReadFile(path)
	y, _ := os.ReadFile(other)
	if len(x) == 0 || !bytes.Equal(x, y) {
		t.Error("another file")
	}
	if err := l.Add(1, 1, nil); err == nil {
		t.Error("Add after Finish succeeds")
	}
}

func TestRefused(t *testing.T) {
	path, b := base(t, 4096)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, wrong := range []Base{{}, {PageSize: 1000, Pages: b.Pages, TableRoot: 3, IndexRoot: 4}, {PageSize: 4096, Pages: b.Pages + 1, TableRoot: 3, IndexRoot: 4}} {
		if _, err := NewLoader(f, wrong); err == nil {
			t.Errorf("%+v is taken", wrong)
		}
	}
	l, err := NewLoader(f, b)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Add(1, 1, make([]byte, maxRow)); !errors.Is(err, storage.ErrUnsupported) {
		t.Errorf("a huge row: %v", err)
	}
	if err := l.Add(1, 1, nil); err == nil {
		t.Error("goes on after an error")
	}
}

func BenchmarkLoad(b *testing.B) {
	for _, size := range []int{100, 320, 4096, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			path, base := base(b, 4096)
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			data := make([]byte, size)
			n := max(64<<20/(size+20), 100)
			b.SetBytes(int64(n * size))
			b.ReportAllocs()
			for b.Loop() {
				l, err := newLoader(f, base, uint32(lockByte/4096)+1)
				if err != nil {
					b.Fatal(err)
				}
				for i := range n {
					if err := l.Add(1, int64(i), data); err != nil {
						b.Fatal(err)
					}
				}
				if err := l.Flush(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}
