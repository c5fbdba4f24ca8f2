package sqlite

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite"
)

// unfinished returns a database of pages of 512 bytes in the middle of a transaction, and
// what SQLite has beside it: a rollback journal, or in mode WAL a log with a transaction that was
// committed and one that was not.
func unfinished(t testing.TB, mode string) (db, beside []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.db")
	d, err := sql.Open("sqlite", "file:"+path)
	check(t, err)
	defer d.Close()
	d.SetMaxOpenConns(1)
	for _, q := range []string{
		"PRAGMA page_size=512", "PRAGMA journal_mode=" + mode, "PRAGMA cache_size=10", "PRAGMA cache_spill=5",
		"CREATE TABLE t(id INTEGER PRIMARY KEY, data BLOB)",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<60) INSERT INTO t SELECT i, randomblob(100) " +
			"FROM n",
		"BEGIN",
		"UPDATE t SET data = randomblob(101)",
	} {
		_, err := d.Exec(q)
		check(t, err)
	}
	db, err = os.ReadFile(path)
	check(t, err)
	beside, err = os.ReadFile(path + map[bool]string{true: "-wal", false: "-journal"}[mode == "WAL"])
	check(t, err)
	return db, beside
}

// FuzzWAL: any log is read without harm, and no page of it lies outside.
func FuzzWAL(f *testing.F) {
	_, b := unfinished(f, "WAL")
	o, err := ReadWAL(bytes.NewReader(b), int64(len(b)))
	if err != nil || o.Page != 512 || o.Pages < 10 || len(o.At) < 10 || !o.Unfinished() {
		f.Fatalf("%+v, %v", o, err)
	}
	f.Add(b)
	f.Add(b[:walHeaderLen+3*(walFrameLen+512)])
	f.Fuzz(func(t *testing.T, b []byte) {
		w, err := ReadWAL(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		for n, at := range w.At {
			if n < 0 || at+w.Page > int64(len(b)) {
				t.Fatalf("page %d at %d", n, at)
			}
		}
	})
}

// FuzzJournal: any journal is read without harm, and no page of it lies outside.
func FuzzJournal(f *testing.F) {
	_, j := unfinished(f, "DELETE")
	if o, _, err := ReadJournal(bytes.NewReader(j), int64(len(j)), 512); err != nil || o == nil || len(o.At) < 10 {
		f.Fatalf("%+v, %v", o, err)
	}
	f.Add(j[:min(len(j), 4096)], int64(512))
	f.Add(bytes.Join([][]byte{j[:512+520], make([]byte, 1024-520), j[:512+520]}, nil), int64(0))
	f.Fuzz(func(t *testing.T, b []byte, page int64) {
		if _, err := SuperJournal(bytes.NewReader(b), int64(len(b))); err != nil {
			t.Fatal(err)
		}
		o, _, err := ReadJournal(bytes.NewReader(b), int64(len(b)), page)
		if err != nil {
			t.Fatal(err)
		}
		if o == nil {
			return
		}
		for n, at := range o.At {
			if n < 0 || n >= o.Pages || at+o.Page > int64(len(b)) {
				t.Fatalf("page %d at %d", n, at)
			}
		}
	})
}
