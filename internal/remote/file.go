package remote

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A file is an object that is read.
type file struct {
	fs    *FS
	name  string
	info  *info
	cache *cache // nil for a folder
	pos   int64
}

var errReadOnly = &fs.PathError{Op: "write", Path: "a file that is read", Err: fs.ErrPermission}

func (f *file) Name() string { return f.name }

// Distant reports that a read asks another machine. See iox.Distant.
func (f *file) Distant() bool { return true }

// Prefetch begins to fetch spans of the object, up to a limit. See iox.Prefetch.
func (f *file) Prefetch(spans []iox.Span) {
	if f.cache != nil {
		f.cache.prefetch(f.fs.ctx, spans)
	}
}

func (f *file) Stat() (os.FileInfo, error) { return f.info, nil }
func (f *file) Close() error               { return nil }
func (f *file) Sync() error                { return nil }

func (f *file) Write([]byte) (int, error)          { return 0, errReadOnly }
func (f *file) WriteAt([]byte, int64) (int, error) { return 0, errReadOnly }
func (f *file) Truncate(int64) error               { return errReadOnly }

func (f *file) Read(p []byte) (int, error) {
	n, err := f.ReadAt(p, f.pos)
	f.pos += int64(n)
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	switch {
	case f.cache == nil:
		return 0, f.fs.fail("read", f.name, errors.New("it is a folder"))
	case off < 0:
		return 0, f.fs.fail("read", f.name, fs.ErrInvalid)
	case off >= f.info.size:
		if len(p) == 0 {
			return 0, nil
		}
		return 0, io.EOF
	}
	k := min(int64(len(p)), f.info.size-off)
	n, err := f.cache.readAt(f.fs.ctx, p[:k], off)
	if err != nil {
		return n, f.fs.fail("read", f.name, err)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *file) Seek(off int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		off += f.pos
	case io.SeekEnd:
		off += f.info.size
	}
	if off < 0 {
		return f.pos, f.fs.fail("seek", f.name, fs.ErrInvalid)
	}
	f.pos = off
	return off, nil
}

// An info is what is known of an object or a folder.
type info struct {
	where string // the whole name, without a second slash
	base  string
	dir   bool
	object
}

func (i *info) Name() string       { return i.base }
func (i *info) Size() int64        { return i.size }
func (i *info) ModTime() time.Time { return i.modified }
func (i *info) IsDir() bool        { return i.dir }
func (i *info) Sys() any           { return nil }

func (i *info) Mode() os.FileMode {
	if i.dir {
		return fs.ModeDir | 0o777
	}
	return 0o666
}

// SameFile reports whether other describes the same object. See iox.SameFile.
func (i *info) SameFile(other os.FileInfo) bool {
	o, ok := other.(*info)
	return ok && o.where == i.where
}

// Version tells apart the objects that have stood under one name; "" if the store does not.
func (i *info) Version() string { return i.etag }

var _ storage.File = (*file)(nil)
