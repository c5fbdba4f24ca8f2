package sqlite

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/internal/iox"
)

// TestRollback: a transaction that the proof refuses leaves every byte as it was and no journal; at the time of
// the proof the journal has all that was there. Committed, it counts, and the mode of the file stays.
func TestRollback(t *testing.T) {
	for _, wal := range []bool{false, true} {
		db := database(t, 500)
		if wal {
			db[headVersions], db[headVersions+1] = 2, 2
		}
		path := filepath.Join(t.TempDir(), "x.db")
		check(t, os.WriteFile(path, db, 0o600))
		f, err := iox.OS.OpenFile(path, os.O_RDWR, 0)
		check(t, err)
		defer f.Close()
		refused := errors.New("refused")
		for _, want := range []error{refused, nil} {
			r := &Rollback{FS: iox.OS, Path: path}
			d, err := Open(Options{File: Changed{Plain{f}, wal}, Foreign: true, Rollback: r})
			check(t, err)
			check(t, d.Exec("PRAGMA cache_size=5; PRAGMA temp_store=MEMORY; BEGIN; "+
				"INSERT INTO t(data) SELECT randomblob(5000) FROM t; DELETE FROM t WHERE id < 9"))
			asked := 0
			r.Prove = func() error {
				asked++
				journal, err := os.ReadFile(path + JournalSuffix)
				check(t, err)
				o, cut, err := ReadJournal(bytes.NewReader(journal), int64(len(journal)), 0)
				if err != nil || cut || o == nil || !o.Added || o.Pages*o.Page != int64(len(db)) {
					t.Errorf("the journal: %+v, cut %t, %v", o, cut, err)
				}
				st, err := f.Stat()
				check(t, err)
				now := NewImage(f, st.Size(), o.Pages*o.Page, o, bytes.NewReader(journal))
				was := make([]byte, len(db))
				check(t, iox.ReadFull(now, was, 0))
				was[headVersions], was[headVersions+1] = db[headVersions], db[headVersions+1]
				if !bytes.Equal(was, db) {
					t.Error("with the journal the database is not what it was")
				}
				return want
			}
			if err := d.Exec("COMMIT"); !errors.Is(err, want) || asked != 1 {
				t.Errorf("want %v: %v, asked %d times", want, err, asked)
			}
			check(t, d.Drop())
			if _, err := os.Stat(path + JournalSuffix); err == nil {
				t.Error("the journal is still there")
			}
			b, err := os.ReadFile(path)
			check(t, err)
			h, err := ParseHeader(b)
			check(t, err)
			if h.WAL != wal || (want != nil) != bytes.Equal(b, db) {
				t.Errorf("refused %t: a log %t, want %t; %d bytes, before %d", want != nil, h.WAL, wal, len(b), len(db))
			}
		}
	}
}
