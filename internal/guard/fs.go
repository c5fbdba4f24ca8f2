package guard

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// Reader returns base (nil: the operating system) as the file system of readers: what
// they open is protected from then on.
func (g *Guard) Reader(base storage.FS) storage.FS { return &readerFS{iox.Wrap(base), g} }

type readerFS struct {
	iox.Wrapped
	g *Guard
}

func (r *readerFS) Open(name string) (storage.File, error) {
	f, err := r.FS.Open(name)
	if err == nil {
		r.g.keep(name)
	}
	return f, err
}

// Writer returns base (nil: the operating system) as the file system of writers of
// recordings. If overwrite is not set they replace nothing but empty folders.
func (g *Guard) Writer(base storage.FS, overwrite bool) storage.FS {
	return newWriter(base, func(path string) error {
		if g.leftover(path) {
			return nil
		}
		if err := g.replaceable(path); err != nil || overwrite {
			return err
		}
		if st, err := iox.Lstat(g.fs, path); err != nil || st.IsDir() && g.isEmpty(path) {
			return nil
		}
		return &os.PathError{Op: "replace", Path: path, Err: os.ErrExist}
	})
}

// Files returns base (nil: the operating system) as the file system for files that are no
// recordings, such as attachments. If overwrite is set they replace files that the run
// does not read.
func (g *Guard) Files(base storage.FS, overwrite bool) storage.FS {
	return newWriter(base, func(path string) error {
		st, err := g.fs.Stat(path)
		switch {
		case g.leftover(path):
			return nil
		case err != nil:
			return nil // missing, or making it will fail
		case st.IsDir():
			return &Refusal{path, "it is a folder", "choose another folder", nil}
		case !st.Mode().IsRegular():
			return &Refusal{path, "it is " + irregular(st.Mode()), "choose another folder", nil}
		case g.input(st) != "":
			return &Refusal{path, "it is an input of this run, and a file to be written has its name", "choose another folder",
				ErrInput}
		case !overwrite:
			return &os.PathError{Op: "replace", Path: path, Err: os.ErrExist}
		}
		return nil
	})
}

// A writerFS refuses to touch what its run has not made, unless may allows it.
type writerFS struct {
	iox.Wrapped
	may func(path string) error // nil for what may be replaced or removed

	mu sync.Mutex
	// owned has what the run made or moved, with all below it, by absolute path. If the run
	// did not make it, the value is the path at which it stood before.
	owned map[string]string
}

func newWriter(base storage.FS, may func(string) error) *writerFS {
	return &writerFS{Wrapped: iox.Wrap(base), may: may, owned: map[string]string{}}
}

func absolute(path string) string {
	if abs, err := iox.Abs(path); err == nil {
		return abs
	}
	return filepath.Clean(path)
}

// owns reports whether the run has made a file or a folder above it.
func (w *writerFS) owns(path string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for p := absolute(path); ; p = filepath.Dir(p) {
		if _, ok := w.owned[p]; ok {
			return true
		}
		if p == filepath.Dir(p) {
			return false
		}
	}
}

// check returns nil when the run may replace or remove what stands at path.
func (w *writerFS) check(path string) error {
	if w.owns(path) {
		return nil
	}
	return w.may(path)
}

func (w *writerFS) make(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.owned[absolute(path)] = ""
}

// forget notes that a name is gone: a file that appears there later belongs to somebody else.
func (w *writerFS) forget(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.owned, absolute(path))
}

// was returns where something stood before the run moved it, "" for what it made. w.mu
// is held.
func (w *writerFS) was(path string) string {
	if from, ok := w.owned[path]; ok {
		return from
	}
	for p := filepath.Dir(path); p != filepath.Dir(p); p = filepath.Dir(p) {
		if _, ok := w.owned[p]; ok {
			return "" // in a folder that the run made
		}
	}
	return path
}

// move notes that names have moved, all at once.
func (w *writerFS) move(names map[string]string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := map[string]string{}
	for from, to := range names {
		now[absolute(to)] = w.was(absolute(from))
	}
	for from := range names {
		delete(w.owned, absolute(from))
	}
	for to, from := range now {
		if to == from { // it is back in its place
			delete(w.owned, to)
		} else {
			w.owned[to] = from
		}
	}
}

func (w *writerFS) OpenFile(name string, flag int, perm os.FileMode) (storage.File, error) {
	writes := flag&(os.O_WRONLY|os.O_RDWR|os.O_TRUNC) != 0
	if writes && flag&os.O_EXCL == 0 {
		if err := w.check(name); err != nil {
			return nil, err
		}
	}
	f, err := w.FS.OpenFile(name, flag, perm)
	if err == nil && flag&os.O_CREATE != 0 {
		w.make(name)
	}
	return f, err
}

func (w *writerFS) Mkdir(name string, perm os.FileMode) error {
	err := w.FS.Mkdir(name, perm)
	if err == nil {
		w.make(name)
	}
	return err
}

func (w *writerFS) Rename(from, to string) error {
	if err := errors.Join(w.check(from), w.check(to)); err != nil {
		return err
	}
	err := w.FS.Rename(from, to)
	if err == nil {
		w.move(map[string]string{from: to})
	}
	return err
}

func (w *writerFS) Remove(name string) error {
	if err := w.check(name); err != nil {
		return err
	}
	err := w.FS.Remove(name)
	if err == nil {
		w.forget(name)
	}
	return err
}

func (w *writerFS) RemoveAll(name string) error {
	if err := w.check(name); err != nil {
		return err
	}
	err := w.FS.RemoveAll(name)
	if err == nil {
		w.forget(name)
	}
	return err
}

// Exchange swaps two names, if base can.
func (w *writerFS) Exchange(a, b string) error {
	if err := errors.Join(w.check(a), w.check(b)); err != nil {
		return err
	}
	err := w.Wrapped.Exchange(a, b)
	if err == nil {
		w.move(map[string]string{a: b, b: a})
	}
	return err
}

// RenameNew renames to a name that must be free, if base can.
func (w *writerFS) RenameNew(from, to string) error {
	if err := w.check(from); err != nil {
		return err
	}
	err := w.Wrapped.RenameNew(from, to)
	if err == nil {
		w.move(map[string]string{from: to})
	}
	return err
}

// Place puts outputs in place, if base can. See iox.Output.
func (w *writerFS) Place(stage, dir string, names, old []string, overwrite bool) error {
	for _, name := range append(slices.Clone(names), old...) {
		if err := w.check(filepath.Join(dir, name)); overwrite && err != nil {
			return err
		}
	}
	return w.Wrapped.Place(stage, dir, names, old, overwrite)
}
