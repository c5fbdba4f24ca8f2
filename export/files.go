package export

import (
	"container/list"
	"errors"
	"os"
	"path/filepath"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// maxOpen is how many files of this machine are open at a time: the files written to last.
const maxOpen = 200

// files are the files of an export that are appended to. They are for one goroutine.
type files struct {
	fs   storage.FS
	root string // the folder, or the folder of the only file
	sync bool
	open *list.List // of *file, the one written to last at the front
}

// A file is written from its begin to its end; it is opened again when too many others were written meanwhile.
type file struct {
	files *files
	path  string // of the operating system
	f     storage.File
	place *list.Element // nil: it is not open
	made  bool
}

// create makes a file at a path with slashes below the root, and the folders around it.
func (s *files) create(name string) (*file, error) {
	f := &file{files: s, path: filepath.Join(s.root, filepath.FromSlash(name))}
	if err := mkdirs(s.fs, s.root, filepath.Dir(f.path)); err != nil {
		return nil, err
	}
	return f, f.ready()
}

// mkdirs makes the folders from root to dir.
func mkdirs(fsys storage.FS, root, dir string) error {
	if dir == root || len(dir) <= len(root) {
		return nil
	}
	if _, err := fsys.Stat(dir); err == nil {
		return nil
	}
	if err := mkdirs(fsys, root, filepath.Dir(dir)); err != nil {
		return err
	}
	if err := fsys.Mkdir(dir, 0o777); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return nil
}

// ready opens the file, unless it is open.
func (f *file) ready() (err error) {
	s := f.files
	if f.place != nil {
		s.open.MoveToFront(f.place)
		return nil
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if f.made {
		flags = os.O_WRONLY | os.O_APPEND
	}
	if f.f, err = s.fs.OpenFile(f.path, flags, 0o666); err != nil {
		return err
	}
	f.made, f.place = true, s.open.PushFront(f)
	if last := s.open.Back(); s.open.Len() > maxOpen && !iox.IsURL(f.path) {
		return last.Value.(*file).release()
	}
	return nil
}

// Write appends to the file.
func (f *file) Write(p []byte) (int, error) {
	if err := f.ready(); err != nil {
		return 0, err
	}
	return f.f.Write(p)
}

// release closes the file for now.
func (f *file) release() error {
	if f.place == nil {
		return nil
	}
	f.files.open.Remove(f.place)
	f.place = nil
	return f.f.Close()
}

// Close ends the file.
func (f *file) Close() error {
	if f.files.sync {
		if err := f.ready(); err != nil {
			return err
		}
		if err := iox.Sync(f.f); err != nil {
			return errors.Join(err, f.release())
		}
	}
	return f.release()
}

// abort closes all files.
func (s *files) abort() (err error) {
	for s.open.Len() > 0 {
		err = errors.Join(err, s.open.Front().Value.(*file).release())
	}
	return err
}
