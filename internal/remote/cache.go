package remote

import (
	"container/list"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/bagconv/bagconv/internal/iox"
)

// Bytes are cached in blocks, and fetched in runs of blocks.
const (
	blockSize = 16 << 10
	runSize   = 4 << 20  // bytes of one request at most
	poolSize  = 64 << 20 // bytes of all caches that are not in use
)

// errCut is the error of an answer that ended too early.
var errCut = errors.New("the connection was cut")

// A pool has the runs of all caches, the last used at the front. The oldest go if there are too
// many.
type pool struct {
	mu   sync.Mutex
	runs list.List
	size int64
	free [][]byte // of runSize bytes, to be used again: new memory costs as much as a copy
}

// A run is a part of an object that was asked for at once.
type run struct {
	cache *cache
	first int64 // block
	n     int64 // bytes
	users int   // that fill or read data; guarded by pool.mu
	ready chan struct{}
	data  []byte
	err   error
	at    *list.Element
}

// A cache has parts of one object in one version.
type cache struct {
	pool   *pool
	link   *link
	store  store
	key    string
	object object

	blocks map[int64]*run // guarded by pool.mu
	ahead  ahead          // guarded by pool.mu
}

// put adds what came with the answer of head.
func (c *cache) put(first []byte) {
	if len(first) == 0 || int64(len(first)) < min(c.object.size, blockSize) {
		return
	}
	c.pool.mu.Lock()
	defer c.pool.mu.Unlock()
	if c.blocks[0] == nil {
		r := c.add(0, int64(len(first)))
		r.data = first
		close(r.ready)
	}
}

// add makes a run of n bytes. pool.mu is held.
func (c *cache) add(first, n int64) *run {
	r := &run{cache: c, first: first, n: n, ready: make(chan struct{})} // whoever fills it is its first user
	r.at = c.pool.runs.PushFront(r)
	for b := first; b < first+blocks(n); b++ {
		c.blocks[b] = r
	}
	c.pool.size += n
	for e := c.pool.runs.Back(); e != nil && c.pool.size > poolSize; {
		old := e.Value.(*run)
		e = e.Prev()
		select {
		case <-old.ready:
			if old != r {
				old.drop()
			}
		default: // it is on its way
		}
	}
	return r
}

// drop forgets a run. pool.mu is held.
func (r *run) drop() {
	if r.at == nil {
		return
	}
	r.cache.pool.runs.Remove(r.at)
	r.at = nil
	r.cache.pool.size -= r.n
	for b := r.first; b < r.first+blocks(r.n); b++ {
		if r.cache.blocks[b] == r {
			delete(r.cache.blocks, b)
		}
	}
	r.reuse()
}

// leave ends the use of a run by one user. pool.mu is held.
func (r *run) leave() {
	r.users--
	r.reuse()
}

// reuse keeps the memory of a run that nobody will read again. pool.mu is held.
func (r *run) reuse() {
	const most = 2 * aheadMost / runSize
	if p := r.cache.pool; r.users == 0 && r.at == nil && len(r.data) == runSize && len(p.free) < most {
		p.free = append(p.free, r.data)
		r.data = nil
	}
}

// buffer returns n bytes, with any content.
func (p *pool) buffer(n int64) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last := len(p.free) - 1; n == runSize && last >= 0 {
		b := p.free[last]
		p.free = p.free[:last]
		return b
	}
	return make([]byte, n)
}

func blocks(n int64) int64 { return (n + blockSize - 1) / blockSize }

// want returns the runs that have the bytes from off to end, and begins to fetch runs that are
// not there. Whoever calls it is a user of each until leave. pool.mu is held.
func (c *cache) want(ctx context.Context, off, end int64) (runs []*run) {
	last := blocks(end)
	for b := off / blockSize; b < last; {
		r := c.blocks[b]
		if r == nil {
			stop := b + 1
			for stop < last && stop-b < runSize/blockSize && c.blocks[stop] == nil {
				stop++
			}
			r = c.add(b, min(stop*blockSize, c.object.size)-b*blockSize)
			r.users++
			go r.fetch(ctx)
		} else if r.at != nil {
			c.pool.runs.MoveToFront(r.at)
		}
		r.users++
		runs = append(runs, r)
		b = r.first + blocks(r.n)
	}
	return runs
}

// fetch fills a run, and goes on at the byte at which an answer was cut.
func (r *run) fetch(ctx context.Context) {
	c, done := r.cache, int64(0)
	data := c.pool.buffer(r.n)
	err := c.link.do(ctx, func(ctx context.Context) (bool, error) {
		body, err := c.store.get(ctx, c.key, &c.object, r.first*blockSize+done, r.n-done)
		if err != nil {
			return false, err
		}
		n, err := io.ReadFull(body, data[done:])
		done += int64(n)
		if cut := body.Close(); done < r.n && err == nil {
			err = errors.Join(errCut, cut)
		}
		if done == r.n {
			err = nil
		}
		return n >= leastBytes || n > 0 && !errors.Is(err, errTimeout), err
	})
	if errors.Is(err, errChanged) {
		c.link.epoch.Add(1)
	}
	c.pool.mu.Lock()
	r.data, r.err = data, err
	if err != nil {
		r.drop() // whoever asks again gets another attempt
	}
	r.leave()
	c.pool.mu.Unlock()
	close(r.ready)
}

// fetchAhead begins to fetch what is not there from off to end. pool.mu is held.
func (c *cache) fetchAhead(ctx context.Context, off, end int64) {
	for _, r := range c.want(ctx, off, end) {
		r.leave()
	}
}

// prefetch begins to fetch spans, as many as do not push out what is read now.
func (c *cache) prefetch(ctx context.Context, spans []iox.Span) {
	c.pool.mu.Lock()
	defer c.pool.mu.Unlock()
	room := int64(aheadMost)
	for _, s := range spans {
		off, end := max(s.Off, 0), min(s.Off+min(s.Len, room), c.object.size)
		if room <= 0 || off >= end {
			continue
		}
		c.fetchAhead(ctx, off, end)
		room -= blocks(end-off) * blockSize
	}
}

// readAt reads like io.ReaderAt, in the range of the object.
func (c *cache) readAt(ctx context.Context, p []byte, off int64) (n int, err error) {
	for n < len(p) {
		at := off + int64(n)
		end := min(at+2*runSize, off+int64(len(p)))
		c.pool.mu.Lock()
		runs := c.want(ctx, at, end)
		if from, to := c.ahead.next(at, end, c.object.size); from < to {
			c.fetchAhead(ctx, from, to)
		}
		c.pool.mu.Unlock()
		for _, r := range runs {
			select {
			case <-r.ready:
				if err = r.err; err == nil {
					n += copy(p[n:end-off], r.data[off+int64(n)-r.first*blockSize:])
				}
			case <-ctx.Done():
				err = ctx.Err()
			}
			if err != nil {
				break
			}
		}
		c.pool.mu.Lock()
		for _, r := range runs {
			r.leave()
		}
		c.pool.mu.Unlock()
		if err != nil {
			return n, err
		}
	}
	return n, nil
}
