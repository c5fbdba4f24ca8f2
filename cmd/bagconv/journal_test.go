package main

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"
)

// TestRecoverJournal: a database that was stopped in a transaction converts to what was
// committed, and recover takes what was not.
func TestRecoverJournal(t *testing.T) {
	dir := t.TempDir()
	live, stopped := filepath.Join(dir, "live.db3"), filepath.Join(dir, "stopped.db3")
	convert(t, "../../testdata/tiny.bag", live)
	_, whole := read(t, live)
	d, err := sql.Open("sqlite", "file:"+live+"?_pragma=cache_size(5)&_pragma=cache_spill(2)&_pragma=synchronous(OFF)")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	d.SetMaxOpenConns(1)
	for _, q := range []string{"BEGIN", "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i<99) " +
		"INSERT INTO messages (topic_id, timestamp, data) SELECT topic_id, timestamp, data FROM messages, n WHERE id=1"} {
		if _, err := d.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	for _, suffix := range []string{"", "-journal"} {
		b, err := os.ReadFile(live + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(stopped+suffix, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	plain, saved := filepath.Join(dir, "plain.bag"), filepath.Join(dir, "saved.bag")
	if status, text := bagconv(t, stopped, plain); status != 3 || !strings.Contains(text, "bagconv recover") {
		t.Errorf("convert: exit status %d: %s", status, text)
	}
	if _, got := read(t, plain); len(got) != len(whole) {
		t.Errorf("converted %d messages of %d", len(got), len(whole))
	}
	if status, text := bagconv(t, "recover", stopped, saved); status != 3 {
		t.Errorf("recover: exit status %d: %s", status, text)
	}
	if _, got := read(t, saved); len(got) <= len(whole) || len(got) > len(whole)+100 {
		t.Errorf("recovered %d messages of %d and up to 100 more", len(got), len(whole))
	}
}
