package sqlitefile

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/sqlite"
)

func pagesOf(t testing.TB, b []byte) (list []Page) {
	t.Helper()
	h, err := sqlite.ReadHeader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil
	}
	for p, err := range Pages(context.Background(), bytes.NewReader(b), int64(len(b)), h) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	if len(list) != len(b)/h.Page {
		t.Fatalf("%d pages of %d bytes in %d bytes", len(list), h.Page, len(b))
	}
	return list
}

// TestPages compares the list of pages with SQLite's own, dbstat.
func TestPages(t *testing.T) {
	for name, more := range map[string][]string{
		"plain": {"INSERT INTO topics VALUES (1, '/a')"},
		"unique": {"CREATE TABLE n(t TEXT PRIMARY KEY)", "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c " +
			"WHERE i<50) INSERT INTO n SELECT i || hex(zeroblob(i*20)) FROM c"},
	} {
		for _, size := range []int{512, 4096} {
			path := newBase(t, size, more...)
			db := open(t, path)
			exec1(t, db, "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<400) INSERT INTO messages "+
				"SELECT i, 1, i*7, zeroblob(i*i/20) FROM c")
			exec1(t, db, "DELETE FROM messages WHERE id BETWEEN 200 AND 300")
			rows, err := db.Query("SELECT name, pageno, pagetype, ncell FROM dbstat ORDER BY pageno")
			if err != nil {
				t.Fatal(err)
			}
			var want, got strings.Builder
			for rows.Next() {
				var object, kind string
				var no, cells int
				if err := rows.Scan(&object, &no, &kind, &cells); err != nil {
					t.Fatal(err)
				}
				if object == "sqlite_master" {
					object = "sqlite_schema"
				}
				if kind == PageOverflow {
					cells = -1
				}
				fmt.Fprintln(&want, object, no, kind, cells)
			}
			if err := rows.Err(); err != nil {
				t.Fatal(err)
			}
			var free int
			if err := db.QueryRow("PRAGMA freelist_count").Scan(&free); err != nil {
				t.Fatal(err)
			}
			_ = db.Close()
			for _, p := range pagesOf(t, readFile(t, path)) {
				if p.Broken != "" {
					t.Errorf("%s: page %d: %s", name, p.No, p.Broken)
				}
				if p.Kind == PageFree || p.Kind == PageTrunk {
					free--
					continue
				}
				fmt.Fprintln(&got, p.Object, p.No, p.Kind, p.Cells)
			}
			if got.String() != want.String() || free != 0 {
				t.Errorf("%s, %d: %d free pages differ, pages are\n%.3000s\nand by SQLite\n%.3000s", name, size, free, got.String(),
					want.String())
			}
		}
	}
}

// TestPagesVacuum lists the pages of pointers of an auto-vacuum database.
func TestPagesVacuum(t *testing.T) {
	b := pagesOf(t, readFile(t, newBase(t, 512, "PRAGMA auto_vacuum=1", "VACUUM",
		"INSERT INTO messages VALUES (1, 1, 1, zeroblob(200000))")))
	pointers := 0
	for _, p := range b {
		if p.Broken != "" {
			t.Errorf("page %d: %s", p.No, p.Broken)
		}
		if p.Kind == PagePointers {
			pointers++
		}
	}
	if pointers < 3 {
		t.Errorf("%d pages of pointers among %d", pointers, len(b))
	}
}

// FuzzPages lists the pages of any bytes.
func FuzzPages(f *testing.F) {
	path := newBase(f, 512)
	load(f, path, way{}, append(makeRows(1, 60, 100, "ascending"), row{1, 1, make([]byte, 3000)}))
	b := readFile(f, path)
	f.Add(b)
	f.Add(b[:len(b)-100])
	for _, at := range []int{105, 520, 1030, 1536, 2100} {
		flipped := bytes.Clone(b)
		flipped[at] ^= 0xff
		f.Add(flipped)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, p := range pagesOf(t, b) {
			if p.Kind == "" && p.Broken == "" {
				t.Fatalf("nothing is known of page %d", p.No)
			}
		}
	})
}
