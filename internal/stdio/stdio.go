// Package stdio makes standard input and output two files of a file system, so that recordings come from other
// programs and go to them.
//
// In is read at any place: what arrives on a pipe is kept in a file without a name, of at most Options.Limit bytes;
// a regular file is read where it is. Out is an output in the making, like any other (see iox.Output), of one file. It
// goes out as it grows, if its format only ever writes at the end (Direct), and else when it is whole:
//
//	.<stdout>.XXXXXXXX.part/run          held in memory, as are the folders
//	.<stdout>.XXXXXXXX.part/new/<stdout> what goes out
//
// Folders as outputs, outputs of several files, and reading an output that goes out as it grows are refused with
// errors that wrap storage.ErrUnsupported. In may be read from several goroutines; Out is for one writer.
package stdio

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// In and Out are the names of the two files. Messages for people have them, too.
const In, Out = "<stdin>", "<stdout>"

// ErrTooLong is the error of standard input that is longer than may be kept.
var ErrTooLong = errors.New("standard input is too long")

// An FS is another file system with the two files. The zero values of its fields leave out one or the other.
type FS struct {
	iox.Wrapped
	*streams
}

// streams are what all uses of an FS share, counted or not.
type streams struct {
	in *input

	w      io.Writer
	direct bool
	mu     sync.Mutex // guards names
	names  map[string]*output
}

// New returns fsys with a standard output that is written to w, and no standard input yet.
func New(fsys storage.FS, w io.Writer) *FS {
	return &FS{iox.Wrap(fsys), &streams{w: w, names: map[string]*output{}}}
}

// Direct lets Out go out as it grows: for formats that write only at the end of their file.
func (f *FS) Direct(direct bool) { f.direct = direct }

// Metered is f with a Meter of the other files, and of nothing else.
func (f *FS) Metered(m *iox.Meter) storage.FS {
	return &FS{iox.Wrap(iox.Metered(f.FS, m)), f.streams}
}

// Keep makes r the file In. A pipe is copied into a file without a name in the folder dir, with at most limit bytes;
// kept is how many those are. A regular file that has not been read is not copied.
func (f *FS) Keep(r io.Reader, dir string, limit int64) (kept int64, err error) {
	if file, ok := r.(*os.File); ok {
		st, err := file.Stat()
		if err == nil && st.Mode().IsRegular() {
			if at, err := file.Seek(0, io.SeekCurrent); err == nil && at == 0 {
				f.in = &input{r: file, size: st.Size(), time: st.ModTime()}
				return 0, nil
			}
		}
	}
	tmp, err := iox.TempFile(f.FS, dir)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(tmp, io.LimitReader(r, limit+1))
	if err == nil && n > limit {
		err = ErrTooLong
	}
	if err != nil {
		return n, errors.Join(err, tmp.Close())
	}
	f.in = &input{r: tmp, close: tmp.Close, size: n, time: time.Now()}
	return n, nil
}

// Close frees standard input.
func (f *FS) Close() error {
	if f.in == nil || f.in.close == nil {
		return nil
	}
	return f.in.close()
}

// Open opens In, or another file.
func (f *FS) Open(name string) (storage.File, error) {
	switch {
	case name == In && f.in != nil:
		return &reader{io.NewSectionReader(f.in.r, 0, f.in.size), f.in}, nil
	case staged(name) || name == Out:
		return nil, refuse("open", name, "an output that goes to standard output cannot be read")
	}
	return f.Wrapped.Open(name)
}

// OpenFile makes what will be Out, or opens another file.
func (f *FS) OpenFile(name string, flag int, perm os.FileMode) (storage.File, error) {
	switch {
	case name == In && f.in != nil:
		return nil, refuse("open", name, "standard input cannot be written")
	case !staged(name):
		return f.Wrapped.OpenFile(name, flag, perm)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	out := f.names[name]
	switch {
	case out == nil && flag&os.O_CREATE == 0:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case out != nil:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrExist}
	}
	out = &output{name: filepath.Base(name), w: io.Discard}
	switch {
	case iox.IsTemp(filepath.Base(filepath.Dir(name))): // the file run
	case out.name != Out:
		return nil, refuse("create", name, "several files cannot be written to standard output")
	default:
		out.w = f.w
		if !f.direct {
			tmp, err := iox.TempFile(f.FS, os.TempDir())
			if err != nil {
				return nil, err
			}
			out.tmp = tmp
		}
	}
	f.names[name] = out
	return out, nil
}

// Stat describes a file. Out is not there before its Commit.
func (f *FS) Stat(name string) (os.FileInfo, error) {
	if name == In && f.in != nil {
		return f.in, nil
	}
	if name != Out && !staged(name) {
		return f.Wrapped.Stat(name)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if out := f.names[name]; out != nil {
		return out.Stat()
	}
	return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
}

// Lstat is Stat: there are no links.
func (f *FS) Lstat(name string) (os.FileInfo, error) {
	if name == In || name == Out || staged(name) {
		return f.Stat(name)
	}
	return f.Wrapped.Lstat(name)
}

// Mkdir makes the folders of an output, which are only names.
func (f *FS) Mkdir(name string, perm os.FileMode) error {
	switch {
	case !staged(name):
		return f.Wrapped.Mkdir(name, perm)
	case filepath.Base(name) == Out:
		return refuse("mkdir", Out, "a folder cannot be written to standard output")
	}
	return nil
}

// Remove removes a name.
func (f *FS) Remove(name string) error { return f.removal(name, f.Wrapped.Remove) }

// RemoveAll removes a name and what is below it.
func (f *FS) RemoveAll(name string) error { return f.removal(name, f.Wrapped.RemoveAll) }

func (f *FS) removal(name string, other func(string) error) error {
	if !staged(name) {
		return other(name)
	}
	return nil // what went out stays out
}

// Place puts Out in its place: it is whole, and goes out if it has not yet.
func (f *FS) Place(stage, dir string, names, old []string, overwrite bool) error {
	if !staged(stage) {
		return f.Wrapped.Place(stage, dir, names, old, overwrite)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	out := f.names[filepath.Join(stage, Out)]
	if len(names) != 1 || out == nil {
		return refuse("write", Out, "several files cannot be written to standard output")
	}
	f.names[Out] = out
	return out.sendKept()
}

// staged reports whether a name lies in the staging folder of Out.
func staged(name string) bool {
	if !strings.Contains(name, Out) {
		return false
	}
	for dir := filepath.Clean(name); dir != "." && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if base := filepath.Base(dir); iox.IsTemp(base) && iox.TempOf(base) == Out {
			return true
		}
	}
	return false
}

func refuse(op, name, what string) error {
	return &fs.PathError{Op: op, Path: name, Err: fmt.Errorf("%s: %w", what, storage.ErrUnsupported)}
}
