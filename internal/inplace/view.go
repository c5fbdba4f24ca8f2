package inplace

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A View is a file system that shows some files otherwise than they are on the disk. Its files cannot be
// written.
type View struct {
	iox.Wrapped
	files map[string]*image // by clean path; nil: the file is hidden
}

// An image is what a View shows of a file.
type image struct {
	from    string      // the file whose content is shown, if base is nil
	base    io.ReaderAt // the bytes below the patches
	size    int64
	patches []Patch // laid over the bytes in this order
}

// NewView returns a View of base that shows its files as they are; nil is the operating system's.
func NewView(base storage.FS) *View {
	return &View{Wrapped: iox.Wrap(base), files: map[string]*image{}}
}

// Hide shows a file as if it did not exist.
func (v *View) Hide(path string) { v.files[filepath.Clean(path)] = nil }

// Place shows the content of the file at from under another path, where nothing may stand or a
// file that is replaced.
func (v *View) Place(path, from string) { v.files[filepath.Clean(path)] = &image{from: from} }

// Show shows a text as the content of a file, which need not be there.
func (v *View) Show(path string, text []byte) { v.lay(path, bytes.NewReader(text), int64(len(text))) }

// lay shows a file as the first size bytes of base with patches laid over them.
func (v *View) lay(path string, base io.ReaderAt, size int64, patches ...Patch) {
	v.files[filepath.Clean(path)] = &image{base: base, size: size, patches: patches}
}

// Open opens a file or folder for reading.
func (v *View) Open(name string) (storage.File, error) { return v.OpenFile(name, os.O_RDONLY, 0) }

// OpenFile is Open: a view is not written to.
func (v *View) OpenFile(name string, flag int, perm os.FileMode) (storage.File, error) {
	if flag&(os.O_WRONLY|os.O_RDWR|os.O_CREATE|os.O_TRUNC) != 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	m, ok := v.files[filepath.Clean(name)]
	switch {
	case !ok:
		return v.FS.OpenFile(name, flag, perm)
	case m == nil:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case m.base == nil:
		return v.FS.OpenFile(m.from, flag, perm)
	}
	return &viewFile{io.NewSectionReader(m, 0, m.size), v, name}, nil
}

// Stat describes a file or folder.
func (v *View) Stat(name string) (os.FileInfo, error) {
	m, ok := v.files[filepath.Clean(name)]
	switch {
	case !ok:
		return v.FS.Stat(name)
	case m == nil:
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	case m.base == nil:
		st, err := v.FS.Stat(m.from)
		return viewInfo{st, filepath.Base(name), -1}, err
	}
	st, err := v.FS.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return shownInfo{filepath.Base(name), m.size}, nil
	}
	return viewInfo{st, filepath.Base(name), m.size}, err
}

// ReadDir lists a folder.
func (v *View) ReadDir(name string) ([]os.DirEntry, error) {
	list, err := v.FS.ReadDir(name)
	if err != nil {
		return nil, err
	}
	dir := filepath.Clean(name)
	list = slices.DeleteFunc(list, func(e os.DirEntry) bool {
		_, ok := v.files[filepath.Join(dir, e.Name())]
		return ok
	})
	for path, m := range v.files {
		if m == nil || filepath.Dir(path) != dir {
			continue
		}
		st, err := v.Stat(path)
		if err != nil {
			return nil, err
		}
		list = append(list, fs.FileInfoToDirEntry(st))
	}
	slices.SortFunc(list, func(a, b os.DirEntry) int {
		if a.Name() < b.Name() {
			return -1
		}
		return 1
	})
	return list, nil
}

// ReadAt reads like io.ReaderAt.
func (m *image) ReadAt(b []byte, off int64) (int, error) {
	n, err := m.base.ReadAt(b, off)
	if n < len(b) && patched(m.patches, off, int64(len(b))) {
		if err == nil || err == io.EOF { // a patch may reach past the end of the bytes below it
			clear(b[n:])
			n, err = len(b), nil
		}
	}
	for _, p := range m.patches {
		from, to := max(p.Off, off), min(p.Off+int64(len(p.Data)), off+int64(n))
		if from < to {
			copy(b[from-off:to-off], p.Data[from-p.Off:])
		}
	}
	return n, err
}

// patched reports whether patches touch n bytes from off on.
func patched(patches []Patch, off, n int64) bool {
	return slices.ContainsFunc(patches, func(p Patch) bool { return p.Off < off+n && off < p.Off+int64(len(p.Data)) })
}

// A viewFile is an open file of a View. Close leaves the file below open.
type viewFile struct {
	*io.SectionReader
	view *View
	name string
}

func (f *viewFile) Name() string                       { return f.name }
func (f *viewFile) Stat() (os.FileInfo, error)         { return f.view.Stat(f.name) }
func (f *viewFile) Close() error                       { return nil }
func (f *viewFile) Sync() error                        { return nil }
func (f *viewFile) Write([]byte) (int, error)          { return 0, fs.ErrPermission }
func (f *viewFile) WriteAt([]byte, int64) (int, error) { return 0, fs.ErrPermission }
func (f *viewFile) Truncate(int64) error               { return fs.ErrPermission }

// shownInfo describes a file that Show shows and that is not there.
type shownInfo struct {
	name string
	size int64
}

func (i shownInfo) Name() string       { return i.name }
func (i shownInfo) Size() int64        { return i.size }
func (i shownInfo) Mode() fs.FileMode  { return 0o444 }
func (i shownInfo) ModTime() time.Time { return time.Time{} }
func (i shownInfo) IsDir() bool        { return false }
func (i shownInfo) Sys() any           { return nil }

// viewInfo describes a file with another name and, unless size is negative, another size.
type viewInfo struct {
	os.FileInfo
	name string
	size int64
}

func (i viewInfo) Name() string { return i.name }

func (i viewInfo) Size() int64 {
	if i.size < 0 {
		return i.FileInfo.Size()
	}
	return i.size
}
