package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bagconv/bagconv/internal/iox"
)

// Place makes what has been drafted under these names in a staging folder appear in the folder
// dir, with the files last that list the others. Without overwrite no object of these names may be
// there, and on error none is. With overwrite everything else under these names and the names in
// old is removed. See iox.Output.
func (r *FS) Place(stage, dir string, names, old []string, overwrite bool) error {
	to, _, err := r.sink(dir)
	if err != nil {
		return err
	}
	var drafts []*draft
	for _, name := range names {
		found := r.below(filepath.Join(stage, name))
		if len(found) == 0 {
			return &fs.PathError{Op: "place", Path: Show(filepath.Join(dir, name)), Err: fs.ErrNotExist}
		}
		drafts = append(drafts, found...)
	}
	var stale []string
	if overwrite {
		if stale, err = r.replaced(dir, append(slices.Clone(names), old...), drafts); err != nil {
			return err
		}
	}
	var failed error
	for i, d := range drafts {
		if failed = r.appear(d, !overwrite, len(drafts) > 1); failed == nil {
			continue
		}
		if !overwrite {
			for _, d := range drafts[:i] {
				failed = errors.Join(failed, r.withdraw(d))
			}
		}
		return failed
	}
	for _, d := range drafts {
		r.ledger.remove(objectID(d.sink, d.final()))
		r.forget(d)
	}
	for _, key := range stale {
		err = errors.Join(err, r.removeObject(to, key))
	}
	return err
}

// final returns the key that a draft will have.
func (d *draft) final() string {
	n, _ := parse(iox.FinalPath(d.name)) // it has been parsed before
	return n.path
}

