// Package virtual has outputs that are made while they are read. A Shelf makes the layout of each once, one at a
// time, with all cores, and keeps it for the next reader: in memory, and as a small file in a folder, by what the
// source is and what is asked for. A source that has changed gets a new one.
//
//	layout.go  what there is to know of an output without its bytes; files.go keeps layouts
//	parts.go   the file system of the pass that finds that out, and of the passes that make parts again
//	view.go    makes the bytes that are read, and keeps some of them (cache.go)
//
// Everything may be used concurrently.
package virtual

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/bagconv/bagconv/convert"
)

// The limits of a Shelf.
const (
	cacheBytes = 128 << 20 // of chunks, of all outputs together
	maxOpen    = 8         // outputs that nobody reads at the moment, with their layouts in memory
)

// A Shelf has outputs by their names.
type Shelf struct {
	ctx   context.Context
	files *files // nil: layouts are not kept in files
	laid  func(source string, r *convert.Report)
	cache *cache
	slot  chan struct{} // for the layout that is being made

	mu     sync.Mutex
	places map[string]*place
}

// A place is where an output is, or will be.
type place struct {
	key     string
	users   int
	used    time.Time
	removed bool // from Shelf.places

	ready  chan struct{} // closed when the fields below are set
	err    error
	layout *layout
	output *view
	file   string // of the layout; "": no file
}

// NewShelf returns one that makes layouts until ctx ends. dir is the folder for them, "" for no
// folder. laid, if not nil, is called after each that was made.
func NewShelf(ctx context.Context, dir string, laid func(source string, r *convert.Report)) *Shelf {
	s := &Shelf{ctx: ctx, laid: laid, cache: newCache(cacheBytes), slot: make(chan struct{}, 1),
		places: map[string]*place{}}
	if dir != "" {
		s.files = &files{dir: dir}
	}
	return s
}

// Open returns the output of a job. options names everything about it besides the source: two jobs
// of one source with the same options have the same output. Release it after use.
func (s *Shelf) Open(ctx context.Context, job convert.Job, options string) (*Output, error) {
	p := s.place(job, options)
	select {
	case <-p.ready:
	case <-ctx.Done():
		s.release(p)
		return nil, context.Cause(ctx)
	}
	if p.err != nil {
		s.release(p)
		return nil, p.err
	}
	return &Output{shelf: s, place: p, release: sync.OnceFunc(func() { s.release(p) })}, nil
}

// place returns where an output is, for one more user.
func (s *Shelf) place(job convert.Job, options string) *place {
	key := job.Source + "\x00" + options
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.places[key]
	if p != nil && p.stale() {
		s.remove(p)
		p = nil
	}
	if p == nil {
		p = &place{key: key, ready: make(chan struct{})}
		s.places[key] = p
		go s.fill(p, job, key)
	}
	p.users++
	p.used = time.Now()
	return p
}

// stale reports whether an output is not the output of its source any more.
func (p *place) stale() bool {
	select {
	case <-p.ready:
		return p.err != nil || p.output.Outdated() != ""
	default:
		return false
	}
}

// fill finds or makes the layout.
func (s *Shelf) fill(p *place, job convert.Job, key string) {
	defer func() {
		close(p.ready)
		s.mu.Lock()
		defer s.mu.Unlock()
		if p.removed && p.users == 0 {
			s.close(p)
		}
	}()
	s.slot <- struct{}{}
	defer func() { <-s.slot }()
	if s.files != nil {
		p.file = s.files.name(job, key)
	}
	if l, err := s.files.load(p.file); err == nil {
		p.layout, p.output = l, newView(job, l, s.cache)
		if p.output.Outdated() == "" {
			return
		}
	}
	if p.layout, p.err = newLayout(s.ctx, job); p.err != nil {
		return
	}
	p.output = newView(job, p.layout, s.cache)
	s.files.save(p.file, p.layout)
	if s.laid != nil {
		s.laid(job.Source, p.layout.Report)
	}
}

// release ends a use. Outputs that nobody reads are closed when they are too many.
func (s *Shelf) release(p *place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.users--; p.users == 0 && p.removed {
		s.close(p)
	}
	var idle []*place
	for _, p := range s.places {
		if p.users == 0 {
			idle = append(idle, p)
		}
	}
	slices.SortFunc(idle, func(a, b *place) int { return b.used.Compare(a.used) })
	for _, p := range idle[min(len(idle), maxOpen):] {
		s.remove(p)
	}
}

// remove takes a place away. It is closed when nobody uses it.
func (s *Shelf) remove(p *place) {
	if p.removed {
		return
	}
	p.removed = true
	delete(s.places, p.key)
	if p.users == 0 {
		s.close(p)
	}
}

func (s *Shelf) close(p *place) {
	select {
	case <-p.ready:
	default:
		return // fill does it
	}
	if p.output != nil {
		_ = p.output.Close() // it was only read
		s.cache.Forget(p.output)
	}
	if p.layout != nil {
		_ = p.layout.Close()
	}
}

// Close closes all outputs that nobody reads; the others close with their last reader.
func (s *Shelf) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.places {
		s.remove(p)
	}
}

// An Output is an output to read from.
type Output struct {
	shelf   *Shelf
	place   *place
	release func()
}

// Size returns how many bytes the output has.
func (o *Output) Size() int64 { return o.place.layout.Size }

// Tag names the content: outputs with other bytes have another one.
func (o *Output) Tag() string { return o.place.layout.Tag() }

// ModTime returns when the source was changed last.
func (o *Output) ModTime() time.Time { return o.place.layout.ModTime() }

// ReadAt reads bytes. After an error about a source that has changed the next Open begins anew.
func (o *Output) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	n, err := o.place.output.ReadAt(ctx, p, off)
	if err != nil && !errors.Is(err, io.EOF) && ctx.Err() == nil {
		o.shelf.mu.Lock()
		defer o.shelf.mu.Unlock()
		o.shelf.files.remove(o.place.file)
		o.shelf.remove(o.place)
	}
	return n, err
}

// Release ends the use.
func (o *Output) Release() { o.release() }
