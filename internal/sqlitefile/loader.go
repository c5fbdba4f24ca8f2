package sqlitefile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/bagconv/bagconv/storage"
)

// A Base is an empty database to load into, as SQLite has left it: closed, no
// journal, no auto-vacuum, messages and timestamp_idx without rows.
type Base struct {
	PageSize  int
	Pages     uint32 // of the file
	TableRoot uint32 // of messages
	IndexRoot uint32 // of timestamp_idx
}

// maxRow is the most bytes of a row's record.
const maxRow = 1_000_000_000

// bufferSize is how much is written at once.
const bufferSize = 1 << 20

// maxIndexed is the number of rows whose times are kept in memory, 8 bytes each.
// Beyond it the index is left to SQLite.
const maxIndexed = 8_000_000

// A Loader adds rows. After an error every call fails.
type Loader struct {
	file storage.File
	size int
	base Base
	lock uint32 // the page that is never used

	next uint32  // number of the next page
	buf  *Buffer // being filled
	hand func(storage.PendingBlock) error

	leaf    *page
	flushed bool // a leaf was written: the tree has more than its root
	levels  []*level
	rows    int64

	times     [][]int64 // of all rows, in chunks; nil when there are too many
	ordered   bool
	last      int64
	indexRoot *page
	full      bool // too many rows for times
	err       error

	mu   sync.Mutex
	free []*Buffer
}

// timesChunk is the length of a chunk of times.
const timesChunk = 1 << 16

// lockByte is where the page lies that SQLite keeps for locks.
const lockByte = 1 << 30

// NewLoader starts to load into f. f stays the caller's; nobody else may write to
// it until Finish.
func NewLoader(f storage.File, b Base) (*Loader, error) {
	return newLoader(f, b, uint32(lockByte/max(b.PageSize, 512))+1)
}

func newLoader(f storage.File, b Base, lock uint32) (*Loader, error) {
	if b.PageSize < 512 || b.PageSize > 65536 || b.PageSize&(b.PageSize-1) != 0 || b.TableRoot < 2 || b.IndexRoot < 2 || b.Pages < 3 {
		return nil, fmt.Errorf("internal error: not a base to load into: %+v", b)
	}
	head := make([]byte, 100)
	if _, err := f.ReadAt(head, 0); err != nil {
		return nil, err
	}
	if head[20] != 0 || binary.BigEndian.Uint32(head[52:]) != 0 || binary.BigEndian.Uint32(head[28:]) != b.Pages {
		return nil, errors.New("internal error: the base has reserved bytes, auto-vacuum, or another size")
	}
	l := &Loader{file: f, size: b.PageSize, base: b, lock: lock, next: b.Pages + 1, ordered: true}
	l.leaf = newPage(l.size, tableLeaf)
	return l, nil
}

// OnBuffer has full buffers handed to f instead of being written within Add. The
// caller runs Append of each, in the order in which f received them.
func (l *Loader) OnBuffer(f func(storage.PendingBlock) error) { l.hand = f }

// Add adds a row; rowids count from 1. It keeps no reference to data.
func (l *Loader) Add(topic, timestamp int64, data []byte) error {
	if l.err != nil {
		return l.err
	}
	if err := l.add(topic, timestamp, data); err != nil {
		l.err = err
	}
	return l.err
}

func (l *Loader) add(topic, timestamp int64, data []byte) error {
	l.rows++
	l.keepTime(timestamp)
	// The record's start: everything but the data.
	var start [48]byte
	rec := start[:0]
	topicType, timeType := serial(topic), serial(timestamp)
	dataType := uint64(12 + 2*len(data))
	rec = append(rec, byte(4+varintLen(dataType)), 0, topicType, timeType)
	rec = appendVarint(rec, dataType)
	rec = appendInt(rec, topic, topicType)
	rec = appendInt(rec, timestamp, timeType)
	total := len(rec) + len(data)
	if total > maxRow {
		return fmt.Errorf("a row of %d bytes; SQLite reads at most %d: %w", total, maxRow, storage.ErrUnsupported)
	}
	var prefix [20]byte
	cell := appendVarint(appendVarint(prefix[:0], uint64(total)), uint64(l.rows))
	local := localSize(total, l.size)
	need := len(cell) + local
	if local < total {
		need += 4
	}
	if !l.leaf.fits(need) {
		if err := l.flushLeaf(); err != nil {
			return err
		}
	}
	at := l.leaf.reserve(need)
	at += copy(l.leaf.b[at:], cell)
	at += copy(l.leaf.b[at:], rec)
	inline := local - len(rec)
	at += copy(l.leaf.b[at:], data[:inline])
	if local == total {
		return nil
	}
	first, err := l.overflow(data[inline:])
	binary.BigEndian.PutUint32(l.leaf.b[at:], first)
	return err
}

