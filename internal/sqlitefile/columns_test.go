package sqlitefile

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
)

// TestSalvageColumns: rows of a table with other columns, in another order, come out of
// its pages when the root of the tree is gone.
func TestSalvageColumns(t *testing.T) {
	for name, create := range map[string]string{
		"more after":  `CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, timestamp INTEGER NOT NULL, data BLOB NOT NULL, note TEXT, size DECIMAL(10,2))`,
		"other order": `CREATE TABLE messages(timestamp INTEGER, topic_id INTEGER, "id" INTEGER PRIMARY KEY, data BLOB)`,
		"before":      `CREATE TABLE messages(note TEXT DEFAULT 'a,(b', id INTEGER PRIMARY KEY, size INT, [topic_id] INTEGER, timestamp INTEGER, data BLOB, CHECK (size > 0))`,
		"without id":  `CREATE TABLE messages(topic_id INTEGER, timestamp INTEGER, data BLOB)`,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db3")
			db, err := sql.Open("sqlite", "file:"+path+"?_pragma=page_size(1024)&_pragma=synchronous(OFF)")
			if err != nil {
				t.Fatal(err)
			}
			exec1(t, db, create)
			extra := ""
			if name == "more after" || name == "before" {
				extra = ", note, size"
			}
			exec1(t, db, "BEGIN")
			var want []idRow
			for i := range 300 {
				data := bytes.Repeat([]byte{byte(i)}, i*i%5000)
				args := []any{i % 7, 1000 + i, data}
				if extra != "" {
					args = append(args, fmt.Sprint("note ", i, string(make([]byte, i%900))), i+1)
				}
				exec1(t, db, "INSERT INTO messages (topic_id, timestamp, data"+extra+") VALUES (?, ?, ?"+
					map[bool]string{true: ", ?, ?"}[extra != ""]+")", args...)
				want = append(want, idRow{int64(i + 1), int64(i % 7), int64(1000 + i), string(data)})
			}
			exec1(t, db, "COMMIT")
			var root int
			one(t, db, "SELECT rootpage FROM sqlite_master WHERE name='messages'", &root)
			db.Close()
			b := readFile(t, path)
			if _, err := NewTable(bytes.NewReader(b), int64(len(b))); !errors.Is(err, ErrDeclined) {
				t.Fatalf("the table is not declined: %v", err)
			}
			clear(b[(root-1)*1024:][:1024])
			rows, s, err := salvage(b, 50_000)
			if err != nil {
				t.Fatal(err)
			}
			if name == "before" { // a long note takes the topic out of the leaf
				want = slices.DeleteFunc(want, func(w idRow) bool { return !slices.Contains(rows, w) })
				if len(want) < 200 {
					t.Errorf("%d rows", len(want))
				}
			}
			if !slices.Equal(rows, want) {
				t.Errorf("%d rows, want %d", len(rows), len(want))
			}
			if s.Found.First != 1000 || len(s.Found.Topics) != 7 {
				t.Errorf("from %d, topics %v", s.Found.First, s.Found.Topics)
			}
		})
	}
}

// FuzzColumns: any record is decoded without harm, and what is decoded lies in it.
func FuzzColumns(f *testing.F) {
	f.Add([]byte{5, 0, 1, 1, 14, 3, 4, 'x'}, 1, 2, 3)
	f.Add([]byte{6, 15, 0, 1, 1, 14, 'n', 3, 4, 'x'}, 2, 3, 4)
	f.Fuzz(func(t *testing.T, rec []byte, topic, time, data int) {
		var m message
		c := columns{topic, time, data}
		if c.parse(rec, len(rec), &m) == isMessage && (m.start < 0 || m.size < 0 || m.start+m.size > len(rec)) {
			t.Errorf("%d bytes at %d of %d", m.size, m.start, len(rec))
		}
	})
}
