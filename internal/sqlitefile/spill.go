package sqlitefile

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"io"

	"github.com/bagconv/bagconv/storage"
)

// A runFile holds sorted runs of times, one after the other. An entry is
//
//	time, as unsigned (8) | number of the row in its run, from 0 (4)
type runFile struct {
	file storage.File
	end  int64
	list []run
}

const entryLen = 12

type run struct {
	off  int64
	n    int
	base int64 // rowid before its first row
}

// spill writes the rows in memory as a run.
func (t *times) spill() (err error) {
	if t.runs.file == nil {
		if t.runs.file, err = t.temp(); err != nil {
			return err
		}
	}
	r := run{t.runs.end, t.n, t.base}
	w := bufio.NewWriterSize(io.NewOffsetWriter(t.runs.file, r.off), 256<<10)
	err = t.run(func(v, rowid int64) error {
		b := binary.BigEndian.AppendUint64(w.AvailableBuffer(), unsigned(v))
		_, err := w.Write(binary.BigEndian.AppendUint32(b, uint32(rowid-r.base-1)))
		return err
	})
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		return err
	}
	t.runs.list = append(t.runs.list, r)
	t.runs.end += int64(r.n) * entryLen
	t.base += int64(t.n)
	t.n, t.ordered = 0, true
	return nil
}

// close ends the temporary file.
func (t *times) close() error {
	if t.runs.file == nil {
		return nil
	}
	err := t.runs.file.Close()
	t.runs.file = nil
	return err
}

// A runCursor is a place in a run.
type runCursor struct {
	in   *bufio.Reader
	left int
	base int64

	key   uint64
	rowid int64
}

// next goes to the next entry; the run has one.
func (c *runCursor) next() error {
	b, err := c.in.Peek(entryLen)
	if err != nil {
		return err
	}
	c.key = binary.BigEndian.Uint64(b)
	c.rowid = c.base + 1 + int64(binary.BigEndian.Uint32(b[8:]))
	c.left--
	_, err = c.in.Discard(entryLen)
	return err
}

// before reports whether an entry comes before another in the index. Rowids are unique.
func (c *runCursor) before(d *runCursor) bool {
	return cmp.Or(cmp.Compare(c.key, d.key), cmp.Compare(c.rowid, d.rowid)) < 0
}

// merge calls f for the rows of all runs in order, with buffers of limit bytes
// together.
func (r *runFile) merge(limit int64, f func(t, rowid int64) error) error {
	size := int(min(max(limit/int64(len(r.list)), 4096), 1<<20))
	heap := make([]*runCursor, 0, len(r.list))
	for _, run := range r.list {
		in := io.NewSectionReader(r.file, run.off, int64(run.n)*entryLen)
		c := &runCursor{in: bufio.NewReaderSize(in, size), left: run.n, base: run.base}
		if err := c.next(); err != nil {
			return err
		}
		heap = append(heap, c)
	}
	for i := len(heap)/2 - 1; i >= 0; i-- {
		sink(heap, i)
	}
	for len(heap) > 0 {
		c := heap[0]
		if err := f(signed(c.key), c.rowid); err != nil {
			return err
		}
		if c.left == 0 {
			heap[0] = heap[len(heap)-1]
			heap = heap[:len(heap)-1]
		} else if err := c.next(); err != nil {
			return err
		}
		sink(heap, 0)
	}
	return nil
}

// sink puts the cursor at i where it belongs in a heap with the first at its top.
func sink(heap []*runCursor, i int) {
	for {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(heap); c++ {
			if heap[c].before(heap[least]) {
				least = c
			}
		}
		if least == i {
			return
		}
		heap[i], heap[least] = heap[least], heap[i]
		i = least
	}
}