// overflow writes a chain of pages with the rest of a row.
func (l *Loader) overflow(rest []byte) (first uint32, err error) {
	for len(rest) > 0 {
		no, p, err := l.page()
		if err != nil {
			return 0, err
		}
		if first == 0 {
			first = no
		}
		n := copy(p[4:], rest)
		rest = rest[n:]
		following := uint32(0)
		if len(rest) > 0 {
			following = l.after(no)
		}
		binary.BigEndian.PutUint32(p, following)
		clear(p[4+n:])
	}
	return first, nil
}

// after is the number of the page that follows page no.
func (l *Loader) after(no uint32) uint32 {
	if no+1 == l.lock {
		return no + 2
	}
	return no + 1
}

// page takes the next page and returns its number and its place in the buffer.
func (l *Loader) page() (no uint32, b []byte, err error) {
	if l.next == l.lock {
		_, b, err := l.place()
		if err != nil {
			return 0, nil, err
		}
		clear(b)
	}
	return l.place()
}

func (l *Loader) place() (no uint32, b []byte, err error) {
	if l.next == 0 {
		return 0, nil, fmt.Errorf("more than 2^32 pages: %w", storage.ErrUnsupported)
	}
	if l.buf != nil && len(l.buf.b)+l.size > cap(l.buf.b) {
		if err := l.flushBuffer(); err != nil {
			return 0, nil, err
		}
	}
	if l.buf == nil {
		l.buf = l.buffer()
		l.buf.at = int64(l.next-1) * int64(l.size)
	}
	n := len(l.buf.b)
	l.buf.b = l.buf.b[:n+l.size]
	no = l.next
	l.next++
	return no, l.buf.b[n:], nil
}

// put writes a finished page at the next place.
func (l *Loader) put(p *page) (no uint32, err error) {
	no, b, err := l.page()
	if err == nil {
		p.finish()
		copy(b, p.b)
	}
	return no, err
}

func (l *Loader) flushLeaf() error {
	no, err := l.put(l.leaf)
	if err != nil {
		return err
	}
	l.leaf.reset(tableLeaf)
	l.flushed = true
	return l.pushTable(0, no, uint64(l.rows-1))
}

func (l *Loader) keepTime(t int64) {
	if l.full {
		return
	}
	if l.rows > maxIndexed {
		l.full, l.times = true, nil
		return
	}
	n := len(l.times)
	if n == 0 || len(l.times[n-1]) == timesChunk {
		l.times = append(l.times, make([]int64, 0, timesChunk))
		n++
	}
	l.times[n-1] = append(l.times[n-1], t)
	l.ordered = l.ordered && (l.rows == 1 || t >= l.last)
	l.last = t
}

// Flush hands out the last buffer. It ends the adding of rows, and must be
// called, and the buffers be written, before Finish.
func (l *Loader) Flush() error {
	if l.err == nil {
		l.err = l.flush()
	}
	return l.err
}

func (l *Loader) flush() error {
	if l.rows > 0 {
		if err := l.endTable(); err != nil {
			return err
		}
		if !l.full {
			if err := l.writeIndex(); err != nil {
				return err
			}
		}
	}
	return l.flushBuffer()
}

// Finish puts the roots and the header in place. indexed is false when there were
// so many rows that SQLite has to make the index itself (REINDEX).
func (l *Loader) Finish() (indexed bool, err error) {
	if l.err != nil {
		return false, l.err
	}
	l.err = errors.New("internal error: the loader has finished")
	for _, r := range l.roots() {
		if _, err := l.file.WriteAt(r.b, int64(r.no-1)*int64(l.size)); err != nil {
			return false, err
		}
	}
	head := make([]byte, 100)
	if _, err := l.file.ReadAt(head, 0); err != nil {
		return false, err
	}
	change := binary.BigEndian.Uint32(head[24:]) + 1
	binary.BigEndian.PutUint32(head[24:], change)
	binary.BigEndian.PutUint32(head[28:], l.next-1)
	binary.BigEndian.PutUint32(head[92:], change)
	_, err = l.file.WriteAt(head, 0)
	return !l.full, err
}

// A Buffer is a run of pages on its way to the file.
type Buffer struct {
	l  *Loader
	at int64
	b  []byte
}

func (l *Loader) buffer() *Buffer {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.free); n > 0 {
		b := l.free[n-1]
		l.free = l.free[:n-1]
		b.b = b.b[:0]
		return b
	}
	return &Buffer{l: l, b: make([]byte, 0, bufferSize)}
}

func (l *Loader) flushBuffer() error {
	b := l.buf
	l.buf = nil
	switch {
	case b == nil:
		return nil
	case l.hand != nil:
		return l.hand(b)
	}
	return b.Append()
}

// Encode does nothing: pages are made as they are filled.
func (b *Buffer) Encode() error { return nil }

// Append writes the buffer and gives it back.
func (b *Buffer) Append() error {
	_, err := b.l.file.WriteAt(b.b, b.at)
	b.l.mu.Lock()
	b.l.free = append(b.l.free, b)
	b.l.mu.Unlock()
	return err
}

var _ storage.PendingBlock = (*Buffer)(nil)
