package sqlite

import (
	"errors"
	"io"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// An Image is a database file as the engine shall see it: with the pages of the log
// or journal beside it laid over it, a header without a log, and
// zeros after its cut end. Nothing of this is written anywhere. Pages that
// are read one after the other are read ahead. It belongs to one goroutine.
type Image struct {
	db    io.ReaderAt
	log   io.ReaderAt     // what is beside it, nil without pages
	at    map[int64]int64 // page number (from 0) to its offset in log; a complement is an offset in db
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

// NewImage returns the database db, which has size bytes; for the engine there are
// total. If overlay is not nil its pages, which are in the file log, take the place of the pages of db.
func NewImage(db io.ReaderAt, size, total int64, overlay *Overlay, log io.ReaderAt) *Image {
	s := &Image{db: db, size: size, total: total}
	if overlay != nil {
		s.log, s.at, s.page = log, overlay.At, overlay.Page
	}
	return s
}

// Another returns an Image of the same files that reads nothing ahead.
func (s *Image) Another() *Image {
	return &Image{db: s.db, log: s.log, at: s.at, page: s.page, size: s.size, total: s.total, exact: true}
}

// Distant reports whether a read asks another machine. See iox.Distant.
func (s *Image) Distant() bool { return iox.Distant(s.db) }

// Prefetch begins to read spans of the database file, where most of the pages are. See iox.Prefetch.
func (s *Image) Prefetch(spans []iox.Span) { iox.Prefetch(s.db, spans...) }

// Size returns the bytes that the engine sees.
func (s *Image) Size() (int64, error) { return s.total, nil }

// WriteAt refuses.
func (s *Image) WriteAt([]byte, int64) (int, error) { return 0, errors.ErrUnsupported }

// Truncate refuses.
func (s *Image) Truncate(int64) error { return errors.ErrUnsupported }

// ReadAt reads like io.ReaderAt.
func (s *Image) ReadAt(p []byte, off int64) (int, error) {
	n, err := s.readAt(p, off)
	for i := int64(18); i <= 19; i++ {
		if j := i - off; j >= 0 && j < int64(n) && p[j] == 2 {
			p[j] = 1
		}
	}
	return n, err
}

func (s *Image) readAt(p []byte, off int64) (int, error) {
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
func (s *Image) readDB(p []byte, off int64) error {
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
