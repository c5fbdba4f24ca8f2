package iox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// dead starts an output and lets go of it as a process that is killed does.
func dead(t *testing.T, path string) *Output {
	t.Helper()
	o, err := NewOutput(nil, path, true, false)
	if err != nil {
		t.Fatal(err)
	}
	write(t, o.Temp(), "half")
	if err := o.run.Close(); err != nil {
		t.Fatal(err)
	}
	return o
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestCleanUp(t *testing.T) {
	for _, name := range []string{"out", "x.record", "a+b(1)", strings.Repeat("long", 55), strings.Repeat("語", 80)} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		gone, other := dead(t, path), dead(t, path+"_2")
		read := dead(t, path)
		alive, err := NewOutput(nil, path, false, false)
		if err != nil {
			t.Fatal(err)
		}
		foreign := filepath.Join(dir, stagePrefix(name)+"0123abcd"+stageSuffix)
		if err := errors.Join(os.Mkdir(foreign, 0o777), os.WriteFile(filepath.Join(foreign, "x"), nil, 0o666)); err != nil {
			t.Fatal(err)
		}
		found, err := CleanUp(nil, path, filepath.Join(read.Temp(), "part"))
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range found {
			if l.Err != nil || l.Finished || isThere(l.Path) || l.Path != gone.stage && l.Path != other.stage {
				t.Errorf("%s: %+v", name, l)
			}
		}
		same := stagePrefix(name) == stagePrefix(name+"_2") // their first 200 bytes are the same
		if isThere(gone.stage) || isThere(other.stage) == same || !isThere(read.stage) ||
			!isThere(alive.Temp()[:len(alive.Temp())-len(name)]) || !isThere(filepath.Join(foreign, "x")) {
			t.Errorf("%s: left are %v", name, list(t, dir))
		}
		write(t, alive.Temp(), "whole")
		if err := alive.Commit(); err != nil {
			t.Error(err)
		}
	}
	if found, err := CleanUp(nil, filepath.Join(t.TempDir(), "missing", "x")); err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
}

// A Commit that was begun is brought to its end by whoever writes into the folder;
// where somebody has put something else into its way, that stays, and so does what
// was kept aside.
func TestCleanUpFinishes(t *testing.T) {
	for _, inTheWay := range []bool{false, true} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "a"), "old a")
		write(t, filepath.Join(dir, "b"), "old b")
		o, err := NewOutputs(nil, filepath.Join(dir, "x"), true, true)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(o.TempDir(), "a"), "new a")
		write(t, filepath.Join(o.TempDir(), "c"), "new c")
		j, err := o.survey([]string{"a", "c"}, []string{"b"})
		if err := errors.Join(err, os.Mkdir(filepath.Join(o.stage, oldName), 0o777), o.writeJournal(j)); err != nil {
			t.Fatal(err)
		}
		moves := j.moves(dir, o.stage)
		if err := errors.Join(os.Rename(moves[0].from, moves[0].to), o.run.Close()); err != nil {
			t.Fatal(err)
		}
		if inTheWay {
			write(t, filepath.Join(dir, "b"), "somebody's own")
		}
		found, err := CleanUp(nil, filepath.Join(dir, "another"))
		if err != nil || len(found) != 1 || found[0].Finished == inTheWay || (found[0].Err == nil) == inTheWay {
			t.Fatalf("%+v, %v", found, err)
		}
		if inTheWay {
			if b, _ := os.ReadFile(filepath.Join(dir, "b")); string(b) != "somebody's own" || !isThere(moves[0].to) ||
				!isThere(moves[2].from) {
				t.Errorf("%q, %v", b, list(t, dir))
			}
			continue
		}
		if names := list(t, dir); strings.Join(names, " ") != "a c" {
			t.Errorf("%v", names)
		}
	}
}

// Names in a journal lead out of no folder.
func TestJournalNames(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{
		`{"new":["../x"]}`, `{"new":["a/b"]}`, `{"new":[""]}`, `{"new":[".."]}`, `{"old":[{"name":"/etc/x"}]}`,
		`{"new":["a"]`, ``,
	} {
		write(t, filepath.Join(dir, journalName), text)
		if j, err := readJournal(OS, dir); !errors.Is(err, storage.ErrCorrupt) && !errors.Is(err, storage.ErrTruncated) {
			t.Errorf("%q: %v, %v", text, j, err)
		}
	}
}

// Of several outputs with one new name one succeeds, whatever it is.
func TestRivals(t *testing.T) {
	for _, folder := range []bool{false, true} {
		for range 20 {
			path := filepath.Join(t.TempDir(), "x")
			var outs [4]*Output
			for i := range outs {
				o, err := NewOutput(nil, path, false, false)
				if err != nil {
					t.Fatal(err)
				}
				if outs[i] = o; folder {
					err = os.Mkdir(o.Temp(), 0o777)
				} else {
					write(t, o.Temp(), "x")
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			var wg sync.WaitGroup
			errs := make([]error, len(outs))
			for i, o := range outs {
				wg.Go(func() { errs[i] = o.Commit() })
			}
			wg.Wait()
			won := 0
			for _, err := range errs {
				if err == nil {
					won++
				} else if !errors.Is(err, fs.ErrExist) {
					t.Error(err)
				}
			}
			if names := list(t, filepath.Dir(path)); won != 1 || len(names) != 1 {
				t.Errorf("%d of %d outputs won; there stand %v", won, len(outs), names)
			}
		}
	}
}

// Of several that replace one folder at once, the last one's output stands there.
func TestRivalsReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			o, err := NewOutput(nil, path, true, false)
			if err == nil {
				err = errors.Join(os.Mkdir(o.Temp(), 0o777), os.WriteFile(filepath.Join(o.Temp(), "f"), nil, 0o666))
			}
			if err == nil {
				err = o.Commit()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if names := list(t, dir); len(names) != 1 || !isThere(filepath.Join(path, "f")) {
		t.Errorf("%v", names)
	}
}

func TestTempFile(t *testing.T) {
	dir := t.TempDir()
	f, err := TempFile(nil, dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("x")); err != nil {
		t.Error(err)
	}
	b := make([]byte, 1)
	if err := ReadFull(f, b, 0); err != nil || b[0] != 'x' {
		t.Errorf("%q, %v", b, err)
	}
	if _, unnamed := f.(*namedTemp); !unnamed && len(list(t, dir)) > 0 {
		t.Errorf("%v", list(t, dir))
	}
	if err := f.Close(); err != nil || len(list(t, dir)) > 0 {
		t.Errorf("%v, %v", list(t, dir), err)
	}
	if _, err := TempFile(nil, filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
