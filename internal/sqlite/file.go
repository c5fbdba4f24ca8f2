package sqlite

import "github.com/bagconv/bagconv/storage"

// Plain is a file as it is.
type Plain struct{ storage.File }

// Size is the length of the file in bytes.
func (f Plain) Size() (int64, error) {
	st, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return st.Size(), nil
}

// A Gather writes a file in large pieces. SQLite writes single pages, in
// long runs that follow each other while rows are appended; one system call per
// page would cost more than encoding the page. Not for concurrent use.
type Gather struct {
	f    storage.File
	buf  []byte // len is what is waiting
	off  int64  // of buf[0] in the file
	size int64  // of the file with buf
}

const gatherSize = 1 << 20

// NewGather begins with what is in f, which stays the caller's.
func NewGather(f storage.File) (*Gather, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return &Gather{f: f, buf: make([]byte, 0, gatherSize), size: st.Size()}, nil
}

// Flush writes what is waiting.
func (g *Gather) Flush() error {
	if len(g.buf) == 0 {
		return nil
	}
	_, err := g.f.WriteAt(g.buf, g.off)
	g.buf = g.buf[:0]
	return err
}

// WriteAt is as that of io.WriterAt; Flush ends it.
func (g *Gather) WriteAt(p []byte, off int64) (int, error) {
	end := off + int64(len(p))
	g.size = max(g.size, end)
	if at := off - g.off; at >= 0 && at <= int64(len(g.buf)) && at+int64(len(p)) <= int64(cap(g.buf)) {
		if n := int(at) + len(p); n > len(g.buf) {
			g.buf = g.buf[:n]
		}
		copy(g.buf[at:], p)
		return len(p), nil
	}
	if err := g.Flush(); err != nil {
		return 0, err
	}
	if len(p) > cap(g.buf) {
		return g.f.WriteAt(p, off)
	}
	g.off = off
	g.buf = append(g.buf, p...)
	return len(p), nil
}

// ReadAt is as that of io.ReaderAt.
func (g *Gather) ReadAt(p []byte, off int64) (int, error) {
	if at := off - g.off; at >= 0 && at+int64(len(p)) <= int64(len(g.buf)) {
		return copy(p, g.buf[at:]), nil
	}
	if off < g.off+int64(len(g.buf)) && off+int64(len(p)) > g.off {
		if err := g.Flush(); err != nil {
			return 0, err
		}
	}
	return g.f.ReadAt(p, off)
}

// Truncate cuts the file, or makes it longer.
func (g *Gather) Truncate(size int64) error {
	if err := g.Flush(); err != nil {
		return err
	}
	g.size = size
	return g.f.Truncate(size)
}

// Size is that of the file with what is waiting.
func (g *Gather) Size() (int64, error) { return g.size, nil }
