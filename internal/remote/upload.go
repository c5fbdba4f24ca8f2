package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/bagconv/bagconv/storage"
)

// Objects are sent in parts of one size, as some servers demand; after many, in larger ones,
// because an object has 10,000 at most.
const (
	partSize   = 16 << 20
	largePart  = 256 << 20
	smallParts = 6000
	mostParts  = 10_000
	sending    = 4 // parts at a time, of all objects together
)

// partStart returns where a part begins, the first being 0.
func partStart(i int) int64 {
	return int64(min(i, smallParts))*partSize + int64(max(i-smallParts, 0))*largePart
}

// partOf returns the part that has a byte.
func partOf(off int64) int {
	if off < smallParts*partSize {
		return int(off / partSize)
	}
	return smallParts + int((off-smallParts*partSize)/largePart)
}

// A draft is an object that is being written, and does not exist until commit. Parts are sent as
// soon as they are full, but the first, which stays until the end: formats write it last. See scratch. What is sent
// cannot be changed any more.
type draft struct {
	fs   *FS
	sink sink
	name string // as it is written
	key  string

	mu    sync.Mutex
	parts map[int]*part // that are not sent
	tags  []string
	size  int64
	id    string // of the upload; "" until a part is sent
	err   error  // the first error
	done  bool   // closed, committed or aborted
	wait  sync.WaitGroup

	closed bool
	sum    string // the tag of an object in one piece, when it is whole

	staging bool    // it is in a staging folder
	only    bool    // nothing may be there when it appears
	back    bool    // it becomes an object under its name in the staging folder, to be read
	staged  *object // the object in the staging folder, once it is there
}

var (
	errSent = fmt.Errorf("it changes what has been sent already: %w", storage.ErrUnsupported)
	errGone = errors.New("the upload was given up")
)

func (r *FS) newDraft(s sink, name, key string) *draft {
	return &draft{fs: r, sink: s, name: name, key: key, parts: map[int]*part{}}
}

// writeAt takes bytes.
func (d *draft) writeAt(b []byte, off int64) (n int, err error) {
	for n < len(b) {
		i := partOf(off)
		if i >= mostParts {
			return n, fmt.Errorf("larger than %d bytes, which is too much for one object: write segments or split it: %w",
				partStart(mostParts), storage.ErrUnsupported)
		}
		begin, end := partStart(i), partStart(i+1)
		piece := b[n:min(int64(len(b)), int64(n)+end-off)]
		if err := d.fill(i, piece, off-begin, end-begin); err != nil {
			return n, err
		}
		n, off = n+len(piece), off+int64(len(piece))
	}
	return n, nil
}

// fill takes bytes of one part, and sends it if it is full.
func (d *draft) fill(i int, b []byte, at, size int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.err != nil:
		return d.err
	case d.done || d.closed:
		return errGone
	case i < len(d.tags) && d.tags[i] != "":
		return errSent
	}
	p := d.parts[i]
	if p == nil {
		p = &part{}
		d.parts[i] = p
	}
	if err := d.fs.scratch.write(p, b, at, size); err != nil {
		d.err = err
		return err
	}
	d.size = max(d.size, partStart(i)+at+int64(len(b)))
	if i > 0 && p.have[0] == [2]int64{0, size} {
		return d.send(i)
	}
	return nil
}

