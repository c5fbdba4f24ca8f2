package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite"
)

// stripped returns a copy of a folder whose db3 files have lost their definitions and type hashes,
// "" if they had none.
func stripped(t *testing.T, folder, to string) string {
	t.Helper()
	if st, err := os.Stat(folder); err != nil || !st.IsDir() {
		return ""
	}
	if err := os.CopyFS(to, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(to, 0o777); err != nil {
		t.Fatal(err)
	}
	parts, err := filepath.Glob(filepath.Join(to, "*.db3"))
	if err != nil || len(parts) == 0 {
		return ""
	}
	lost := int64(0)
	for _, part := range parts {
		db, err := sql.Open("sqlite", part)
		if err != nil {
			t.Fatal(err)
		}
		if res, err := db.Exec("DELETE FROM message_definitions"); err == nil {
			n, _ := res.RowsAffected()
			lost += n
			_, _ = db.Exec("UPDATE topics SET type_description_hash = ''") // older schemas have no hashes
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if lost == 0 {
		return ""
	}
	return to
}

// TestDefinitionsBack: a recording without definitions becomes the same bag as the original once
// --defs names a place that has them: the original, or what was made of it.
func TestDefinitionsBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	demo := filepath.Join(dir, "demo")
	convert(t, filepath.Join("..", "..", "testdata", "demo.bag"), demo+"/", "--no-sync")
	n := 0
	for i, folder := range append([]string{demo}, folders(t)...) {
		bare := stripped(t, folder, filepath.Join(dir, fmt.Sprintf("bare%d", i)))
		if bare == "" {
			continue
		}
		n++
		want, got := filepath.Join(dir, fmt.Sprintf("want%d.bag", i)), filepath.Join(dir, fmt.Sprintf("got%d.bag", i))
		wanted, text := bagconv(t, folder, want, "--no-sync")
		status, stderr := bagconv(t, bare, got, "--no-sync", "--defs", folder)
		if status != wanted {
			t.Errorf("%s: status %d, with definitions in the recording %d\n%s\n%s", folder, status, wanted, stderr, text)
			continue
		}
		a, err := os.ReadFile(want)
		if err != nil {
			continue // nothing could be converted
		}
		b, err := os.ReadFile(got)
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: %v, %d bytes became %d\n%s", folder, err, len(a), len(b), stderr)
		}
	}
	if n == 0 {
		t.Error("no recording has definitions")
	}
	t.Logf("%d recordings", n)
}
