package sqlitefile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// ErrDeclined is wrapped by errors about a database that is sound as far as was
// looked at, but not of the one kind that this package knows. The caller leaves
// it to SQLite, which gives the same rows.
var ErrDeclined = errors.New("left to SQLite")

func declined(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, ErrDeclined)...)
}

// damage tells a broken file from a broken disk.
func damage(err error) bool {
	return errors.Is(err, storage.ErrCorrupt) || errors.Is(err, storage.ErrTruncated)
}

func corrupt(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, storage.ErrCorrupt)...)
}

// The header of a database, the first 100 bytes of page 1
// (https://www.sqlite.org/fileformat2.html section 1.3). Numbers are big-endian.
//
//	 0  16  "SQLite format 3\0"
//	16   2  page size, a power of two from 512; 1 is 65536
//	18   1  2 when a write-ahead log is in use, else 1
//	19   1  the same, for reading
//	20   1  bytes reserved at the end of each page
//	21   3  64, 32, 32
//	24   4  change counter
//	28   4  number of pages, valid when byte 92.. equals 24..
//	32   4  first page of the freelist, 0 for none
//	36   4  pages of the freelist
//	44   4  schema format, 4
//	52   4  greatest root page when auto-vacuum is on, else 0
//	56   4  text encoding, 1 is UTF-8
//	92   4  change counter for which the number of pages is valid
const (
	magic     = "SQLite format 3\x00"
	headerLen = 100
)

// header is what it says.
type header struct {
	page      int // bytes of a page
	usable    int // of them
	pages     uint32
	valid     bool // pages can be believed
	wal       bool
	change    uint32
	free      uint32 // first page of the freelist
	freePages uint32
	format    uint32 // of the schema
	vacuum    uint32
	text      uint32
}

// readHeader reads and checks the header of a file of size bytes. What is no
// database, or cannot be one, gives an error that wraps storage.ErrCorrupt.
func readHeader(r io.ReaderAt, size int64) (h header, err error) {
	var b [headerLen]byte
	if size < headerLen {
		return h, fmt.Errorf("database header: %d of %d bytes: %w", size, headerLen, storage.ErrTruncated)
	}
	if err := iox.ReadFull(r, b[:], 0); err != nil {
		return h, err
	}
	u32 := func(at int) uint32 { return binary.BigEndian.Uint32(b[at:]) }
	if string(b[:16]) != magic {
		return h, corrupt("database header: begins with %q", b[:16])
	}
	h.page = int(binary.BigEndian.Uint16(b[16:]))
	if h.page == 1 {
		h.page = 65536
	}
	if h.page < 512 || h.page&(h.page-1) != 0 {
		return h, corrupt("database header: a page size of %d", h.page)
	}
	h.usable = h.page - int(b[20])
	if h.usable < 480 {
		return h, corrupt("database header: %d bytes of %d in a page are reserved", b[20], h.page)
	}
	h.wal = b[18] != 1 || b[19] != 1
	h.change, h.pages, h.free, h.freePages = u32(24), u32(28), u32(32), u32(36)
	h.valid = h.change == u32(92) && h.pages > 0
	h.format, h.vacuum, h.text = u32(44), u32(52), u32(56)
	return h, nil
}

// lockByte is where the page lies that SQLite keeps for locks. The page is never
// used.
const lockByte = 1 << 30
