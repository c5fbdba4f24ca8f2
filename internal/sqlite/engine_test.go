package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// database makes a file with a table of numbers and blobs.
func database(t testing.TB, rows int) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.db")
	f, err := iox.OS.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	check(t, err)
	d, err := Open(Options{File: Plain{f}})
	check(t, err)
	check(t, d.Exec("PRAGMA page_size=1024; PRAGMA journal_mode=OFF; CREATE TABLE t(id INTEGER PRIMARY KEY, text TEXT, "+
		"data BLOB); BEGIN"))
	s, err := d.Prepare("INSERT INTO t VALUES (?, ?, ?)")
	check(t, err)
	for i := range rows {
		check(t, s.Bind(int64(i), fmt.Sprint("row ", i), bytes.Repeat([]byte{byte(i)}, i*13%3000)))
		if more, err := s.Step(); more || err != nil {
			t.Fatal(more, err)
		}
		s.Reset()
	}
	s.Finalize()
	check(t, d.Exec("COMMIT; CREATE TRIGGER r AFTER INSERT ON t BEGIN DELETE FROM t; END"))
	check(t, d.Close())
	check(t, f.Close())
	b, err := os.ReadFile(path)
	check(t, err)
	return b
}

// TestEngine: what was written is read, from bytes that cannot be written.
func TestEngine(t *testing.T) {
	const rows = 300
	b := database(t, rows)
	size := int64(len(b))
	o := Options{File: NewImage(bytes.NewReader(b), size, size, nil, nil), ReadOnly: true, MaxValue: size}
	d, err := Open(o)
	check(t, err)
	n := 0
	check(t, d.Query("SELECT id, text, data FROM t WHERE id >= ? AND text <> ? ORDER BY id", func(s *Stmt) error {
		if !s.IsInt(0) || s.IsInt(1) || s.Text(1) != fmt.Sprint("row ", s.Int(0)) ||
			len(s.Bytes(2)) != int(s.Int(0))*13%3000 {
			t.Errorf("row %d: %q, %d bytes", s.Int(0), s.Text(1), len(s.Bytes(2)))
		}
		n++
		return nil
	}, int64(10), "row 20"))
	if n != rows-11 {
		t.Errorf("%d rows", n)
	}
	if v, ok, err := d.One("SELECT max(id) FROM t"); v != rows-1 || !ok || err != nil {
		t.Error(v, ok, err)
	}
	if _, ok, err := d.One("SELECT max(id) FROM t WHERE id > ?", int64(rows)); ok || err != nil {
		t.Error(ok, err)
	}
	stop := errors.New("stop")
	if err := d.Query("SELECT 1", func(*Stmt) error { return stop }); err != stop {
		t.Error(err)
	}
	for _, q := range []string{"INSERT INTO t VALUES (999, '', '')", "CREATE TABLE u(x)", "SELECT x FROM nowhere",
		"nonsense"} {
		if err := d.Run(q); err == nil {
			t.Errorf("%s is done", q)
		}
	}
	check(t, d.Close())
	if err := d.Exec("SELECT 1"); err == nil || !d.Dead() {
		t.Errorf("after Close: %v", err)
	}
}