// replaced returns the keys of what is under the names and is not written anew. Files that list
// others are removed at once: what they list is about to change.
func (r *FS) replaced(dir string, names []string, drafts []*draft) (stale []string, err error) {
	to, _, err := r.sink(dir)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		root := filepath.Join(dir, name)
		if st, err := r.Stat(root); errors.Is(err, fs.ErrNotExist) || err == nil && !st.IsDir() && slices.ContainsFunc(drafts,
			func(d *draft) bool { return iox.FinalPath(d.name) == root }) {
			continue
		} else if err != nil {
			return nil, err
		}
		n, err := parse(root)
		if err != nil {
			return nil, err
		}
		keys, err := r.keys(to, n.path)
		if err != nil {
			return nil, err
		}
		for _, key := range keys {
			for _, l := range r.link.settings.Listings {
				if strings.HasSuffix(key, "/"+l.Name) {
					err = errors.Join(err, r.removeObject(to, key))
				}
			}
			if !slices.ContainsFunc(drafts, func(d *draft) bool { return d.final() == key }) {
				stale = append(stale, key)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return stale, nil
}

// keys returns the keys of all objects in the folder with the name of a key, or the key alone.
func (r *FS) keys(st store, key string) (keys []string, err error) {
	entries, err := r.list(st, key+"/", false)
	if err != nil || len(entries) == 0 {
		return []string{key}, err
	}
	for _, e := range entries {
		if !e.dir {
			keys = append(keys, key+"/"+e.name)
			continue
		}
		more, err := r.keys(st, key+"/"+e.name)
		if err != nil {
			return nil, err
		}
		keys = append(keys, more...)
	}
	return keys, nil
}

// appear makes the object of a draft appear. An object that is one of several is written down, so that
// whoever cleans up after a kill removes it: it is of no use without the others.
func (r *FS) appear(d *draft, only, several bool) error {
	if d.staged != nil {
		return r.move(d, only, several)
	}
	if several {
		if err := d.owe(); err != nil {
			return err
		}
	}
	return d.commit(only)
}

// owe writes down the object that a closed draft is about to become.
func (d *draft) owe() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	first, err := d.first()
	if err != nil {
		return err
	}
	if d.sum = d.sink.tag("", 0, first); d.id != "" {
		d.tags[0] = d.sink.tag(d.id, 1, first)
	}
	d.fs.ledger.owe(d.sink, d.key, d.mark())
	return nil
}

// withdraw removes an object that has appeared.
func (r *FS) withdraw(d *draft) error {
	err := r.removeObject(d.sink, d.final())
	if err == nil {
		r.ledger.remove(objectID(d.sink, d.final()))
	}
	return err
}

// move makes a draft that is an object already appear under its final key. The server copies the
// object, if it can.
func (r *FS) move(d *draft, only, several bool) error {
	to := r.newDraft(d.sink, d.name, d.final())
	to.size = d.staged.size
	// no part can be empty, and one request is less than three
	if _, copies := d.sink.(copier); to.size == 0 || !copies && to.size <= partSize {
		data, err := r.readStaged(d, 0, to.size)
		if err == nil {
			to.parts[0] = &part{data: data}
			err = r.appear(to, only, several)
		}
		return errors.Join(err, r.unstage(d))
	}
	to.mu.Lock()
	err := to.start()
	for off := int64(0); err == nil && off < to.size; {
		n, err2 := r.copyPiece(to, d, off)
		off, err = off+n, err2
	}
	if err == nil && only && to.occupied() {
		err = fmt.Errorf("another run has written it meanwhile: %w", fs.ErrExist)
	}
	if err == nil {
		if several {
			r.ledger.owe(to.sink, to.key, to.mark())
		}
		err = r.link.do(r.ctx, func(ctx context.Context) (bool, error) {
			return false, to.sink.complete(ctx, to.key, to.id, to.tags, only)
		})
		err = to.confirm(err, only)
	}
	to.mu.Unlock()
	if err != nil {
		return errors.Join(err, to.abort())
	}
	return r.unstage(d)
}

// readStaged reads bytes of a draft that is an object already.
func (r *FS) readStaged(d *draft, off, n int64) ([]byte, error) {
	data := make([]byte, n)
	if n == 0 {
		return data, nil
	}
	_, err := r.cacheOf(&info{where: d.name, object: *d.staged}, d.key, d.sink).readAt(r.ctx, data, off)
	return data, err
}

// copyPiece makes the next part of a draft, which begins at off, from the object of another draft. It returns
// the length of the part.
func (r *FS) copyPiece(to, from *draft, off int64) (n int64, err error) {
	number := len(to.tags) + 1
	var send func(ctx context.Context) (tag string, err error)
	if copies, ok := to.sink.(copier); ok {
		n = min(copies.piece(), to.size-off)
		send = func(ctx context.Context) (string, error) {
			return copies.copyPart(ctx, to.key, to.id, number, from.key, from.staged, off, n)
		}
	} else { // it is read and sent again
		n = min(partStart(number), to.size) - off
		data, err := r.readStaged(from, off, n)
		if err != nil {
			return 0, err
		}
		send = func(ctx context.Context) (string, error) { return to.sink.part(ctx, to.key, to.id, number, data) }
	}
	var tag string
	err = r.link.do(r.ctx, func(ctx context.Context) (_ bool, err error) {
		tag, err = send(ctx)
		return false, err
	})
	to.tags = append(to.tags, tag)
	return n, err
}

// lease is how long an upload is left alone after something was sent of it, if it is not known
// that its process is dead.
const lease = 24 * time.Hour

// CleanUp gives up what runs that were killed have left of the output at a name: what this
// machine knows to be left of dead processes at once, anything else when its lease has ended. See
// iox.CleanUp.
func (r *FS) CleanUp(s string) (found []iox.Leftover, err error) {
	to, n, err := r.sink(s)
	if err != nil {
		return nil, nil // nothing can be written there
	}
	debts(func(d debt) bool {
		if d.Store != to.where() {
			return false
		}
		some, err := r.settle(to, d)
		if some || err != nil {
			found = append(found, iox.Leftover{Path: Show(n.file(d.Key)), Err: err})
		}
		done := d.Mark != "" && some || time.Since(d.requested()) > beginning // until then the store may still do it
		return err == nil && done
	})
	var list []upload
	err = r.link.do(r.ctx, func(ctx context.Context) (_ bool, err error) {
		list, err = to.uploads(ctx, n.path)
		return false, err
	})
	var refused *statusError
	if errors.As(err, &refused) && !refused.transient() {
		return found, nil // this server, or this user, cannot list them
	}
	for _, u := range list {
		if time.Since(u.last) < lease {
			continue
		}
		var last time.Time
		err := r.link.do(r.ctx, func(ctx context.Context) (_ bool, err error) {
			last, err = to.lastPart(ctx, u.key, u.id)
			return false, err
		})
		if err == nil && time.Since(last) >= lease {
			found = append(found, iox.Leftover{Path: Show(n.file(u.key)), Err: r.giveUp(to, u.key, u.id)})
		}
	}
	return found, r.fail("clean up", s, err)
}

// A deadUpload is an upload of a process that was killed. It was given up, but a part that was on its way may
// still arrive.
type deadUpload struct {
	sink    sink
	key, id string
}

// beginning is how long an upload may take to begin, or an object to appear, after the store was asked for it.
const beginning = time.Minute

// settle removes what a dead process has left: an upload, or an object that is its own. It returns whether
// there may have been something.
func (r *FS) settle(to sink, d debt) (some bool, err error) {
	if !d.Begins.IsZero() {
		some, err = r.abortLostBegins(to, d.Key, "", d.Begins, d.Begins.Add(beginning))
		var refused *statusError
		if errors.As(err, &refused) && !refused.transient() {
			err = nil // this server, or this user, cannot list them
		}
		return some, err
	}
	if d.Mark == "" {
		if to.keepsParts() {
			r.mu.Lock()
			r.dead = append(r.dead, deadUpload{to, d.Key, d.ID})
			r.mu.Unlock()
		}
		return true, r.giveUp(to, d.Key, d.ID)
	}
	var o object
	err = r.link.do(r.ctx, func(ctx context.Context) (_ bool, err error) {
		o, _, err = to.head(ctx, d.Key)
		return false, err
	})
	if errors.Is(err, fs.ErrNotExist) || err == nil && o.mark != d.Mark {
		return false, nil
	}
	if err != nil {
		return true, fmt.Errorf("it could not be looked at: %w", err)
	}
	return true, r.removeObject(to, d.Key)
}
