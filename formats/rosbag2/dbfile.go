package rosbag2

import (
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// plainFile is a file as it is. It is what a reader gives to the engine.
type plainFile struct{ storage.File }

func (f plainFile) Size() (int64, error) {
	st, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return st.Size(), nil
}

// A sharedFile is a file that several read and one other closes.
type sharedFile struct{ storage.File }

func (sharedFile) Close() error { return nil }

// A gatherFile writes a file in large pieces. SQLite writes single pages, in
// long runs that follow each other while rows are appended; one system call per
// page would cost more than encoding the page. Not for concurrent use.
type gatherFile struct {
	f    storage.File
	buf  []byte // len is what is waiting
	off  int64  // of buf[0] in the file
	size int64  // of the file with buf
}

const gatherSize = 1 << 20

func newGatherFile(f storage.File) (*gatherFile, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return &gatherFile{f: f, buf: make([]byte, 0, gatherSize), size: st.Size()}, nil
}

func (g *gatherFile) flush() error {
	if len(g.buf) == 0 {
		return nil
	}
	_, err := g.f.WriteAt(g.buf, g.off)
	g.buf = g.buf[:0]
	return err
}

func (g *gatherFile) WriteAt(p []byte, off int64) (int, error) {
	end := off + int64(len(p))
	g.size = max(g.size, end)
	if at := off - g.off; at >= 0 && at <= int64(len(g.buf)) && at+int64(len(p)) <= int64(cap(g.buf)) {
		if n := int(at) + len(p); n > len(g.buf) {
			g.buf = g.buf[:n]
		}
		copy(g.buf[at:], p)
		return len(p), nil
	}
	if err := g.flush(); err != nil {
		return 0, err
	}
	if len(p) > cap(g.buf) {
		return g.f.WriteAt(p, off)
	}
	g.off = off
	g.buf = append(g.buf, p...)
	return len(p), nil
}

func (g *gatherFile) ReadAt(p []byte, off int64) (int, error) {
	if at := off - g.off; at >= 0 && at+int64(len(p)) <= int64(len(g.buf)) {
		return copy(p, g.buf[at:]), nil
	}
	if off < g.off+int64(len(g.buf)) && off+int64(len(p)) > g.off {
		if err := g.flush(); err != nil {
			return 0, err
		}
	}
	return g.f.ReadAt(p, off)
}

func (g *gatherFile) Truncate(size int64) error {
	if err := g.flush(); err != nil {
		return err
	}
	g.size = size
	return g.f.Truncate(size)
}

func (g *gatherFile) Size() (int64, error) { return g.size, nil }

// tempIn makes a temporary file of the engine in a folder.
func tempIn(fsys storage.FS, dir string) (tempFile, error) {
	f, err := iox.TempFile(fsys, dir)
	if err != nil {
		return nil, err
	}
	return plainFile{f}, nil
}
