package iox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bagconv/bagconv/storage"
)

// A Leftover is a staging folder of a process that does not live any more.
type Leftover struct {
	Path     string
	Finished bool   // its Commit had begun, and was brought to its end; else it was removed
	Kept     string // what is in it, if it stays because it cannot be made again: see Unfinished
	Err      error  // nil; else why it is still there
}

// CleanUp removes what processes that were killed have left of the output at path,
// and brings to its end what they had begun to put in place in its folder. It leaves
// staging folders of living processes and of other users alone, and folders that hold
// one of keep. On a system without locks nobody knows which process lives: then it
// leaves all of them alone, and returns them as leftovers with an error.
func CleanUp(fsys storage.FS, path string, keep ...string) (found []Leftover, err error) {
	fsys = FS(fsys)
	if s := store(fsys, path); s != nil {
		if c, ok := s.(cleaner); ok {
			return c.CleanUp(path)
		}
		return nil, nil
	}
	dir, base := filepath.Split(filepath.Clean(path))
	dir = filepath.Clean(dir)
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	prefix := stagePrefix(base)
	for _, e := range entries {
		if !e.IsDir() || !IsTemp(e.Name()) {
			continue
		}
		stage := filepath.Join(dir, e.Name())
		if st, err := e.Info(); err != nil || !ours(st) || holds(stage, keep) {
			continue
		}
		same := len(e.Name()) == len(prefix)+8+len(stageSuffix) && strings.HasPrefix(e.Name(), prefix)
		l := Leftover{Path: stage}
		there, err := l.clean(fsys, dir, same)
		if err != nil {
			l.Err = err
		}
		if there {
			found = append(found, l)
		}
	}
	return found, nil
}

// clean looks at one staging folder. there is false if there is nothing to do with
// the folder. all is false when only a Commit that had begun matters.
func (l *Leftover) clean(fsys storage.FS, dir string, all bool) (there bool, err error) {
	run, err := fsys.OpenFile(filepath.Join(l.Path, runName), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		// It was being made, or being removed; or it is not ours.
		return all && fsys.Remove(l.Path) == nil, nil
	}
	if err != nil {
		return all, err
	}
	defer func() {
		if run != nil {
			err = errors.Join(err, run.Close())
		}
	}()
	switch err := TryLockOnce(run); {
	case errors.Is(err, ErrLocked):
		return false, nil
	case err != nil:
		return all, fmt.Errorf("another run may still use it; if not, delete it: %w", err)
	}
	j, err := readJournal(fsys, l.Path)
	switch {
	case errors.Is(err, storage.ErrTruncated) && empty(fsys, filepath.Join(l.Path, oldName)):
		// Nothing has moved yet.
	case err != nil:
		return true, err
	case j != nil:
		if err := j.finish(fsys, dir, l.Path); err != nil {
			return true, err
		}
		l.Finished = true
	}
	if j == nil && !all {
		return false, nil
	}
	if l.Kept = kept(fsys, l.Path); l.Kept != "" && j == nil {
		return true, nil
	}
	f := run
	run = nil
	return true, removeStage(fsys, l.Path, f)
}

func empty(fsys storage.FS, dir string) bool {
	entries, err := fsys.ReadDir(dir)
	return errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0
}

// holds reports whether one of the paths is dir, or lies below it.
func holds(dir string, paths []string) bool {
	for _, path := range paths {
		if rel, err := filepath.Rel(resolved(dir), resolved(path)); err != nil || filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// resolved returns a path without links, as far as it exists.
func resolved(path string) string {
	if IsURL(path) {
		return filepath.Clean(path)
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	dir, base := filepath.Split(path) // the stem of several files
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return filepath.Join(real, base)
	}
	return path
}
