package storagetest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/testing/faultio"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

// A Reindexing is a file whose index is missing, and that Format.Reindex writes it to.
type Reindexing struct {
	Format *storage.Format
	Name   string // of the file
	Bytes  []byte

	// Indexed reports whether the index of the file at path is there, and is used.
	Indexed func(t testing.TB, path string) bool
}

// put writes a file and returns its path.
func (c *Reindexing) put(t testing.TB, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), c.Name)
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// read returns the messages that can be read. If the file cannot be opened, it returns no messages.
func (c *Reindexing) read(t testing.TB, path string) []storage.Message {
	t.Helper()
	r, err := c.Format.Open(t.Context(), path, storage.ReadOptions{})
	if err != nil {
		return nil
	}
	list, err := ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	return list
}

// Cuts cuts the file at bytes from one on: at each with BAGCONV_EXHAUSTIVE=1, else at a sample. A
// cut file gets an index, or is refused and stays as it is. It has the same messages as before, and
// a second run finds nothing to do. Cuts returns how many files got an index, and of how many.
func (c *Reindexing) Cuts(t *testing.T, from int) (written, cuts int) {
	t.Parallel()
	step := samples.Pick(1, 7, 31)
	path := c.put(t, nil)
	for n := len(c.Bytes); n >= from; n -= step {
		cut := c.Bytes[:n]
		if err := os.WriteFile(path, cut, 0o666); err != nil {
			t.Fatal(err)
		}
		cuts++
		if c.cut(t, path, cut) {
			written++
		}
		if t.Failed() {
			t.Fatalf("cut at %d", n)
		}
	}
	return written, cuts
}

// cut writes the index of a file that was cut, and reports whether it has one then.
func (c *Reindexing) cut(t *testing.T, path string, cut []byte) bool {
	t.Helper()
	before := c.read(t, path)
	planned, dry := c.Format.Reindex(t.Context(), path, storage.ReindexOptions{NoSync: true, DryRun: true})
	if b, _ := os.ReadFile(path); !bytes.Equal(b, cut) {
		t.Error("a dry run has changed it")
	}
	changes, err := c.Format.Reindex(t.Context(), path, storage.ReindexOptions{NoSync: true})
	if (err == nil) != (dry == nil) || len(changes) != len(planned) {
		t.Errorf("%v, %+v, and %v, %+v in a dry run", err, changes, dry, planned)
	}
	after := c.read(t, path)
	if d := Diff(after, before); d != "" {
		t.Errorf("%v, %+v: %s", err, changes, d)
	}
	if b, _ := os.ReadFile(path); err != nil && (!bytes.Equal(b, cut) || !errors.Is(err, storage.ErrUnsupported) &&
		!storage.IsDamage(err)) {
		t.Errorf("refused, and changed: %v", err)
	}
	if err != nil {
		return false
	}
	if !c.Indexed(t, path) {
		t.Errorf("the index is not used: %+v", changes)
	}
	if again, err := c.Format.Reindex(t.Context(), path, storage.ReindexOptions{NoSync: true}); err != nil ||
		len(again) > 0 {
		t.Errorf("a second run: %v, %+v", err, again)
	}
	return true
}

// Faults lets each operation fail in turn: then the file reads as before, a run that fails alive
// has changed nothing, and the next run writes the index.
func (c *Reindexing) Faults(t *testing.T) {
	t.Helper()
	want := c.read(t, c.put(t, c.Bytes))
	for _, fault := range []faultio.Fault{faultio.Error, faultio.Short, faultio.Death} {
		for n := int64(1); ; n++ {
			path := c.put(t, c.Bytes)
			fsys := &faultio.FS{FS: iox.OS, N: n, Fault: fault, NoSync: true}
			_, err := c.Format.Reindex(t.Context(), path, storage.ReindexOptions{FS: fsys})
			if !fsys.Fired() {
				if err != nil || n < 10 {
					t.Fatalf("after %d operations: %v", n, err)
				}
				break
			}
			if d := Diff(c.read(t, path), want); d != "" {
				t.Fatalf("fault %d, operation %d: %v: %s", fault, n, err, d)
			}
			b, _ := os.ReadFile(path)
			entries, _ := os.ReadDir(filepath.Dir(path))
			kept := len(entries) > 1 && strings.HasSuffix(entries[0].Name(), ".journal")
			if err != nil && fault != faultio.Death && !bytes.Equal(b, c.Bytes) && !kept && !c.Indexed(t, path) {
				t.Fatalf("fault %d, operation %d: %v, and the file is changed", fault, n, err)
			}
			if _, err := c.Format.Reindex(t.Context(), path, storage.ReindexOptions{NoSync: true}); err != nil {
				t.Fatalf("fault %d, operation %d: the next run: %v", fault, n, err)
			}
			if d := Diff(c.read(t, path), want); d != "" || !c.Indexed(t, path) {
				t.Fatalf("fault %d, operation %d: the next run has written no index: %s", fault, n, d)
			}
			if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
				t.Fatalf("fault %d, operation %d: %d files are left", fault, n, len(entries))
			}
		}
	}
}
