package sqlitefile

import (
	"sync"

	"github.com/bagconv/bagconv/storage"
)

// bufferSize is how much is written at once.
const bufferSize = 1 << 20

// A Buffer is a run of pages on its way to the file.
type Buffer struct {
	q  *queue
	at int64
	b  []byte
}

// unused has buffers of loaders that are through, for the next ones: where files are small, buffers are most of what
// is allocated for a file.
var unused = sync.Pool{New: func() any { return &Buffer{b: make([]byte, 0, bufferSize)} }}

// A queue is what a loader and those who write its buffers share.
type queue struct {
	file storage.File

	mu   sync.Mutex
	free []*Buffer
	out  int   // buffers that are filled or waiting
	err  error // of a write
}

// take returns an empty buffer.
func (q *queue) take(at int64) (*Buffer, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err != nil {
		return nil, q.err
	}
	q.out++
	if n := len(q.free); n > 0 {
		b := q.free[n-1]
		q.free = q.free[:n-1]
		b.b, b.at = b.b[:0], at
		return b, nil
	}
	b := unused.Get().(*Buffer)
	b.q, b.at, b.b = q, at, b.b[:0]
	return b, nil
}

// close gives the buffers that nobody has to the next loaders.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, b := range q.free {
		b.q = nil
		unused.Put(b)
	}
	q.free = nil
}

// waiting returns the number of buffers that are not written yet, and the first
// error of writing one.
func (q *queue) waiting() (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.out, q.err
}

// Encode does nothing: pages are made as they are filled.
func (b *Buffer) Encode() error { return nil }

// Lent is false: rows are copied into pages.
func (b *Buffer) Lent() bool { return false }

// Append writes the buffer and returns it to the loader. It may run while the
// loader fills another, and is called once. After an error the loader fails too.
func (b *Buffer) Append() error {
	_, err := b.q.file.WriteAt(b.b, b.at)
	return b.Done(err)
}

// Bytes returns the pages, which follow the pages of the buffer before. They are valid until Done.
func (b *Buffer) Bytes() []byte { return b.b }

// Done returns the buffer to the loader when its pages are written elsewhere, instead of
// Append; err is the error of writing, and is returned.
func (b *Buffer) Done(err error) error {
	b.q.mu.Lock()
	defer b.q.mu.Unlock()
	b.q.out--
	b.q.free = append(b.q.free, b)
	if err != nil && b.q.err == nil {
		b.q.err = err
	}
	return err
}

var _ storage.PendingBlock = (*Buffer)(nil)