// send sends a part in the background. d.mu is held, and let go while it waits for room.
func (d *draft) send(i int) error {
	if d.id == "" {
		if err := d.start(); err != nil {
			d.err = err
			return err
		}
	}
	p, n := d.parts[i], d.length(i)
	if p == nil {
		p = &part{}
	}
	delete(d.parts, i)
	for len(d.tags) <= i {
		d.tags = append(d.tags, "")
	}
	d.tags[i] = "?" // on its way
	d.mu.Unlock()
	room := d.fs.sending
	room <- struct{}{}
	d.mu.Lock()
	if d.err != nil { // it was given up meanwhile, or another part failed
		<-room
		d.fs.scratch.release(p)
		return d.err
	}
	id := d.id
	d.wait.Go(func() {
		defer func() { <-room }()
		defer d.fs.scratch.release(p)
		var tag string
		data, err := d.fs.scratch.bytes(p, n)
		if err == nil {
			err = d.fs.link.do(d.fs.ctx, func(ctx context.Context) (_ bool, err error) {
				tag, err = d.sink.part(ctx, d.key, id, i+1, data)
				return false, err
			})
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		d.tags[i] = tag
		if d.err == nil {
			d.err = err
		}
	})
	return d.err
}

// start begins the upload, and writes it down for whoever cleans up. d.mu is held.
func (d *draft) start() error {
	link, began, tries := d.fs.link, time.Now(), 0
	d.fs.ledger.begin(d.sink, d.key)
	err := link.do(d.fs.ctx, func(ctx context.Context) (_ bool, err error) {
		tries++
		if d.id, err = d.sink.begin(ctx, d.key); err == nil {
			d.fs.ledger.add(d.sink, d.key, d.id)
		}
		return false, err
	})
	if err == nil && tries > 1 {
		_, _ = d.fs.abortLostBegins(d.sink, d.key, d.id, began, time.Now()) // else their lease ends one day
	}
	if err != nil && !Transient(err) {
		d.fs.ledger.remove(beginID(d.sink, d.key))
	}
	return err
}

// abortLostBegins gives up uploads of a key that were begun by attempts whose answer was lost: uploads that began
// between two times and of which nothing was sent, except the one with that id. The error is about listing them.
func (r *FS) abortLostBegins(s sink, key, id string, from, to time.Time) (some bool, err error) {
	const slack = 2 * time.Second                          // servers tell whole seconds
	try := func(f func(ctx context.Context) error) error { // each by itself: each may need several tries
		return r.link.do(r.ctx, func(ctx context.Context) (bool, error) { return false, f(ctx) })
	}
	var list []upload
	err = try(func(ctx context.Context) (err error) {
		list, err = s.uploads(ctx, key)
		return err
	})
	for _, u := range list {
		if u.key != key || u.id == id || u.last.Before(from.Add(-slack)) || u.last.After(to.Add(slack)) {
			continue
		}
		var last time.Time
		err := try(func(ctx context.Context) (err error) {
			last, err = s.lastPart(ctx, u.key, u.id)
			return err
		})
		if err == nil && last.IsZero() {
			some = true
			_ = try(func(ctx context.Context) error { return s.abort(ctx, u.key, u.id) })
		}
	}
	return some, err
}

// close ends the writing: all parts but the first are sent.
func (d *draft) close() error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return d.err
	}
	d.closed = true
	for i := 1; d.err == nil && i <= partOf(max(d.size-1, 0)); i++ {
		if i < len(d.tags) && d.tags[i] != "" {
			continue
		}
		_ = d.send(i) // it is in d.err
	}
	d.mu.Unlock()
	d.wait.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// length returns the bytes of a part, as far as the object goes. d.mu is held.
func (d *draft) length(i int) int64 { return min(d.size, partStart(i+1)) - partStart(i) }

// first returns the bytes of the first part of a closed draft. d.mu is held.
func (d *draft) first() ([]byte, error) {
	p := d.parts[0]
	if p == nil {
		p = &part{}
		d.parts[0] = p
	}
	return d.fs.scratch.bytes(p, d.length(0))
}

// release forgets all parts. d.mu is held.
func (d *draft) release() {
	for _, p := range d.parts {
		d.fs.scratch.release(p)
	}
	d.parts = nil
}

// commit makes the object appear: nothing else is done after that. If only is set no
// object of that name may be there.
func (d *draft) commit(only bool) error {
	if err := d.close(); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.done {
		return errGone
	}
	first, err := d.first()
	if err != nil {
		return err
	}
	d.sum = d.sink.tag("", 0, first)
	link := d.fs.link
	if d.id != "" {
		if err := link.do(d.fs.ctx, func(ctx context.Context) (_ bool, err error) {
			d.tags[0], err = d.sink.part(ctx, d.key, d.id, 1, first)
			return false, err
		}); err != nil {
			return d.confirm(err, only)
		}
	}
	if only && d.occupied() { // asked as late as can be: the first part may take seconds
		return fmt.Errorf("another run has written it meanwhile: %w", fs.ErrExist)
	}
	err = link.do(d.fs.ctx, func(ctx context.Context) (bool, error) {
		if d.id == "" {
			return false, d.sink.put(ctx, d.key, first, only)
		}
		return false, d.sink.complete(ctx, d.key, d.id, d.tags, only)
	})
	return d.confirm(err, only)
}

