package sqlite

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

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
	Magic     = "SQLite format 3\x00"
	HeaderLen = 100
)

// MaxRow is the most bytes of a row in a file that any reader can open
// (SQLITE_MAX_LENGTH as it is built everywhere).
const MaxRow = 1_000_000_000

// LockByte is the offset of the page that SQLite keeps for locks. It is never used.
const LockByte = 1 << 30

// Header is the header of a database.
type Header struct {
	Page      int // bytes of a page
	Usable    int // bytes of a page that are used
	Pages     uint32
	Valid     bool // Pages can be believed
	WAL       bool
	Change    uint32
	Free      uint32 // first page of the freelist
	FreePages uint32
	Format    uint32 // of the schema
	Vacuum    uint32
	Text      uint32
}

// ParseHeader parses and checks a header. What is not a database, or cannot be one, is an
// error that wraps storage.ErrCorrupt.
func ParseHeader(b []byte) (h Header, err error) {
	if len(b) < HeaderLen || string(b[:16]) != Magic {
		return h, fmt.Errorf("not an SQLite database: the first bytes are %.16q: %w", b[:min(len(b), 16)], storage.ErrCorrupt)
	}
	u32 := func(at int) uint32 { return binary.BigEndian.Uint32(b[at:]) }
	h.Page = int(binary.BigEndian.Uint16(b[16:]))
	if h.Page == 1 {
		h.Page = 65536
	}
	if !powerOfTwo(int64(h.Page), 512, 65536) {
		return h, fmt.Errorf("database header: a page size of %d: %w", h.Page, storage.ErrCorrupt)
	}
	h.Usable = h.Page - int(b[20])
	if h.Usable < 480 {
		return h, fmt.Errorf("database header: %d bytes of %d in a page are reserved: %w", b[20], h.Page, storage.ErrCorrupt)
	}
	h.WAL = b[18] != 1 || b[19] != 1
	h.Change, h.Pages, h.Free, h.FreePages = u32(24), u32(28), u32(32), u32(36)
	h.Valid = h.Change == u32(92) && h.Pages > 0
	h.Format, h.Vacuum, h.Text = u32(44), u32(52), u32(56)
	return h, nil
}

// ReadHeader reads and checks the header of a file of size bytes.
func ReadHeader(r io.ReaderAt, size int64) (h Header, err error) {
	var b [HeaderLen]byte
	if size < HeaderLen {
		return h, fmt.Errorf("database header: %d of %d bytes: %w", size, HeaderLen, storage.ErrTruncated)
	}
	if err := iox.ReadFull(r, b[:], 0); err != nil {
		return h, err
	}
	return ParseHeader(b[:])
}

// Size returns the bytes of the database by its header, 0 if that is not known.
func (h *Header) Size() int64 {
	if !h.Valid {
		return 0
	}
	return int64(h.Pages) * int64(h.Page)
}

func powerOfTwo(n, low, high int64) bool { return n >= low && n <= high && n&(n-1) == 0 }
