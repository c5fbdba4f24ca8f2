package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// OpenFile opens an object for reading, or begins one. What is in a staging folder (see
// iox.Output) appears when it is moved to its place; anything else when it is closed. It cannot be read
// before that.
func (r *FS) OpenFile(s string, flag int, _ os.FileMode) (storage.File, error) {
	return r.create(s, flag, false)
}

// OpenFileBack is OpenFile; a file in a staging folder can be read as soon as it is closed.
func (r *FS) OpenFileBack(s string, flag int, _ os.FileMode) (storage.File, error) {
	return r.create(s, flag, true)
}

var (
	errWrite = fmt.Errorf("http:// and https:// can only be read; write to a file or to s3://: %w", storage.ErrUnsupported)
	errPlace = fmt.Errorf("an object cannot be changed in place; write a new one: %w", storage.ErrUnsupported)
)

func (r *FS) create(s string, flag int, back bool) (storage.File, error) {
	if flag&(os.O_WRONLY|os.O_RDWR|os.O_CREATE|os.O_TRUNC) == 0 {
		return r.Open(s)
	}
	to, n, err := r.sink(iox.FinalPath(filepath.Clean(s)))
	switch {
	case err != nil:
		return nil, r.fail("create", s, err)
	case flag&os.O_CREATE == 0 || flag&os.O_APPEND != 0:
		return nil, r.fail("change", s, errPlace)
	}
	d := r.newDraft(to, filepath.Clean(s), n.path)
	own := iox.IsTemp(filepath.Base(filepath.Dir(d.name))) // of the staging folder itself
	d.only, d.staging = flag&os.O_EXCL != 0, inStage(d.name)
	if d.back = back && d.staging && !own; d.back {
		here, _ := parse(d.name) // as its final name
		d.key = here.path
	}
	r.mu.Lock()
	if r.drafts[d.name] != nil {
		r.mu.Unlock()
		return nil, r.fail("create", s, fs.ErrExist)
	}
	r.drafts[d.name] = d
	r.mu.Unlock()
	return &writing{draft: d}, nil
}

// sink returns the store of a name, if it can be written to.
func (r *FS) sink(s string) (sink, name, error) {
	st, n, err := r.open(s)
	if err != nil {
		return nil, n, err
	}
	to, ok := st.(sink)
	if !ok {
		return nil, n, errWrite
	}
	return to, n, nil
}

// ended sends what is left of a draft that was closed.
func (r *FS) ended(d *draft) error {
	err := d.close()
	switch {
	case err != nil || !d.alive():
		return err
	case d.back:
		if err = d.owe(); err == nil { // before it appears: a kill in between must not leave it
			err = d.commit(false)
		}
		if err == nil {
			err = r.stage(d)
		}
	case !d.staging:
		if err = d.commit(d.only); err == nil {
			r.forget(d)
		}
	}
	return err
}

// stage takes note of the object that a draft is now, in a staging folder.
func (r *FS) stage(d *draft) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.staged = &object{size: d.size}
	return r.link.do(r.ctx, func(ctx context.Context) (_ bool, err error) {
		*d.staged, _, err = d.sink.head(ctx, d.key)
		return false, err
	})
}

func (r *FS) forget(d *draft) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.drafts, d.name)
}

// alive reports whether something can still become of a draft.
func (d *draft) alive() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.done && d.err == nil
}

func (d *draft) info() *info {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &info{where: d.name, base: filepath.Base(d.name), object: object{size: d.size, modified: time.Now()}}
}

// mark returns the mark of the object, see sink.mark. d.mu is held.
func (d *draft) mark() string {
	if d.id == "" {
		return d.sum
	}
	return d.sink.mark(d.id, d.tags)
}

// below returns the drafts at a name and below it, with the files last that list others.
func (r *FS) below(name string) (list []*draft) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for n, d := range r.drafts {
		if n == name || strings.HasPrefix(n, name+string(filepath.Separator)) {
			list = append(list, d)
		}
	}
	lists := func(d *draft) int {
		for _, l := range r.link.settings.Listings {
			if path.Base(filepath.ToSlash(d.name)) == l.Name {
				return 1
			}
		}
		return 0
	}
	slices.SortFunc(list, func(a, b *draft) int {
		if c := lists(a) - lists(b); c != 0 {
			return c
		}
		return strings.Compare(a.name, b.name)
	})
	return list
}

