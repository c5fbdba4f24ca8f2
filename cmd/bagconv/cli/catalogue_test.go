package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/internal/sqlite"
)

// catalogueSQL is a question of docs/catalogue.md.
var catalogueSQL = regexp.MustCompile("(?s) *```sql\n(.*?)```")

// TestCatalogueQuestions: the SQL of docs/catalogue.md runs on catalogues of testdata, and finds something there.
// DuckDB
// and SQLite give the same answers.
func TestCatalogueQuestions(t *testing.T) {
	testdata, err := filepath.Abs(filepath.Join(repository, "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	parquet, database := filepath.Join(dir, "c.parquet"), filepath.Join(dir, "c.sqlite")
	tiny, later, copied := filepath.Join(testdata, "tiny.bag"), filepath.Join(dir, "later.bag"),
		filepath.Join(dir, "tiny.mcap")
	for _, args := range [][]string{{"filter", tiny, later, "--offset", "1h"}, {tiny, copied}} {
		if _, status := prints(args...); status != 0 {
			t.Fatalf("%q: exit status %d", args, status)
		}
	}
	for _, path := range []string{parquet, database} {
		if _, status := prints("index", testdata, later, copied, "-o", path, "--content"); status != 5 { // some of testdata cannot be read
			t.Fatalf("%s: exit status %d", path, status)
		}
	}
	var questions []string
	for _, m := range catalogueSQL.FindAllStringSubmatch(readText(t, "docs/catalogue.md"), -1) {
		questions = append(questions, m[1])
	}
	if len(questions) != 20 {
		t.Errorf("there are %d questions", len(questions))
	}
	f, err := os.Open(database)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	db, err := sqlite.Open(sqlite.Options{File: sqlite.Plain{File: f}, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var counts []int
	for i, sql := range questions {
		n, pair := 0, false
		err := db.Query(sql, func(s *sqlite.Stmt) error {
			n++
			pair = pair || slices.Contains([]string{s.Text(0), s.Text(1)}, tiny) &&
				slices.Contains([]string{s.Text(0), s.Text(1)}, copied)
			return nil
		})
		if err != nil || n == 0 {
			t.Errorf("question %d: %d rows, %v", i+1, n, err)
		}
		if i == 19 && !pair {
			t.Errorf("%s and %s are not copies", tiny, copied)
		}
		counts = append(counts, n)
	}
	python := os.Getenv("BAGCONV_TABLES_PYTHON")
	if python == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("BAGCONV_TABLES_PYTHON is missing")
		}
		t.Skip("BAGCONV_TABLES_PYTHON names no python with duckdb")
	}
	input, _ := json.Marshal(questions)
	cmd := exec.Command(python, "testdata/catalogue.py", parquet, database)
	cmd.Stdin = bytes.NewReader(input)
	out, err := cmd.CombinedOutput()
	want, _ := json.Marshal(counts)
	var got []int
	if err != nil || json.Unmarshal(out, &got) != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if have, _ := json.Marshal(got); !bytes.Equal(have, want) {
		t.Errorf("rows of each question: %s, want %s", have, want)
	}
}
