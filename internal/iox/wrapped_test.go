package iox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// TestWrappedForwards: what the operating system's file system can do, a Wrapped can.
func TestWrappedForwards(t *testing.T) {
	wrapped := reflect.TypeFor[Wrapped]()
	for _, fsys := range []reflect.Type{reflect.TypeFor[osFS](), reflect.TypeFor[joined]()} {
		for m := range fsys.Methods() {
			if _, ok := wrapped.MethodByName(m.Name); !ok {
				t.Errorf("a file system that embeds a Wrapped loses %s", m.Name)
			}
		}
	}
}

// An asked is a file system that notes which of its abilities are asked for.
type asked struct {
	storage.FS
	names []string
}

func (a *asked) note(name string) { a.names = append(a.names, name) }

func (a *asked) Exchange(from, to string) error {
	a.note("Exchange")
	return Exchange(a.FS, from, to)
}

func (a *asked) RenameNew(from, to string) error {
	a.note("RenameNew")
	return RenameNew(a.FS, from, to)
}

func (a *asked) Place(stage, dir string, names, old []string, overwrite bool) error {
	a.note("Place")
	return Wrap(a.FS).Place(stage, dir, names, old, overwrite)
}

func (a *asked) Unnamed(dir string) (storage.File, error) {
	a.note("Unnamed")
	return a.FS.(unnamer).Unnamed(dir)
}

// TestKeepUnfinishedAbilities: a recording gets its name as every output does: by a rename that replaces
// nothing, by an exchange, or as its store does it.
func TestKeepUnfinishedAbilities(t *testing.T) {
	dir := t.TempDir()
	for _, overwrite := range []bool{false, true} {
		a := &asked{FS: OS}
		fsys := KeepUnfinished(a)
		out, err := NewOutput(fsys, filepath.Join(dir, "x"), overwrite, false)
		if err == nil {
			err = os.WriteFile(out.Temp(), []byte("x"), 0o666)
		}
		if err == nil {
			err = out.Commit()
		}
		if err != nil {
			t.Fatal(err)
		}
		want := "Place RenameNew"
		if overwrite {
			want = "Place Exchange"
		}
		if got := strings.Join(a.names, " "); got != want {
			t.Errorf("overwrite %v: asked for %q, want %q", overwrite, got, want)
		}
		f, err := TempFile(fsys, dir)
		if err != nil || a.names[len(a.names)-1] != "Unnamed" {
			t.Errorf("a temporary file: %v after %q", err, a.names)
		}
		if err == nil {
			f.Close()
		}
	}
}

// A syncless is a file system that does not sync.
type syncless struct {
	Wrapped
	err error
}

func (s syncless) Open(name string) (storage.File, error) { return s.OpenFile(name, os.O_RDONLY, 0) }

func (s syncless) OpenFile(name string, flag int, perm os.FileMode) (storage.File, error) {
	f, err := s.FS.OpenFile(name, flag, perm)
	return synclessFile{f, s.err}, err
}

type synclessFile struct {
	storage.File
	err error
}

func (f synclessFile) Sync() error    { return &os.PathError{Op: "sync", Path: f.Name(), Err: f.err} }
func (f synclessFile) TryLock() error { return TryLockOnce(f.File) }

// TestSyncless: where folders and files cannot be synced outputs are written all the same, and a disk that
// fails is an error.
func TestSyncless(t *testing.T) {
	dir := t.TempDir()
	for err, fails := range map[error]bool{
		syscall.EINVAL: false, syscall.ENOTSUP: false, syscall.ENOSYS: false, errors.ErrUnsupported: false,
		syscall.EIO: true, syscall.ENOSPC: true,
	} {
		fsys := syncless{Wrap(nil), err}
		path := filepath.Join(dir, fmt.Sprintf("%x", err.Error()))
		for _, overwrite := range []bool{false, true} {
			out, failed := NewOutput(fsys, path, overwrite, true)
			if failed != nil {
				t.Fatal(failed)
			}
			f, failed := fsys.OpenFile(out.Temp(), os.O_CREATE|os.O_WRONLY, 0o666)
			if failed != nil {
				t.Fatal(failed)
			}
			if failed = errors.Join(Sync(f), f.Close()); (failed != nil) != fails {
				t.Errorf("a file, %v: %v", err, failed)
			}
			if failed = out.Commit(); (failed != nil) != fails {
				t.Errorf("overwrite %v, %v: %v", overwrite, err, failed)
			}
		}
	}
	f, err := OS.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(Sync(f), f.Close()); err != nil {
		t.Errorf("a file that the system does not sync: %v", err)
	}
}
