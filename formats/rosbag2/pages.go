package rosbag2

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// The header of an SQLite database, https://www.sqlite.org/fileformat2.html
// section 1.3, as far as it is used here. Numbers are big-endian.
//
//	 0  16  "SQLite format 3\0"
//	16   2  page size, a power of two from 512; 1 is 65536
//	18   1  2 when a write-ahead log is in use, else 1
//	19   1  the same, for reading
//	20   1  bytes reserved at the end of each page
//	24   4  change counter
//	28   4  number of pages, valid when byte 92.. equals 24..
//	92   4  change counter for which the number of pages is valid
const (
	sqliteMagic = "SQLite format 3\x00"
	headerLen   = 100
)

// pageInfo is what the header says.
type pageInfo struct {
	size  int64 // of a page
	pages int64 // by the header; 0 when not valid
}

func parseHeader(h []byte) (p pageInfo, err error) {
	if len(h) < headerLen || string(h[:16]) != sqliteMagic {
		return p, fmt.Errorf("no SQLite database: the first bytes are %.16q: %w", h[:min(len(h), 16)], storage.ErrCorrupt)
	}
	p.size = int64(binary.BigEndian.Uint16(h[16:]))
	if p.size == 1 {
		p.size = 65536
	}
	if !powerOfTwo(p.size, 512, 65536) {
		return p, fmt.Errorf("database header: a page size of %d: %w", p.size, storage.ErrCorrupt)
	}
	if p.size-int64(h[20]) < 480 {
		return p, fmt.Errorf("database header: %d bytes of %d in a page are reserved: %w", h[20], p.size, storage.ErrCorrupt)
	}
	if binary.BigEndian.Uint32(h[24:]) == binary.BigEndian.Uint32(h[92:]) {
		p.pages = int64(binary.BigEndian.Uint32(h[28:]))
	}
	return p, nil
}

// source is a database file as the engine shall see it: with the pages of the log
// or journal beside it laid over it, its header saying that there is no log, and
// zeros where it was cut off. Nothing of this is written anywhere. Pages that
// are read one after the other are read ahead. It belongs to one goroutine.
type source struct {
	db    io.ReaderAt
	log   io.ReaderAt     // what is beside it, nil without pages
	at    map[int64]int64 // page number (from 0) to its offset in log; a complement is one in db
	page  int64           // page size
	size  int64           // of db
	total int64           // that the engine sees

	exact    bool   // nothing is read ahead
	ahead    []byte // bytes of db from aheadOff on
	aheadOff int64
	next     int64 // where the last read of db ended
	step     int64 // how much was read ahead
}

// aheadBytes is how much is read at once, after some steps, of what is read in order.
const aheadBytes = 128 << 10

// another is one on the same files, which reads nothing ahead.
func (s *source) another() *source {
	return &source{db: s.db, log: s.log, at: s.at, page: s.page, size: s.size, total: s.total, exact: true}
}

func (s *source) Size() (int64, error) { return s.total, nil }

func (s *source) WriteAt([]byte, int64) (int, error) { return 0, errors.ErrUnsupported }

func (s *source) Truncate(int64) error { return errors.ErrUnsupported }

// ReadAt reads like io.ReaderAt.
func (s *source) ReadAt(p []byte, off int64) (int, error) {
	n, err := s.readAt(p, off)
	for i := int64(18); i <= 19; i++ {
		if j := i - off; j >= 0 && j < int64(n) && p[j] == 2 {
			p[j] = 1
		}
	}
	return n, err
}

func (s *source) readAt(p []byte, off int64) (int, error) {
	if off >= s.total {
		return 0, io.EOF
	}
	var eof error
	if int64(len(p)) > s.total-off {
		p, eof = p[:s.total-off], io.EOF
	}
	if len(s.at) == 0 {
		if err := s.readDB(p, off); err != nil {
			return 0, err
		}
		return len(p), eof
	}
	for done := 0; done < len(p); {
		in := (off + int64(done)) % s.page
		part := p[done:min(int64(len(p)), int64(done)+s.page-in)]
		var err error
		if at, ok := s.at[(off+int64(done))/s.page]; ok && at < 0 {
			err = s.readDB(part, ^at+in)
		} else if ok {
			err = iox.ReadFull(s.log, part, at+in)
		} else {
			err = s.readDB(part, off+int64(done))
		}
		if err != nil {
			return done, err
		}
		done += len(part)
	}
	return len(p), eof
}

// readDB reads from the file, and zeros after its end.
func (s *source) readDB(p []byte, off int64) error {
	have := min(max(s.size-off, 0), int64(len(p)))
	clear(p[have:])
	if have == 0 {
		return nil
	}
	p = p[:have]
	in := off - s.aheadOff
	if in < 0 || in+have > int64(len(s.ahead)) {
		if off != s.next || have > aheadBytes/2 || s.exact {
			s.next, s.step = off+have, 0
			return iox.ReadFull(s.db, p, off)
		}
		s.step = min(max(2*s.step, 4*have), aheadBytes)
		s.ahead = storage.Grow(s.ahead, int(min(s.step, s.size-off)))
		s.aheadOff, in = off, 0
		if err := iox.ReadFull(s.db, s.ahead, off); err != nil {
			s.ahead = s.ahead[:0]
			return err
		}
	}
	s.next = off + have
	copy(p, s.ahead[in:])
	return nil
}
