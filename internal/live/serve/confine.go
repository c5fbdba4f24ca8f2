package serve

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bagconv/bagconv/storage"
)

// A Confined file system shows what lies in some folders, and files that were named with the files
// beside them that begin with the same stem, such as segments and logs. Links in a folder that lead
// out of it are refused by the operating system while they are opened (os.Root). Nothing can be
// changed through it.
type Confined struct {
	base  storage.FS
	roots []root
	stems []string // absolute
}

type root struct {
	dir string // absolute
	*os.Root
}

// Confine returns the file system for paths that a user has named: folders of the operating
// system, and files of base. Close it when nothing reads any more.
func Confine(base storage.FS, paths []string) (*Confined, error) {
	c := &Confined{base: base}
	for _, path := range paths {
		st, err := os.Stat(path)
		if err != nil || !st.IsDir() {
			c.stems = append(c.stems, stem(absolute(path)))
			continue
		}
		r, err := os.OpenRoot(path)
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		c.roots = append(c.roots, root{absolute(path), r})
	}
	return c, nil
}

// Close closes the folders.
func (c *Confined) Close() (err error) {
	for _, r := range c.roots {
		err = errors.Join(err, r.Close())
	}
	return err
}

func absolute(path string) string {
	if strings.Contains(path, "://") {
		return path
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return filepath.Clean(path)
}

// stem returns a path without the ending of its name.
func stem(path string) string { return strings.TrimSuffix(path, filepath.Ext(path)) }

// find returns the folder that a path lies in and its name there; nil if it is a named file.
func (c *Confined) find(op, path string) (*os.Root, string, error) {
	abs := absolute(path)
	for _, r := range c.roots {
		if rel, err := filepath.Rel(r.dir, abs); err == nil && filepath.IsLocal(rel) {
			return r.Root, rel, nil
		}
	}
	for _, s := range c.stems {
		if rest, ok := strings.CutPrefix(abs, s); ok && !strings.ContainsAny(rest, `/\`) {
			return nil, path, nil
		}
	}
	return nil, "", &fs.PathError{Op: op, Path: path, Err: fs.ErrPermission}
}

// Open opens a file or folder for reading.
func (c *Confined) Open(name string) (storage.File, error) {
	r, rel, err := c.find("open", name)
	switch {
	case err != nil:
		return nil, err
	case r == nil:
		return c.base.Open(name)
	}
	if st, err := r.Stat(rel); err == nil && !st.Mode().IsRegular() && !st.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid} // a pipe would wait
	}
	f, err := r.Open(rel)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// OpenFile opens a file for reading.
func (c *Confined) OpenFile(name string, flag int, _ os.FileMode) (storage.File, error) {
	if flag != os.O_RDONLY {
		return nil, refused("open", name)
	}
	return c.Open(name)
}

// Stat describes a file or folder.
func (c *Confined) Stat(name string) (os.FileInfo, error) {
	r, rel, err := c.find("stat", name)
	switch {
	case err != nil:
		return nil, err
	case r == nil:
		return c.base.Stat(name)
	}
	return r.Stat(rel)
}

// ReadDir lists a folder.
func (c *Confined) ReadDir(name string) ([]os.DirEntry, error) {
	for _, s := range c.stems { // the folder of a named file: what belongs to it is looked for there
		if filepath.Dir(s) == absolute(name) {
			return c.base.ReadDir(name)
		}
	}
	r, rel, err := c.find("readdir", name)
	switch {
	case err != nil:
		return nil, err
	case r == nil:
		return c.base.ReadDir(name)
	}
	return fs.ReadDir(r.FS(), filepath.ToSlash(rel))
}

func refused(op, name string) error {
	return &fs.PathError{Op: op, Path: name, Err: fs.ErrPermission}
}

// Mkdir is refused.
func (c *Confined) Mkdir(name string, _ os.FileMode) error { return refused("mkdir", name) }

// Rename is refused.
func (c *Confined) Rename(from, _ string) error { return refused("rename", from) }

// Remove is refused.
func (c *Confined) Remove(name string) error { return refused("remove", name) }

// RemoveAll is refused.
func (c *Confined) RemoveAll(name string) error { return refused("remove", name) }

var _ storage.FS = (*Confined)(nil)
