package iox

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bagconv/bagconv/storage"
)

// A joined is a file system of this machine, with the stores of names that are URLs. It can do what both can.
type joined struct {
	Wrapped            // of this machine
	stores  storage.FS // of the names that are URLs
	back    bool       // see ReadBack
}

// Join returns local (nil: the operating system's) as a file system that asks stores about the names that
// are URLs. Without it such a name is a name of the operating system.
func Join(local, stores storage.FS) storage.FS { return joined{Wrapped: Wrap(local), stores: stores} }

// A storer is a file system that asks stores about some names.
type storer interface {
	store(name string) storage.FS
}

func (j joined) store(name string) storage.FS {
	if IsURL(name) {
		return j.stores
	}
	return nil
}

// store returns what fsys asks about a name in a store, nil for other names.
func store(fsys storage.FS, name string) storage.FS {
	if s, ok := fsys.(storer); ok {
		return s.store(name)
	}
	return nil
}

// of returns the file system of a name.
func (j joined) of(name string) storage.FS {
	if s := j.store(name); s != nil {
		return s
	}
	return j.FS
}

func (j joined) Open(name string) (storage.File, error) { return j.of(name).Open(name) }

func (j joined) OpenFile(name string, flag int, perm os.FileMode) (storage.File, error) {
	s := j.of(name)
	if b, ok := s.(interface {
		OpenFileBack(string, int, os.FileMode) (storage.File, error)
	}); ok && j.back {
		return b.OpenFileBack(name, flag, perm)
	}
	return s.OpenFile(name, flag, perm)
}

func (j joined) Stat(name string) (os.FileInfo, error)      { return j.of(name).Stat(name) }
func (j joined) Lstat(name string) (os.FileInfo, error)     { return Lstat(j.of(name), name) }
func (j joined) ReadDir(name string) ([]os.DirEntry, error) { return j.of(name).ReadDir(name) }
func (j joined) Mkdir(name string, perm os.FileMode) error  { return j.of(name).Mkdir(name, perm) }
func (j joined) Rename(from, to string) error               { return j.of(to).Rename(from, to) }
func (j joined) Remove(name string) error                   { return j.of(name).Remove(name) }
func (j joined) RemoveAll(name string) error                { return j.of(name).RemoveAll(name) }
func (j joined) Exchange(a, b string) error                 { return Exchange(j.of(b), a, b) }
func (j joined) RenameNew(from, to string) error            { return RenameNew(j.of(to), from, to) }
func (j joined) Unnamed(dir string) (storage.File, error)   { return Wrap(j.of(dir)).Unnamed(dir) }
func (j joined) Place(stage, dir string, names, old []string, overwrite bool) error {
	return Wrap(j.of(dir)).Place(stage, dir, names, old, overwrite)
}

// A placer is a store that puts outputs in place by itself: what has these names in a staging
// folder appears in dir, in the place of what stands there under these names and the names in old. The error
// wraps errors.ErrUnsupported if the store cannot do it.
type placer interface {
	Place(stage, dir string, names, old []string, overwrite bool) error
}

// ReadBack is fsys for outputs that are read before they have their place: a store then keeps them
// as objects of their own meanwhile.
func ReadBack(fsys storage.FS) storage.FS {
	if j, ok := fsys.(joined); ok {
		j.back = true
		return j
	}
	return fsys
}

// Refresh makes the store of a name look again at what it has: it may remember for a moment what it
// has seen, and another process may have changed it.
func Refresh(fsys storage.FS, name string) {
	if s, ok := store(fsys, name).(interface{ Refresh() }); ok {
		s.Refresh()
	}
}

// A cleaner is a store that cleans up after processes that were killed.
type cleaner interface {
	CleanUp(name string) ([]Leftover, error)
}

// An lstater is a file system that knows links. OS is an lstater.
type lstater interface {
	Lstat(name string) (os.FileInfo, error)
}

// Lstat is fsys.Stat that describes a link itself. fsys nil means the operating system's.
func Lstat(fsys storage.FS, name string) (os.FileInfo, error) {
	fsys = FS(fsys)
	if l, ok := fsys.(lstater); ok {
		return l.Lstat(name)
	}
	return fsys.Stat(name)
}

// WalkDir is filepath.WalkDir in fsys; nil means the operating system's.
func WalkDir(fsys storage.FS, root string, f fs.WalkDirFunc) error {
	fsys = FS(fsys)
	st, err := Lstat(fsys, root)
	if err != nil {
		err = f(root, nil, err)
	} else {
		err = walk(fsys, root, fs.FileInfoToDirEntry(st), f)
	}
	if err == fs.SkipDir || err == fs.SkipAll {
		return nil
	}
	return err
}

func walk(fsys storage.FS, name string, d fs.DirEntry, f fs.WalkDirFunc) error {
	if err := f(name, d, nil); err != nil || !d.IsDir() {
		if err == fs.SkipDir && d.IsDir() {
			return nil
		}
		return err
	}
	entries, err := fsys.ReadDir(name)
	if err != nil {
		if err = f(name, d, err); err == fs.SkipDir {
			return nil
		} else if err != nil {
			return err
		}
	}
	for _, e := range entries {
		if err := walk(fsys, filepath.Join(name, e.Name()), e, f); err == fs.SkipDir {
			break
		} else if err != nil {
			return err
		}
	}
	return nil
}

// Abs is filepath.Abs; a URL is absolute.
func Abs(name string) (string, error) {
	if IsURL(name) {
		return filepath.Clean(name), nil
	}
	return filepath.Abs(name)
}
