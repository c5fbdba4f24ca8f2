package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/internal/testing/s3test"
)

// TestS3Index: recordings and catalogues on a store are as on a disk; an object that was replaced is read again.
func TestS3Index(t *testing.T) {
	s := s3test.Start(t, "versitygw")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	put := func(name string, args ...string) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "x.bag")
		if err := makeBag(append(args, path)); err != nil {
			t.Fatal(err)
		}
		must(t, "-q", "-f", path, s.URL+"/in/"+name, "--compression", "none")
	}
	put("a.bag")
	put("b.bag")
	local := filepath.Join(t.TempDir(), "c.sqlite")
	for _, c := range []string{s.URL + "/c.sqlite", s.URL + "/c.parquet", local} {
		for _, want := range []string{"; 2 read, 0 unchanged,", "; 0 read, 2 unchanged,"} {
			if out := must(t, "index", s.URL+"/in", "-o", c); !strings.Contains(out, want) {
				t.Errorf("%s: %s\nwant %s", c, out, want)
			}
		}
	}
	f, err := os.Open(local)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	db, err := sqlite.Open(sqlite.Options{File: sqlite.Plain{File: f}, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	n, _, err := db.One("SELECT count(*) FROM recordings WHERE etag <> '' AND path LIKE 's3://%/in/_.bag'")
	if err != nil || n != 2 {
		t.Errorf("%d recordings have a tag, %v", n, err)
	}
	put("b.bag", "-n", "30")
	if out := must(t, "index", s.URL+"/in", "-o", s.URL+"/c.parquet"); !strings.Contains(out, "; 1 read, 1 unchanged,") {
		t.Errorf("after a change: %s", out)
	}
}
