package sqlitefile

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/storage"
)

// A base is an empty database to load into.
type base struct {
	page  int    // bytes of a page
	pages uint32 // of the file
	table uint32 // root of messages
	index uint32 // and of timestamp_idx
}

// findBase looks at a file and reports whether it can be loaded into.
func findBase(f storage.File) (b base, err error) {
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
	b = base{page: h.Page, pages: h.Pages, table: table.root}
	for _, e := range list {
		if !strings.EqualFold(e.table, "messages") || e.kind == "table" {
			continue
		}
		sql := strings.Join(e.sql, " ")
		if e.kind != "index" || b.index != 0 || e.name != "timestamp_idx" ||
			sql != "create index timestamp_idx on messages ( timestamp )" &&
				sql != "create index timestamp_idx on messages ( timestamp asc )" {
			return b, declined("messages has the %.20s %.60q", e.kind, e.name)
		}
		b.index = e.root
	}
	return b, checkRoots(f, b)
}

// checkBase compares the header with what a loader needs.
func checkBase(f storage.File) (h sqlite.Header, err error) {
	st, err := f.Stat()
	if err != nil {
		return h, err
	}
	if h, err = sqlite.ReadHeader(f, st.Size()); err != nil {
		if damage(err) {
			err = errors.Join(err, ErrDeclined)
		}
		return h, err
	}
	switch {
	case h.WAL:
		err = declined("the base has a write-ahead log")
	case h.Usable != h.Page:
		err = declined("%d bytes of each page are reserved, and may be for checksums", h.Page-h.Usable)
	case h.Format != 4:
		err = declined("schema format %d", h.Format)
	case h.Vacuum != 0:
		err = declined("the base has auto-vacuum")
	case h.Text != 1:
		err = declined("the text is not UTF-8")
	case !h.Valid || int64(h.Pages)*int64(h.Page) != st.Size():
		err = declined("%d pages of %d bytes in a file of %d", h.Pages, h.Page, st.Size())
	}
	return h, err
}

// checkRoots sees that both trees are empty.
func checkRoots(f storage.File, b base) error {
	var p [8]byte
	for _, root := range []struct {
		no   uint32
		kind byte
	}{{b.table, tableLeaf}, {b.index, indexLeaf}} {
		if root.no < 2 || root.no > b.pages {
			return declined("a root in page %d of %d", root.no, b.pages)
		}
		if err := iox.ReadFull(f, p[:], int64(root.no-1)*int64(b.page)); err != nil {
			return err
		}
		if p[0] != root.kind || binary.BigEndian.Uint16(p[3:]) != 0 {
			return declined("the tree of page %d is not empty", root.no)
		}
	}
	return nil
}
