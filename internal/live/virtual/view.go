package virtual

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sort"
	"sync"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/iox"
)

// A view reads an output that is not written, by its layout. The bytes are the bytes that Run would
// write: each chunk is compared with its length and its sum. It may be used concurrently.
type view struct {
	job    convert.Job
	layout *layout
	cache  *cache

	mu     sync.Mutex
	idle   []*maker
	slots  chan struct{} // one for each maker that may run
	closed bool
}

// What one view takes at most besides its layout and what is in the cache.
const (
	makers      = 2
	idleMakers  = 1
	makerMemory = 64 << 20
	aheadBytes  = 16 << 20 // limit of what is made at once if chunks are read one after the other
)

// newView returns a view of the job that has this layout; chunks are kept in a cache that others
// may use, too.
func newView(job convert.Job, l *layout, cache *cache) *view {
	job.SkipExtras, job.Attach, job.Progress, job.MaxMemory, job.Read.Strict = true, nil, nil, makerMemory, false
	for i := range l.Files {
		if f := &l.Files[i]; f.info == nil {
			f.info, _ = iox.FS(job.Read.FS).Stat(f.Path)
		}
	}
	return &view{job: job, layout: l, cache: cache, slots: make(chan struct{}, makers)}
}

// Close ends the readers of the source. The layout stays.
func (v *view) Close() (err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, m := range v.idle {
		err = errors.Join(err, m.Close())
	}
	v.idle, v.closed = nil, true
	return err
}

// Outdated returns a file of the source that has changed or is new; "" if all are as they were.
func (v *view) Outdated() string {
	if changed := changedFile(v.job.Read.FS, v.layout.Files); changed != "" {
		return changed
	}
	for _, path := range pathsOf(&v.job) {
		if !slices.ContainsFunc(v.layout.Files, func(f fileState) bool { return f.Path == path }) {
			return path
		}
	}
	return ""
}

// ReadAt reads bytes of the output like an io.ReaderAt. A source that has changed is recording.ErrChanged,
// and no byte of it is returned.
func (v *view) ReadAt(ctx context.Context, p []byte, off int64) (n int, err error) {
	l := v.layout
	if off < 0 {
		return 0, fmt.Errorf("offset %d: %w", off, fs.ErrInvalid)
	}
	for n < len(p) && off+int64(n) < l.Size {
		at := off + int64(n)
		k := sort.Search(len(l.Chunks), func(i int) bool { return l.Chunks[i].Offset+l.Chunks[i].Length > at })
		if k < len(l.Chunks) && l.Chunks[k].Offset <= at {
			data, err := v.chunk(ctx, k)
			if err != nil {
				return n, err
			}
			n += copy(p[n:], data[at-l.Chunks[k].Offset:])
			continue
		}
		k = sort.Search(len(l.Fixed), func(i int) bool { return l.Fixed[i].Offset+l.Fixed[i].Length > at })
		f := l.Fixed[k]
		want := p[n:min(int64(len(p)), int64(n)+f.Offset+f.Length-at)]
		got, err := l.store.ReadAt(want, f.At+at-f.Offset)
		if n += got; got < len(want) {
			return n, err
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// chunk returns the bytes of a chunk, which nobody may change.
func (v *view) chunk(ctx context.Context, i int) ([]byte, error) {
	entry, first := v.cache.take(v, i)
	if first {
		go v.make(context.WithoutCancel(ctx), i, v.beginAfter(i)) // for others who wait for it, too
	}
	select {
	case <-entry.done:
		return entry.data, entry.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// beginAfter begins the chunks after i that are made together with it: chunks that a reader that
// goes on will read, and chunks that need no other block of the source. It returns the number of
// the first that is not made.
func (v *view) beginAfter(i int) (to int) {
	l := v.layout
	w := recording.Window{Spans: l.Spans, From: l.Chunks[i].From, To: l.end(i)}
	longer := w.Longer(v.job.Order)
	size, ahead := int64(0), v.bytesBefore(i)
	for to = i + 1; to < len(l.Chunks); to++ {
		if size += l.Chunks[to].Length; size > ahead && (size > aheadBytes || !longer(l.end(to))) {
			break
		}
		if _, first := v.cache.take(v, to); !first {
			break
		}
	}
	return to
}

// bytesBefore returns how many bytes of chunks before i are there without a gap, up to aheadBytes. For a
// reader that goes on, as many bytes are made ahead: twice as many each time, so that windows share
// fewer blocks of the source, which are read twice.
func (v *view) bytesBefore(i int) (size int64) {
	for i--; i >= 0 && size < aheadBytes && v.cache.has(v, i); i-- {
		size += v.layout.Chunks[i].Length
	}
	return min(size, aheadBytes)
}

// make makes chunks, and puts them into the cache, or the error that kept it from that.
func (v *view) make(ctx context.Context, from, to int) {
	v.slots <- struct{}{}
	defer func() { <-v.slots }()
	next := from
	m, err := v.maker(ctx)
	if err == nil {
		next, err = m.make(ctx, v, from, to)
		if changed := changedFile(v.job.Read.FS, v.layout.Files); changed != "" {
			err = fmt.Errorf("%s: %w", changed, recording.ErrChanged)
		}
		v.release(m, err)
	}
	if err == nil && next < to {
		err = fmt.Errorf("%s: chunk %d: %w", v.job.Source, next, recording.ErrChanged)
	}
	for ; next < to; next++ {
		v.cache.put(v, next, nil, err)
	}
}

// A maker makes chunks: a source that is open, and what becomes of its topics. One chunk, or
// several that follow each other, at a time.
type maker struct {
	*convert.Maker
	parts *partsFS
}

// maker returns one that nobody uses.
func (v *view) maker(ctx context.Context) (*maker, error) {
	if changed := changedFile(v.job.Read.FS, v.layout.Files); changed != "" {
		return nil, fmt.Errorf("%s: %w", changed, recording.ErrChanged)
	}
	v.mu.Lock()
	if n := len(v.idle); n > 0 {
		m := v.idle[n-1]
		v.idle = v.idle[:n-1]
		v.mu.Unlock()
		return m, nil
	}
	v.mu.Unlock()
	job := v.job
	job.Read.Index = v.layout.Index
	m := &maker{parts: tapped(&job)}
	var err error
	m.Maker, err = convert.NewMaker(ctx, job)
	return m, err
}

// release takes a maker back. After an error it is not used again.
func (v *view) release(m *maker, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err == nil && !v.closed && len(v.idle) < idleMakers {
		v.idle = append(v.idle, m)
		return
	}
	_ = m.Close() // it was only read
}

// make makes the chunks from from to before to, and returns the number of the first that was not.
func (m *maker) make(ctx context.Context, v *view, from, to int) (next int, err error) {
	l := v.layout
	w := &recording.Window{Spans: l.Spans, From: l.Chunks[from].From, To: l.end(to - 1), Copied: map[int]bool{}}
	for _, c := range l.Chunks[from:to] {
		if c.Copied >= 0 {
			w.Copied[c.Copied] = true
		}
	}
	next, m.parts.expect = from, l.Chunks[from].Length
	m.parts.made = func(data []byte, c chunk) error {
		if next >= to || c.Length != l.Chunks[next].Length || c.Sum != l.Chunks[next].Sum {
			return fmt.Errorf("%s: chunk %d: %w", v.job.Source, next, recording.ErrChanged)
		}
		v.cache.put(v, next, data, nil)
		if next++; next < to {
			m.parts.expect = l.Chunks[next].Length
		}
		return nil
	}
	err = m.Make(ctx, w)
	return next, err
}