// confirm judges the answer of the step that makes the object appear. An answer that was lost
// leaves it open whether it did: then the store is asked. d.mu is held.
func (d *draft) confirm(err error, only bool) error {
	var s *statusError
	if errors.As(err, &s) && s.code == 501 && only { // the server has no such condition
		return fmt.Errorf("%w; the server cannot refuse to replace what another run has written meanwhile: use --force", err)
	}
	if lost := Transient(err) || errors.As(err, &s) && (s.code == 404 || s.code == 412 || s.code == 409); lost {
		ours, unknown := d.isOurs()
		switch {
		case Transient(unknown):
			return fmt.Errorf("%w; the store did not confirm it: look whether it is there before you try again: %w", err,
				unknown)
		case ours && d.id == "":
			err = nil
		case ours: // it may be the same object of another run; then this one is still open
			err = d.fs.giveUp(d.sink, d.key, d.id)
		}
	}
	if err == nil {
		d.done = true
		if d.id == "" || !d.sink.keepsParts() || d.fs.giveUp(d.sink, d.key, d.id) == nil { // else the next run does
			d.fs.ledger.remove(d.id)
		}
		d.release()
		return nil
	}
	if errors.As(err, &s) && (s.code == 412 || s.code == 409) && only {
		return fmt.Errorf("another run has written it meanwhile: %w", fs.ErrExist)
	}
	if errors.As(err, &s) && s.code == 409 { // of two that may replace it, one came between
		return &transientError{1, fmt.Errorf("another run has written it meanwhile: %w", err)}
	}
	return err
}

// occupied reports whether an object stands there: not every server refuses to replace one when it is
// asked to.
func (d *draft) occupied() bool {
	link := d.fs.link
	return link.do(d.fs.ctx, func(ctx context.Context) (bool, error) {
		_, _, err := d.sink.head(ctx, d.key)
		return false, err
	}) == nil
}

// isOurs reports whether the object that stands there is this one. An error leaves it open.
func (d *draft) isOurs() (bool, error) {
	ctx, stop := d.fs.detached()
	defer stop()
	var o object
	err := d.fs.link.do(ctx, func(ctx context.Context) (_ bool, err error) {
		o, _, err = d.sink.head(ctx, d.key)
		return false, err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && o.size == d.size && o.mark == d.mark(), err
}

// abort gives the object up. It works although the run has ended.
func (d *draft) abort() error {
	d.mu.Lock()
	if d.err == nil {
		d.err = errGone
	}
	d.closed = true
	d.mu.Unlock()
	d.wait.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.done {
		return nil
	}
	d.done = true
	d.release()
	if d.id == "" {
		return nil
	}
	return d.fs.giveUp(d.sink, d.key, d.id)
}

// giveUp aborts an upload.
func (r *FS) giveUp(s sink, key, id string) error {
	ctx, stop := r.detached()
	defer stop()
	err := r.link.do(ctx, func(ctx context.Context) (bool, error) { return false, s.abort(ctx, key, id) })
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // it is gone
	}
	if err == nil {
		r.ledger.remove(id)
	}
	return err
}

// detached returns a context for what must be done although the run has ended.
func (r *FS) detached() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(r.ctx), 20*time.Second)
}

// A writing is a draft as a storage.File.
type writing struct {
	*draft
	pos int64
}

func (w *writing) Name() string { return w.name }
func (w *writing) Sync() error  { return nil } // what is committed is durable

func (w *writing) Read([]byte) (int, error)          { return 0, w.fail("read", errWriting) }
func (w *writing) ReadAt([]byte, int64) (int, error) { return 0, w.fail("read", errWriting) }

var errWriting = fmt.Errorf("it is being sent, and cannot be read: %w", storage.ErrUnsupported)

func (w *writing) fail(op string, err error) error { return w.fs.fail(op, w.name, err) }

func (w *writing) Stat() (os.FileInfo, error) { return w.info(), nil }

func (w *writing) WriteAt(b []byte, off int64) (int, error) {
	n, err := w.writeAt(b, off)
	return n, w.fail("write", err)
}

func (w *writing) Write(b []byte) (int, error) {
	n, err := w.WriteAt(b, w.pos)
	w.pos += int64(n)
	return n, err
}

func (w *writing) Seek(off int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		off += w.pos
	case io.SeekEnd:
		off += w.info().size
	}
	w.pos = max(off, 0)
	return w.pos, nil
}

func (w *writing) Truncate(size int64) error {
	if size != w.info().size {
		return w.fail("truncate", errSent)
	}
	return nil
}

func (w *writing) Close() error { return w.fail("close", w.fs.ended(w.draft)) }
