package sqlitefile

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/storage"
)

// Memory is the memory for sorting if Options leave it open.
const Memory = 64 << 20

// Options are how to load. The zero value is ready.
type Options struct {
	// Memory is how many bytes the times of rows may take until they are in the
	// index: 8 a row, 32 when they are out of order. 0 is the constant Memory.
	Memory int64

	// Temp makes the file, for reading and writing, that takes the times when
	// Memory does not hold them. It is closed when they are in the index, or by
	// Close; the caller removes it. Nil: there is no limit.
	Temp func() (storage.File, error)
}

// A Loader adds rows. After an error every call fails.
type Loader struct {
	file storage.File
	size int // of a page
	base base
	lock uint32 // the page that is never used

	next uint32 // number of the next page
	buf  *Buffer
	q    queue
	hand func(storage.PendingBlock) error

	leaf    *page
	flushed bool     // a leaf was written: the tree has more than its root
	lone    *page    // that leaf, if it is the only one, because of a Checkpoint
	spare   []uint32 // pages for Free
	levels  []*level
	rows    int64

	times     times
	indexRoot *page
	ended     bool // Flush was called
	err       error
}

// Open starts to load into f, a closed database with an empty messages table and
// timestamp_idx. Any other file is an error that wraps ErrDeclined: then SQLite has to
// insert the rows. f stays the caller's; nobody else may write to it until Finish.
func Open(f storage.File, o Options) (*Loader, error) {
	b, err := findBase(f)
	if err != nil {
		return nil, err
	}
	return newLoader(f, b, o, uint32(sqlite.LockByte/b.page)+1), nil
}

func newLoader(f storage.File, b base, o Options, lock uint32) *Loader {
	if o.Memory <= 0 {
		o.Memory = Memory
	}
	l := &Loader{file: f, size: b.page, base: b, lock: lock, next: b.pages + 1, q: queue{file: f}}
	l.times = times{limit: o.Memory, temp: o.Temp}
	l.leaf = newPage(l.size, tableLeaf)
	return l
}

// OnBuffer has full buffers (*Buffer) handed to f instead of being written within
// Add and Flush. The caller runs Append of each, in the order in which f received
// them. It is called before the first Add.
func (l *Loader) OnBuffer(f func(storage.PendingBlock) error) { l.hand = f }

// Add adds a row; rowids count from 1. It keeps no reference to data. A row of
// more than 10^9 bytes is an error that wraps storage.ErrUnsupported.
func (l *Loader) Add(topic, timestamp int64, data []byte) error {
	if l.err == nil {
		if l.ended {
			l.err = errors.New("internal error: a row after Flush")
		} else {
			l.err = l.add(topic, timestamp, data)
		}
	}
	return l.err
}

// recordSpace is room for all before the data, and for numbers to be written 8
// bytes at a time.
const recordSpace = 64

func (l *Loader) add(topic, timestamp int64, data []byte) error {
	size := len(data)
	var rec [recordSpace]byte
	tt, mt := serial(topic), serial(timestamp)
	rec[2], rec[3] = tt, mt
	n := 4 + putVarint(rec[4:], uint64(12+2*size))
	rec[0] = byte(n)
	n += putInt(rec[n:], topic, tt)
	n += putInt(rec[n:], timestamp, mt)
	total := n + size
	if total > sqlite.MaxRow {
		return fmt.Errorf("a row of %d bytes; SQLite reads at most %d: %w", total, sqlite.MaxRow, storage.ErrUnsupported)
	}
	l.rows++
	if err := l.times.add(timestamp); err != nil {
		return err
	}
	var prefix [20]byte
	m := putVarint(prefix[:], uint64(total))
	m += putVarint(prefix[m:], uint64(l.rows))
	local, need := cellSize(m, total, l.size)
	if !l.leaf.fits(need) {
		if err := l.flushLeaf(l.rows - 1); err != nil {
			return err
		}
	}
	return l.fill(l.leaf, need, local, prefix[:m], rec[:n], data)
}

// cellSize returns what a leaf has of a record of total bytes, and the size of the cell, of which
// prefix bytes are before the record.
func cellSize(prefix, total, page int) (local, need int) {
	if local = localSize(total, page); local < total {
		return local, prefix + local + 4
	}
	return local, prefix + local
}

