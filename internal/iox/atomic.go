package iox

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/bagconv/bagconv/storage"
)

// An Output is a file or folder in the making. It lives under a temporary name
// beside its final one; Commit moves it there, Abort removes it.
type Output struct {
	fs        storage.FS
	final     string
	temp      string
	overwrite bool
	sync      bool
	done      bool

	// BeforeCommit, when set, is asked by Commit whether the output may have its
	// final name. See storage.WriteOptions.
	BeforeCommit func(temp string) error
}

// NewOutput checks that path is free (or may be replaced) and picks a temporary
// name beside it. It creates nothing. Errors wrap fs.ErrExist when path exists.
func NewOutput(fsys storage.FS, path string, overwrite, sync bool) (*Output, error) {
	fsys = FS(fsys)
	path = filepath.Clean(path)
	if _, err := fsys.Stat(path); err == nil {
		if !overwrite {
			return nil, &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	dir, base := filepath.Split(path)
	temp := filepath.Join(dir, fmt.Sprintf(".%.200s.%08x.part", base, rand.Uint32()))
	return &Output{fs: fsys, final: path, temp: temp, overwrite: overwrite, sync: sync}, nil
}

// IsTemp tells whether a file name, without its folder, is one that NewOutput picks.
func IsTemp(name string) bool {
	return strings.HasPrefix(name, ".") && strings.HasSuffix(name, ".part")
}

// Temp is the name to write under until Commit.
func (o *Output) Temp() string { return o.temp }

// Final is the name that Commit gives.
func (o *Output) Final() string { return o.final }

// Commit syncs the folder entries (when the output was made with sync) and
// moves the output to its final name. The caller has closed and synced the
// files themselves. On error the output is removed.
func (o *Output) Commit() error {
	if o.done {
		return nil
	}
	err := o.commit()
	if err != nil {
		return errors.Join(err, o.Abort())
	}
	o.done = true
	return nil
}

// Check asks BeforeCommit; Commit does so by itself.
func (o *Output) Check() error {
	if o.BeforeCommit == nil {
		return nil
	}
	return o.BeforeCommit(o.temp)
}

func (o *Output) commit() error {
	if err := o.Check(); err != nil {
		return err
	}
	st, err := o.fs.Stat(o.temp)
	if err != nil {
		return err
	}
	if o.sync && st.IsDir() {
		if err := SyncDir(o.fs, o.temp); err != nil {
			return err
		}
	}
	old, err := o.fs.Stat(o.final)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = o.fs.Rename(o.temp, o.final)
	case err != nil:
	case !o.overwrite:
		err = &fs.PathError{Op: "create", Path: o.final, Err: fs.ErrExist}
	case !old.IsDir() && !st.IsDir():
		err = o.fs.Rename(o.temp, o.final)
	default:
		err = o.replace()
	}
	if err != nil || !o.sync {
		return err
	}
	if err := SyncDir(o.fs, filepath.Dir(o.final)); err != nil {
		// The name may not outlive a power cut: an output that is not there is
		// better than one that may not be.
		return errors.Join(err, o.fs.RemoveAll(o.final))
	}
	return nil
}

// replace swaps a folder in, or out: the old one is moved aside first, because
// a rename does not replace a folder that is not empty.
func (o *Output) replace() error {
	aside := o.temp + ".old"
	if err := o.fs.Rename(o.final, aside); err != nil {
		return err
	}
	if err := o.fs.Rename(o.temp, o.final); err != nil {
		return errors.Join(err, o.fs.Rename(aside, o.final))
	}
	return o.fs.RemoveAll(aside)
}

// Abort removes the unfinished output. After Commit it does nothing.
func (o *Output) Abort() error {
	if o.done {
		return nil
	}
	o.done = true
	return o.fs.RemoveAll(o.temp)
}

// SyncDir makes the names in a folder durable.
func SyncDir(fsys storage.FS, dir string) error {
	d, err := fsys.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if cannotSyncDir(err) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

// cannotSyncDir tells a system that does not sync folders (Windows, some
// network file systems) from a disk that failed.
func cannotSyncDir(err error) bool {
	return errors.Is(err, os.ErrPermission) || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrInvalid)
}
