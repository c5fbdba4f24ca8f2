package serve_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/live/serve"
)

// TestConfine: a folder with all below it, a named file with those of its stem, nothing else, and
// nothing is changed.
func TestConfine(t *testing.T) {
	dir, _ := tree(t)
	top := filepath.Dir(dir)
	for _, name := range []string{"named.db3", "named.db3-wal", "other.db3"} {
		if err := os.WriteFile(filepath.Join(top, name), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c, err := serve.Confine(iox.OS, []string{dir, filepath.Join(top, "named.db3")})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for path, ok := range map[string]bool{
		"drives/a b.bag": true, "drives/folder/part.db3": true, "named.db3": true, "named.db3-wal": true,
		"drives/link.bag": false, "secret.bag": false, "other.db3": false, "drives/../secret.bag": false,
		"drives2/a b.bag": false,
	} {
		f, err := c.Open(filepath.Join(top, path))
		if (err == nil) != ok {
			t.Errorf("open %s: %v", path, err)
		}
		if err == nil {
			_ = f.Close()
		}
		if _, err := c.Stat(filepath.Join(top, path)); (err == nil) != ok {
			t.Errorf("stat %s: %v", path, err)
		}
	}
	if list, err := c.ReadDir(dir); err != nil || len(list) != 4 {
		t.Errorf("%v, %v", list, err)
	}
	if list, err := c.ReadDir(top); err != nil || len(list) != 5 { // where named.db3 lies
		t.Errorf("%v, %v", list, err)
	}
	if _, err := c.ReadDir(filepath.Dir(top)); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a folder above: %v", err)
	}
	if _, err := c.OpenFile(filepath.Join(dir, "new"), os.O_CREATE|os.O_WRONLY, 0o644); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a new file: %v", err)
	}
	for i, err := range []error{c.Mkdir("x", 0o755), c.Rename(filepath.Join(dir, "a b.bag"), "x"),
		c.Remove(filepath.Join(dir, "a b.bag")), c.RemoveAll(dir)} {
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("change %d: %v", i, err)
		}
	}
}
