package sqlitefile

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/iox"
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

// NewLoader starts to load into f. The caller says where the roots are, and
// vouches that the tables are those of the package comment; what can be seen of
// the base is checked as by Open. There is no temporary file: the index of more
// than eight million rows is left to SQLite.
func NewLoader(f storage.File, b Base) (*Loader, error) {
	h, err := checkBase(f)
	if err != nil {
		return nil, err
	}
	if h.page != b.PageSize || h.pages != b.Pages {
		return nil, declined("a base of %d pages of %d bytes, not %d of %d", h.pages, h.page, b.Pages, b.PageSize)
	}
	if err := checkRoots(f, b); err != nil {
		return nil, err
	}
	return newLoader(f, b, Options{Memory: 8_000_000 * sortBytes}, uint32(lockByte/b.PageSize)+1), nil
}

// findBase looks at a file and tells whether it can be loaded into.
func findBase(f storage.File) (b Base, err error) {
	h, err := checkBase(f)
	if err != nil {
		return b, err
	}
	st, err := f.Stat()
	if err != nil {
		return b, err
	}
	list, err := readSchema(f, st.Size(), h)
	if err != nil {
		return b, err
	}
	table, err := findMessages(list)
	if err != nil {
		return b, err
	}
	if slices.Contains(table.sql, "autoincrement") {
		return b, declined("SQLite keeps count of the ids of messages")
	}
	b = Base{PageSize: h.page, Pages: h.pages, TableRoot: table.root}
	for _, e := range list {
		if !strings.EqualFold(e.table, "messages") || e.kind == "table" {
			continue
		}
		sql := strings.Join(e.sql, " ")
		if e.kind != "index" || b.IndexRoot != 0 || e.name != "timestamp_idx" ||
			sql != "create index timestamp_idx on messages ( timestamp )" && sql != "create index timestamp_idx on messages ( timestamp asc )" {
			return b, declined("messages has the %.20s %.60q", e.kind, e.name)
		}
		b.IndexRoot = e.root
	}
	return b, checkRoots(f, b)
}

// checkBase holds the header against what a loader needs.
func checkBase(f storage.File) (h header, err error) {
	st, err := f.Stat()
	if err != nil {
		return h, err
	}
	if h, err = readHeader(f, st.Size()); err != nil {
		if damage(err) {
			err = errors.Join(err, ErrDeclined)
		}
		return h, err
	}
	switch {
	case h.wal:
		err = declined("the base has a write-ahead log")
	case h.usable != h.page:
		err = declined("%d bytes of each page are reserved, and may be for checksums", h.page-h.usable)
	case h.format != 4:
		err = declined("schema format %d", h.format)
	case h.vacuum != 0:
		err = declined("the base has auto-vacuum")
	case h.text != 1:
		err = declined("the text is not UTF-8")
	case !h.valid || int64(h.pages)*int64(h.page) != st.Size():
		err = declined("%d pages of %d bytes in a file of %d", h.pages, h.page, st.Size())
	}
	return h, err
}

// checkRoots sees that both trees are empty.
func checkRoots(f storage.File, b Base) error {
	var p [8]byte
	for _, root := range []struct {
		no   uint32
		kind byte
	}{{b.TableRoot, tableLeaf}, {b.IndexRoot, indexLeaf}} {
		if root.no < 2 || root.no > b.Pages {
			return declined("a root in page %d of %d", root.no, b.Pages)
		}
		if err := iox.ReadFull(f, p[:], int64(root.no-1)*int64(b.PageSize)); err != nil {
			return err
		}
		if p[0] != root.kind || binary.BigEndian.Uint16(p[3:]) != 0 {
			return declined("the tree of page %d is not empty", root.no)
		}
	}
	return nil
}