// Mkdir notes a folder: a store has a folder only as long as there are objects in it.
func (r *FS) Mkdir(s string, _ os.FileMode) error {
	if _, _, err := r.sink(s); err != nil {
		return r.fail("mkdir", s, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dirs[filepath.Clean(s)] {
		return r.fail("mkdir", s, fs.ErrExist)
	}
	r.dirs[filepath.Clean(s)] = true
	return nil
}

// Rename moves a draft, or all drafts of a folder, to its place, and replaces what is there.
func (r *FS) Rename(from, to string) error {
	if len(r.below(filepath.Clean(from))) == 0 {
		return r.fail("rename", to, r.copyTo(from, to, false))
	}
	return r.fail("rename", to, r.Place(filepath.Dir(from), filepath.Dir(to), []string{filepath.Base(from)},
		[]string{filepath.Base(to)}, true))
}

// copyTo moves an object: the server copies it, and then it is removed.
func (r *FS) copyTo(from, to string, only bool) error {
	s, n, err := r.sink(from)
	if err != nil {
		return err
	}
	if other, _, err := r.sink(to); err != nil || other != s {
		return errors.Join(err, errPlace)
	}
	i, _, err := r.look(from)
	switch {
	case err != nil:
		return err
	case i.dir:
		return errPlace
	}
	d := r.newDraft(s, filepath.Clean(to), n.path)
	d.staged = &i.object
	return r.move(d, only, false)
}

// RenameNew is Rename to a name that must be free.
func (r *FS) RenameNew(from, to string) error {
	if len(r.below(filepath.Clean(from))) == 0 {
		return r.fail("rename", to, r.copyTo(from, to, true))
	}
	return r.fail("rename", to, r.Place(filepath.Dir(from), filepath.Dir(to), []string{filepath.Base(from)}, nil, false))
}

// Exchange is not there.
func (r *FS) Exchange(_, to string) error { return r.fail("exchange", to, errors.ErrUnsupported) }

// Remove removes an object, or in a staging folder a draft, or a folder with all in it.
func (r *FS) Remove(s string) error { return r.remove(s, false) }

// RemoveAll is Remove; outside of staging folders it removes all objects of a folder.
func (r *FS) RemoveAll(s string) error { return r.remove(s, true) }

func (r *FS) remove(s string, all bool) error {
	name := filepath.Clean(s)
	var failed error
	drafts := r.below(name)
	for _, d := range drafts {
		failed = errors.Join(failed, d.abort(), r.unstage(d))
		r.forget(d)
	}
	r.mu.Lock()
	noted := false
	for dir := range r.dirs {
		if dir == name || strings.HasPrefix(dir, name+string(filepath.Separator)) {
			delete(r.dirs, dir)
			noted = true
		}
	}
	r.mu.Unlock()
	to, n, err := r.sink(s)
	if err != nil {
		return r.fail("remove", s, err)
	}
	if len(drafts) == 0 && !noted && !inStage(name) {
		failed = r.removeObjects(to, n.path, all)
	}
	return r.fail("remove", s, failed)
}

// removeObjects removes an object, or all in the folder of that name.
func (r *FS) removeObjects(to sink, key string, all bool) (err error) {
	keys := []string{key}
	if all {
		if keys, err = r.keys(to, key); err != nil {
			return err
		}
	}
	for _, key := range keys {
		err = errors.Join(err, r.removeObject(to, key))
	}
	return err
}

// inStage reports whether a name is the name of a staging folder, or in one.
func inStage(name string) bool {
	return slices.ContainsFunc(strings.Split(name, string(filepath.Separator)), iox.IsTemp)
}

func (r *FS) removeObject(to sink, key string) error {
	ctx, stop := r.detached()
	defer stop()
	err := r.link.do(ctx, func(ctx context.Context) (bool, error) { return false, to.remove(ctx, key) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// unstage removes the object that a draft is as long as it is in a staging folder.
func (r *FS) unstage(d *draft) error {
	d.mu.Lock()
	staged := d.staged != nil
	d.staged = nil
	d.mu.Unlock()
	if !staged {
		return nil
	}
	err := r.removeObject(d.sink, d.key)
	if err == nil {
		r.ledger.remove(objectID(d.sink, d.key))
	}
	return err
}
