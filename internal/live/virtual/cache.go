package virtual

import (
	"container/list"
	"sync"
)

// A cache keeps chunks of views, the chunks that were used last. It may be used concurrently.
type cache struct {
	limit int64 // bytes

	mu      sync.Mutex
	used    int64
	entries map[chunkKey]*chunkEntry
	order   list.List // of *chunkEntry that are done, the one used last in front
}

type chunkKey struct {
	v *view
	i int
}

// A chunkEntry is a chunk that is there, or is being made.
type chunkEntry struct {
	key  chunkKey
	done chan struct{} // closed when the fields below are set
	data []byte
	err  error
	at   *list.Element // nil: it is being made
}

// newCache returns a cache of so many bytes. A chunk that is larger is kept until another
// one comes.
func newCache(limit int64) *cache {
	return &cache{limit: limit, entries: map[chunkKey]*chunkEntry{}}
}

// take returns the entry of a chunk. first is true if the caller has to make it, and put it.
func (c *cache) take(v *view, i int) (e *chunkEntry, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := chunkKey{v, i}
	if e = c.entries[k]; e != nil {
		if e.at != nil {
			c.order.MoveToFront(e.at)
		}
		return e, false
	}
	e = &chunkEntry{key: k, done: make(chan struct{})}
	c.entries[k] = e
	return e, true
}

// has reports whether a chunk is there, or is being made.
func (c *cache) has(v *view, i int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entries[chunkKey{v, i}] != nil
}

// put ends the making of a chunk. One that could not be made is made again when it is asked for.
func (c *cache) put(v *view, i int, data []byte, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[chunkKey{v, i}]
	e.data, e.err = data, err
	close(e.done)
	if err != nil {
		delete(c.entries, e.key)
		return
	}
	e.at = c.order.PushFront(e)
	for c.used += int64(len(data)); c.used > c.limit && c.order.Len() > 1; {
		c.drop(c.order.Back())
	}
}

func (c *cache) drop(at *list.Element) {
	e := c.order.Remove(at).(*chunkEntry)
	c.used -= int64(len(e.data))
	delete(c.entries, e.key)
}

// Forget drops the chunks of a view.
func (c *cache) Forget(v *view) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for at := c.order.Front(); at != nil; {
		next := at.Next()
		if at.Value.(*chunkEntry).key.v == v {
			c.drop(at)
		}
		at = next
	}
}