// TestLimits: values and steps beyond what is allowed, and files that are none.
func TestLimits(t *testing.T) {
	b := database(t, 2000)
	run := func(b []byte, o Options, q string) error {
		size := int64(len(b))
		o.File, o.ReadOnly = NewImage(bytes.NewReader(b), size, size, nil, nil), true
		d, err := Open(o)
		if err == nil {
			err = errors.Join(d.Run(q), d.Close())
		}
		return err
	}
	if err := run(b, Options{MaxValue: 1 << 20}, "SELECT zeroblob(2000000)"); !errors.Is(err, storage.ErrUnsupported) {
		t.Error(err)
	}
	if err := run(b, Options{Budget: 50}, "SELECT count(*) FROM t a, t b WHERE a.id + b.id < 0"); err == nil {
		t.Error("4,000,000 rows with a budget of 50,000 steps")
	}
	check(t, run(b, Options{Budget: 50}, "SELECT count(*) FROM t"))
	for name, b := range map[string][]byte{"text": bytes.Repeat([]byte("no database "), 1000), "cut": b[:len(b)/2]} {
		if err := run(b, Options{}, "SELECT data FROM t"); !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// failing is a file with a page that the disk does not read.
type failing struct{ *bytes.Reader }

var errDisk = errors.New("the disk is broken")

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > 50<<10 {
		return 0, errDisk
	}
	return f.Reader.ReadAt(p, off)
}

// TestDisk: an error of the disk comes out as it is.
func TestDisk(t *testing.T) {
	b := database(t, 300)
	size := int64(len(b))
	d, err := Open(Options{File: NewImage(failing{bytes.NewReader(b)}, size, size, nil, nil), ReadOnly: true,
		MaxValue: size})
	check(t, err)
	if err := d.Run("SELECT data FROM t"); !errors.Is(err, errDisk) {
		t.Error(err)
	}
	check(t, d.Close())
}

// TestImage: a database with a log, or with a journal, reads as SQLite itself has it after
// recovery: without what was not committed.
func TestImage(t *testing.T) {
	for _, mode := range []string{"WAL", "DELETE"} {
		b, beside := unfinished(t, mode)
		var o *Overlay
		var err error
		if r := bytes.NewReader(beside); mode == "WAL" {
			o, err = ReadWAL(r, int64(len(beside)))
		} else {
			o, _, err = ReadJournal(r, int64(len(beside)), 512)
		}
		check(t, err)
		x := NewImage(bytes.NewReader(b), int64(len(b)), o.Pages*o.Page, o, bytes.NewReader(beside))
		d, err := Open(Options{File: x, ReadOnly: true, MaxValue: 1 << 20})
		check(t, err)
		for q, want := range map[string]int64{"SELECT count(*) FROM t": 60,
			"SELECT count(*) FROM t WHERE length(data) = 100": 60} {
			if n, _, err := d.One(q); n != want || err != nil {
				t.Errorf("%s, %s: %d, %v", mode, q, n, err)
			}
		}
		check(t, d.Query("PRAGMA integrity_check", func(s *Stmt) error {
			if s.Text(0) != "ok" {
				t.Errorf("%s: %s", mode, s.Text(0))
			}
			return nil
		}))
		check(t, d.Close())
		whole, other := make([]byte, o.Pages*o.Page), make([]byte, o.Pages*o.Page)
		if n, err := x.ReadAt(whole, 0); n != len(whole) || err != nil && err != io.EOF {
			t.Fatal(n, err)
		}
		for at, y := 0, x.Another(); at < len(other); at += 100 {
			if n, err := y.ReadAt(other[at:min(at+100, len(other))], int64(at)); err != nil && err != io.EOF || n == 0 {
				t.Fatal(n, err)
			}
		}
		if !bytes.Equal(whole, other) {
			t.Errorf("%s: another image of the same has other bytes", mode)
		}
	}
}

// TestHeader: headers that contradict themselves are damage.
func TestHeader(t *testing.T) {
	b := database(t, 5)
	h, err := ReadHeader(bytes.NewReader(b), int64(len(b)))
	if err != nil || h.Page != 1024 || h.Usable != 1024 || h.Size() != int64(len(b)) || h.WAL || h.Format != 4 ||
		h.Text != 1 {
		t.Errorf("%+v, %v", h, err)
	}
	for name, c := range map[string]struct {
		at    int
		value byte
		ok    bool
	}{"magic": {3, 'x', false}, "page size": {17, 3, false}, "reserved": {20, 255, true}, "counter": {27, 99, true},
		"log": {18, 2, true}} {
		x := bytes.Clone(b)
		x[c.at] = c.value
		h, err := ParseHeader(x)
		if (err == nil) != c.ok || err != nil && !errors.Is(err, storage.ErrCorrupt) || name == "counter" && h.Size() != 0 ||
			name == "log" && !h.WAL {
			t.Errorf("%s: %+v, %v", name, h, err)
		}
	}
	if _, err := ReadHeader(bytes.NewReader(b[:99]), 99); !errors.Is(err, storage.ErrTruncated) {
		t.Error(err)
	}
}
