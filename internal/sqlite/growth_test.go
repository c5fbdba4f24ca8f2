package sqlite

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// grow runs statements on a database, and returns the file behind which all that changes was
// written, and its new first page.
func grow(t *testing.T, db []byte, sql string) (file, first []byte, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.db")
	check(t, os.WriteFile(path, db, 0o600))
	f, err := iox.OS.OpenFile(path, os.O_RDWR, 0)
	check(t, err)
	defer f.Close()
	aside, err := iox.TempFile(iox.OS, t.TempDir())
	check(t, err)
	defer aside.Close()
	h, err := ParseHeader(db)
	check(t, err)
	g, err := NewGrowth(f, h, aside)
	if err != nil {
		return nil, nil, err
	}
	d, err := Open(Options{File: g, Foreign: true})
	check(t, err)
	defer d.Close()
	check(t, d.Exec("PRAGMA journal_mode=OFF; PRAGMA locking_mode=EXCLUSIVE; PRAGMA temp_store=MEMORY; BEGIN; "+sql+
		"; COMMIT"))
	if first, _, err = g.Move(d); err != nil {
		return nil, nil, err
	}
	file, err = os.ReadFile(path)
	check(t, err)
	return file, first, nil
}

// rows counts those of t in a database of these bytes, after a check of all of it.
func rows(t *testing.T, b []byte) int64 {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.db")
	check(t, os.WriteFile(path, b, 0o600))
	f, err := iox.OS.Open(path)
	check(t, err)
	defer f.Close()
	d, err := Open(Options{File: Plain{f}, ReadOnly: true})
	check(t, err)
	defer d.Close()
	check(t, d.Query("PRAGMA integrity_check", func(s *Stmt) error {
		if text := s.Text(0); text != "ok" {
			t.Errorf("integrity_check: %s", text)
		}
		return nil
	}))
	n, _, err := d.One("SELECT count(*) FROM t")
	check(t, err)
	return n
}

// TestGrowth: until page 1 is overwritten the database is what it was, byte for byte, whatever
// the engine has changed; then it is what the engine has made.
func TestGrowth(t *testing.T) {
	db := database(t, 500)
	for name, c := range map[string]struct {
		sql  string
		want int64
	}{
		"at the end":    {"INSERT INTO t(data) SELECT randomblob(5000) FROM t", 1000},
		"another table": {"CREATE TABLE u(a); INSERT INTO u SELECT data FROM t", 500},
		"an index":      {"CREATE INDEX i ON t(text); INSERT INTO t(text) SELECT text FROM t", 1000},
		"deleted":       {"DELETE FROM t WHERE id < 400", 100},
		"emptied":       {"DELETE FROM t", 0},
		"nothing":       {"SELECT 1", 500},
	} {
		file, first, err := grow(t, db, c.sql)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !bytes.HasPrefix(file, db) {
			t.Errorf("%s: bytes that were there have changed", name)
		}
		if n := rows(t, file); n != 500 {
			t.Errorf("%s: %d rows before the end", name, n)
		}
		copy(file, first)
		if n := rows(t, file); n != c.want {
			t.Errorf("%s: %d rows, want %d", name, n, c.want)
		}
	}
}

// TestGrowthRefused: pages that became free and are data now have no place in a tree.
func TestGrowthRefused(t *testing.T) {
	db := database(t, 500)
	_, _, err := grow(t, db, "DELETE FROM t WHERE id < 400; INSERT INTO t(data) VALUES (randomblob(50000))")
	if !errors.Is(err, storage.ErrUnsupported) {
		t.Errorf("%v", err)
	}
	b := bytes.Clone(db)
	b[55] = 1 // auto-vacuum
	if _, _, err := grow(t, b, "SELECT 1"); !errors.Is(err, storage.ErrUnsupported) {
		t.Errorf("auto-vacuum: %v", err)
	}
	b = bytes.Clone(db)
	b[95]++ // another change than that of the number of pages
	if _, _, err := grow(t, b, "SELECT 1"); !errors.Is(err, storage.ErrUnsupported) {
		t.Errorf("number of pages: %v", err)
	}
}
