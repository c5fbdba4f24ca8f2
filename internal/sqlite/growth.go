package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A Growth is a database that grows in its file. All its pages stay as they are until page 1 is
// overwritten at the end. Before that every reader sees the old database, also a reader that
// looks at no journal; after it a reader sees what was added. The engine works on the Growth as
// its File, without a journal:
//
//	page 1 | pages that are there | new pages | moved pages | freelist
//	  '- header and sqlite_schema: the number of pages, the roots
//
// New pages go to the file, where they will be. Pages that are there and that the engine changes
// are kept aside. Move gives them new numbers behind the others, and changes the pages
// that refer to them: the pages above them in their tree, and for roots sqlite_schema, which
// begins on page 1. Their old numbers go to the freelist.
type Growth struct {
	file  GrowthFile
	head  Header
	first []byte // page 1, as it is in the file
	end   int64  // bytes of the database, before
	size  int64  // that the engine sees

	aside   storage.File     // changed pages
	changed map[uint32]int64 // offsets of changed pages in aside, by number
	inner   map[uint32]bool  // pages that the engine has seen and that may be inner pages of a tree
}

// A GrowthFile is the file of the database. Only bytes behind its end are written.
type GrowthFile interface {
	io.ReaderAt
	io.WriterAt
}

// NewGrowth returns the database that file has, whose header is head. Pages are kept in aside,
// an empty file of the caller. The error wraps storage.ErrUnsupported for databases whose
// header has no sound number of pages, or with auto-vacuum, whose pages are referred to otherwise.
func NewGrowth(file GrowthFile, head Header, aside storage.File) (*Growth, error) {
	if !head.Valid || head.Vacuum != 0 {
		return nil, fmt.Errorf("a database with auto-vacuum, or of SQLite before 3.7: %w", storage.ErrUnsupported)
	}
	g := &Growth{
		file: file, head: head, first: make([]byte, head.Page), end: head.Size(), size: head.Size(),
		aside: aside, changed: map[uint32]int64{}, inner: map[uint32]bool{},
	}
	return g, iox.ReadFull(file, g.first, 0)
}

// The fields of the header that change.
const (
	headVersions = 18 // for writing and for reading
	headCount    = 28 // of pages
	headFree     = 32 // first page of the freelist, and their number
	headEnd      = 40
)

// Size is the bytes that the engine sees.
func (g *Growth) Size() (int64, error) { return g.size, nil }

// Truncate changes the size; the database does not get shorter than it was.
func (g *Growth) Truncate(size int64) error {
	if size < g.end {
		return fmt.Errorf("internal error: a database of %d bytes is cut to %d", g.end, size)
	}
	g.size = size
	return nil
}

// ReadAt reads like io.ReaderAt, within one page.
func (g *Growth) ReadAt(p []byte, off int64) (int, error) {
	if off >= g.size {
		return 0, io.EOF
	}
	no, in := uint32(off/int64(g.head.Page))+1, off%int64(g.head.Page)
	if in+int64(len(p)) > int64(g.head.Page) {
		return 0, fmt.Errorf("internal error: %d bytes at %d are read, of pages of %d", len(p), off, g.head.Page)
	}
	if err := g.read(no, p, in); err != nil {
		return 0, err
	}
	if in == 0 && len(p) == g.head.Page {
		g.note(no, p)
	}
	return len(p), nil
}

// read reads bytes of a page from an offset in it on, as the engine sees it: without a
// write-ahead log, and without a freelist, so that it takes no page that is there.
func (g *Growth) read(no uint32, p []byte, in int64) error {
	if at, ok := g.changed[no]; ok {
		return iox.ReadFull(g.aside, p, at+in)
	}
	if no > 1 {
		return iox.ReadFull(g.file, p, int64(no-1)*int64(g.head.Page)+in)
	}
	page := append([]byte(nil), g.first...)
	page[headVersions], page[headVersions+1] = 1, 1
	clear(page[headFree:headEnd])
	copy(p, page[in:])
	return nil
}

// WriteAt writes a page.
func (g *Growth) WriteAt(p []byte, off int64) (n int, err error) {
	if off%int64(g.head.Page) != 0 || len(p) != g.head.Page {
		return 0, fmt.Errorf("internal error: %d bytes at %d are written, of pages of %d", len(p), off, g.head.Page)
	}
	no := uint32(off/int64(g.head.Page)) + 1
	g.note(no, p)
	if g.size = max(g.size, off+int64(len(p))); off >= g.end {
		return g.file.WriteAt(p, off)
	}
	at, ok := g.changed[no]
	if !ok {
		at = int64(len(g.changed)) * int64(g.head.Page)
		g.changed[no] = at
	}
	return g.aside.WriteAt(p, at)
}

// The kinds of inner pages of a tree (https://www.sqlite.org/fileformat2.html section 1.6).
const (
	innerIndex = 2
	innerTable = 5
)

// note keeps the number of a page that looks like an inner page of a tree. Other pages may look
// like one, too, so Move follows the trees from their roots and asks only about the pages in them.
func (g *Growth) note(no uint32, p []byte) {
	if kind := p[treeStart(no)]; kind == innerIndex || kind == innerTable {
		g.inner[no] = true
	}
}

// treeStart is where a page of a tree begins in its page: behind the header of the database.
func treeStart(no uint32) int {
	if no == 1 {
		return HeaderLen
	}
	return 0
}

// children calls f for each place in a page that has the number of a page below it.
func (g *Growth) children(no uint32, page []byte, f func(ref []byte)) error {
	b := page[treeStart(no):]
	if b[0] != innerIndex && b[0] != innerTable {
		return nil
	}
	cells := int(binary.BigEndian.Uint16(b[3:]))
	if 12+2*cells > len(b) {
		return errTree
	}
	for i := range cells {
		at := int(binary.BigEndian.Uint16(b[12+2*i:]))
		if at+4 > len(page) {
			return errTree
		}
		f(page[at : at+4])
	}
	f(b[8:12])
	return nil
}

var errTree = fmt.Errorf("a page of a tree: %w", storage.ErrCorrupt)

// LockWriter takes the lock of SQLite under which no other process writes a database, until the
// file is closed; others go on reading. With wal, if the header tells of a write-ahead log,
// it also takes the lock that every process holds that has the database open. The error wraps
// storage.ErrLocked. On systems without such locks it does nothing.
func LockWriter(f storage.File, wal bool) error {
	const reserved, shared, sharedBytes = LockByte + 1, LockByte + 2, 510 // https://www.sqlite.org/lockingv3.html and os.h
	err := iox.LockRange(f, reserved, 1)
	if err == nil && wal {
		err = iox.LockRange(f, shared, sharedBytes)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}