// fill adds a cell to a leaf that has room for it. Its record is head and data; what is more than
// local goes into overflow pages.
func (l *Loader) fill(leaf *page, need, local int, prefix, head, data []byte) error {
	at := leaf.b[leaf.reserve(need):]
	at = at[copy(at, prefix):]
	at = at[copy(at, head):]
	k := copy(at[:local-len(head)], data)
	if k == len(data) {
		return nil
	}
	first, err := l.overflow(data[k:])
	binary.BigEndian.PutUint32(at[k:], first)
	return err
}

// overflow writes a chain of pages with the rest of a row.
func (l *Loader) overflow(rest []byte) (first uint32, err error) {
	first = l.next
	if first == l.lock {
		first++
	}
	for len(rest) > 0 {
		no, p, err := l.page()
		if err != nil {
			return 0, err
		}
		n := 4 + copy(p[4:], rest)
		rest = rest[n-4:]
		following := uint32(0)
		if len(rest) > 0 {
			following = l.after(no)
		}
		binary.BigEndian.PutUint32(p, following)
		clear(p[n:])
	}
	return first, nil
}

// after returns the number of the page that follows page no.
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

// maxPage is the greatest number of a page.
const maxPage = 1<<32 - 2

func (l *Loader) place() (no uint32, b []byte, err error) {
	if l.next > maxPage {
		return 0, nil, fmt.Errorf("more than %d pages: %w", uint32(maxPage), storage.ErrUnsupported)
	}
	if l.buf != nil && len(l.buf.b)+l.size > cap(l.buf.b) {
		if err := l.flushBuffer(); err != nil {
			return 0, nil, err
		}
	}
	if l.buf == nil {
		if l.buf, err = l.q.take(int64(l.next-1) * int64(l.size)); err != nil {
			return 0, nil, err
		}
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

// flushLeaf writes the open leaf. last is the rowid of its last row.
func (l *Loader) flushLeaf(last int64) error {
	no, err := l.put(l.leaf)
	if err != nil {
		return err
	}
	l.leaf.reset(tableLeaf)
	l.flushed, l.lone = true, nil
	return l.pushTable(0, no, uint64(last))
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

// Flush ends the adding of rows: it builds the index and hands out the last
// buffer. With OnBuffer it is called, and all buffers are written, before Finish.
func (l *Loader) Flush() error {
	if l.err == nil && !l.ended {
		l.ended = true
		l.err = l.flush()
	}
	return l.err
}

func (l *Loader) flush() error {
	if l.rows > 0 {
		if err := l.endTable(); err != nil {
			return err
		}
		if err := l.writeIndex(); err != nil {
			return err
		}
	}
	return errors.Join(l.flushBuffer(), l.times.close())
}

// Settled reports whether Flush has been called and all buffers that it and Add have
// handed out are written, so that Finish may be called. It may be called while
// others write them.
func (l *Loader) Settled() bool {
	n, _ := l.q.waiting()
	return l.ended && n == 0
}

// Finish puts the roots and then the header in place, after Flush if that has
// not been called. With an error the file is not a database, or an empty one.
func (l *Loader) Finish() error {
	if err := l.Flush(); err != nil {
		return errors.Join(err, l.Close())
	}
	l.err = errors.New("internal error: the loader has finished")
	waiting, err := l.q.waiting()
	if err == nil && waiting > 0 {
		err = fmt.Errorf("internal error: %d buffers are not written", waiting)
	}
	if err != nil {
		return err
	}
	l.q.close()
	for _, r := range l.roots() {
		if _, err := l.file.WriteAt(r.b, int64(r.no-1)*int64(l.size)); err != nil {
			return err
		}
	}
	head := make([]byte, sqlite.HeaderLen)
	if err := iox.ReadFull(l.file, head, 0); err != nil {
		return err
	}
	change := binary.BigEndian.Uint32(head[24:]) + 1
	binary.BigEndian.PutUint32(head[24:], change)
	binary.BigEndian.PutUint32(head[28:], l.next-1)
	binary.BigEndian.PutUint32(head[92:], change)
	_, err = l.file.WriteAt(head, 0)
	return err
}

// Close frees the temporary file of a loader that will not be finished. It may be
// called at any time, also after Finish; the database stays as it is.
func (l *Loader) Close() error {
	if l.err == nil {
		l.err = errors.New("internal error: the loader is closed")
	}
	return l.times.close()
}
