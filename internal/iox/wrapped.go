package iox

import (
	"errors"
	"fmt"
	"os"

	"github.com/bagconv/bagconv/storage"
)

// A Wrapped is another file system, for one that changes something about it: it embeds a Wrapped in the
// place of a storage.FS, and so forwards everything that OS can do beyond a storage.FS. internal/arch
// tests that no other struct embeds a storage.FS.
type Wrapped struct{ storage.FS }

// Wrap returns fsys as a Wrapped; nil means the operating system's.
func Wrap(fsys storage.FS) Wrapped { return Wrapped{FS(fsys)} }

// abilities are what OS can do beyond a storage.FS. A test compares them with its methods.
type abilities interface {
	renamer
	unnamer
	lstater
}

// joinedAbilities are what a file system of Join can do beyond OS.
type joinedAbilities interface {
	abilities
	placer
	storer
}

var _, _ joinedAbilities = Wrapped{}, joined{}

func (w Wrapped) store(name string) storage.FS { return store(w.FS, name) }

// Lstat describes a link itself, if the file system knows links. See Lstat.
func (w Wrapped) Lstat(name string) (os.FileInfo, error) { return Lstat(w.FS, name) }

// Exchange swaps two names, if the file system can. See Exchange.
func (w Wrapped) Exchange(a, b string) error { return Exchange(w.FS, a, b) }

// RenameNew renames to a name that must be free, if the file system can. See RenameNew.
func (w Wrapped) RenameNew(from, to string) error {
	if r, ok := w.FS.(renamer); ok {
		return r.RenameNew(from, to)
	}
	return &os.LinkError{Op: "rename", Old: from, New: to, Err: errors.ErrUnsupported}
}

// Place puts outputs in place, if the file system is a store. See Output.
func (w Wrapped) Place(stage, dir string, names, old []string, overwrite bool) error {
	if p, ok := w.FS.(placer); ok {
		return p.Place(stage, dir, names, old, overwrite)
	}
	return unsupported("place", stage, dir)
}

// Unnamed makes a file without a name, if the file system can. See TempFile.
func (w Wrapped) Unnamed(dir string) (storage.File, error) {
	if u, ok := w.FS.(unnamer); ok {
		return u.Unnamed(dir)
	}
	return nil, fmt.Errorf("a file without a name: %w", errors.ErrUnsupported)
}
