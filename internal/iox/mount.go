package iox

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/bagconv/bagconv/storage"
)

// schemes are what the names in stores begin with, before a colon and a separator.
var schemes = []string{"http", "https", "s3", "gs", "az"}

// IsURL reports whether a name is one in a store: "s3://bucket/key", or what filepath.Clean makes
// of it, "s3:/bucket/key". So filepath.Join, Dir and Base work with such names.
func IsURL(name string) bool {
	scheme, rest, ok := strings.Cut(name, ":")
	if !ok || len(rest) < 2 || !os.IsPathSeparator(rest[0]) {
		return false
	}
	for _, s := range schemes {
		if s == scheme {
			return true
		}
	}
	return false
}

// mounted is the file system of the names that are URLs, nil for none.
var mounted atomic.Pointer[storage.FS]

// Mount makes OS, and all functions here that take a name, ask fsys about the names that are
// URLs. Nil ends that; without it such a name is one of the operating system.
func Mount(fsys storage.FS) {
	if fsys == nil {
		mounted.Store(nil)
	} else {
		mounted.Store(&fsys)
	}
}

// store returns the file system of a name that is a URL, nil for other names.
func store(name string) storage.FS {
	if m := mounted.Load(); m != nil && IsURL(name) {
		return *m
	}
	return nil
}

// Stat is os.Stat, for URLs too.
func Stat(name string) (os.FileInfo, error) { return OS.Stat(name) }

// Lstat is os.Lstat; stores have no links.
func Lstat(name string) (os.FileInfo, error) {
	if s := store(name); s != nil {
		return s.Stat(name)
	}
	return os.Lstat(name)
}

// ReadDir is os.ReadDir, for URLs too.
func ReadDir(name string) ([]os.DirEntry, error) { return OS.ReadDir(name) }

// WalkDir is filepath.WalkDir, for URLs too.
func WalkDir(root string, f fs.WalkDirFunc) error {
	if store(root) == nil {
		return filepath.WalkDir(root, f)
	}
	st, err := Stat(root)
	if err != nil {
		err = f(root, nil, err)
	} else {
		err = walk(root, fs.FileInfoToDirEntry(st), f)
	}
	if err == fs.SkipDir || err == fs.SkipAll {
		return nil
	}
	return err
}

func walk(name string, d fs.DirEntry, f fs.WalkDirFunc) error {
	if err := f(name, d, nil); err != nil || !d.IsDir() {
		if err == fs.SkipDir && d.IsDir() {
			return nil
		}
		return err
	}
	entries, err := ReadDir(name)
	if err != nil {
		if err = f(name, d, err); err != nil {
			return err
		}
	}
	for _, e := range entries {
		if err := walk(filepath.Join(name, e.Name()), e, f); err == fs.SkipDir {
			break
		} else if err != nil {
			return err
		}
	}
	return nil
}

// Abs is filepath.Abs; a URL is absolute.
func Abs(name string) (string, error) {
	if store(name) != nil {
		return filepath.Clean(name), nil
	}
	return filepath.Abs(name)
}

// A sameFiler is an os.FileInfo that knows whether another one is of the same file.
type sameFiler interface{ SameFile(os.FileInfo) bool }

// SameFile is os.SameFile, for files in stores too.
func SameFile(a, b os.FileInfo) bool {
	if t, ok := a.(sameFiler); ok {
		return t.SameFile(b)
	}
	return os.SameFile(a, b)
}

// Replaced reports whether another file has the name that was had. Of files that have only their names, it
// is not known.
func Replaced(was, is os.FileInfo) bool { return !SameFile(was, is) && SameFile(was, was) }

// Distant reports whether each read of a file takes the time of a question to another machine:
// then few large reads are better than many small ones.
func Distant(file any) bool {
	d, ok := file.(interface{ Distant() bool })
	return ok && d.Distant()
}

// A Span is bytes of a file.
type Span struct{ Off, Len int64 }

// Prefetch begins to read what will be asked for soon, if each read of the file takes the time of a
// question to another machine. Then many parts take the time of few questions. It may do less than
// it was told, and returns at once. Spans may lie outside of the file.
func Prefetch(file any, spans ...Span) {
	if p, ok := file.(interface{ Prefetch(spans []Span) }); ok {
		p.Prefetch(spans)
	}
}

// Refresh makes the store of a name look again at what it has: it may remember for a moment what it
// has seen, and another process may have changed it.
func Refresh(name string) {
	if s, ok := store(name).(interface{ Refresh() }); ok {
		s.Refresh()
	}
}

// ReadBack is fsys for outputs that are read before they have their place: a store then keeps them
// as objects of their own meanwhile.
func ReadBack(fsys storage.FS) storage.FS {
	if o, ok := FS(fsys).(osFS); ok {
		o.back = true
		return o
	}
	return fsys
}

// A placer is a store that puts outputs in place by itself: what has these names in a staging
// folder appears in dir, in the place of what stands there under these names and those of old.
type placer interface {
	Place(stage, dir string, names, old []string, overwrite bool) error
}

// Place does so with the store of dir. The error wraps errors.ErrUnsupported if dir is in none.
func (o osFS) Place(stage, dir string, names, old []string, overwrite bool) error {
	if p, ok := o.store(dir).(placer); ok {
		return p.Place(stage, dir, names, old, overwrite)
	}
	return unsupported("place", stage, dir)
}

// A cleaner is a store that cleans up after processes that were killed.
type cleaner interface {
	CleanUp(name string) ([]Leftover, error)
}

// Show returns a name as people write it: filepath.Clean leaves one slash of the two in a URL. A
// URL is shown without what may be secret in it.
func Show(name string) string {
	if s, ok := store(name).(interface{ Show(string) string }); ok {
		return s.Show(name)
	}
	return name
}

// ShowAll returns a text with the names of stores in it as people write them; see Show.
func ShowAll(text string) string {
	if m := mounted.Load(); m != nil {
		if s, ok := (*m).(interface{ ShowAll(string) string }); ok {
			return s.ShowAll(text)
		}
	}
	return text
}

// Canonical returns the name that the file system uses for name as people write it: of a URL, with one
// slash after the scheme.
func Canonical(name string) string {
	scheme, rest, ok := strings.Cut(name, "://")
	if !ok || !IsURL(name) {
		return name
	}
	return scheme + ":" + string(filepath.Separator) + rest
}
