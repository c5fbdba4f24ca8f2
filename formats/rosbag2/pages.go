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
	if p.size < 512 || p.size&(p.size-1) != 0 {
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

// source is a database file as the engine shall see it: with the committed
// frames of its log laid over it, its header saying that there is no log, and
// zeros where it was cut off. Nothing of this is written anywhere. Pages that
// are read one after the other are read ahead. It belongs to one connection.
type source struct {
	db    io.ReaderAt
	log   io.ReaderAt     // nil without frames
	at    map[int64]int64 // page number (from 0) to its offset in log
	page  int64           // page size
	size  int64           // of db
	total int64           // that the engine sees

	ahead    []byte // bytes of db from aheadOff on
	aheadOff int64
	next     int64 // where the last read of db ended
	step     int64 // how much was read ahead
}

// aheadBytes is how much is read at once, after some steps, of what is read in order.
const aheadBytes = 128 << 10

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
		if at, ok := s.at[(off+int64(done))/s.page]; ok {
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
		if off != s.next || have > aheadBytes/2 {
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

// A write-ahead log is a header of 32 bytes and frames of 24 bytes and a page,
// https://www.sqlite.org/fileformat2.html section 4. Numbers are big-endian.
//
//	header  0 magic 0x377f0682, or ..83 for checksums over big-endian words
//	        4 version 3007000   8 page size   12 checkpoint number
//	       16 salt (8 bytes)   24 checksum of the first 24 bytes
//	frame   0 page number   4 pages of the database after this commit, else 0
//	        8 salt         16 checksum of these 8 bytes and the page, going on
//	                          from the one before
const (
	walMagic     = 0x377f0682
	walVersion   = 3007000
	walHeaderLen = 32
	walFrameLen  = 24
)

// walLog is what a log holds that was committed.
type walLog struct {
	at    map[int64]int64 // page number (from 0) to offset of the page in the log
	page  int64
	pages int64 // of the database after the last commit; 0: no commit
	open  int   // sound frames after the last commit
}

// readWAL reads the frames of a log of size bytes up to the first that is not
// sound, as recovery does. A log that was never begun gives no frames.
func readWAL(r io.ReaderAt, size int64) (*walLog, error) {
	w := &walLog{at: map[int64]int64{}}
	if size < walHeaderLen {
		return w, nil
	}
	var h [walHeaderLen]byte
	if err := iox.ReadFull(r, h[:], 0); err != nil {
		return nil, err
	}
	magic := binary.BigEndian.Uint32(h[:])
	if magic&^1 != walMagic || binary.BigEndian.Uint32(h[4:]) != walVersion {
		return nil, fmt.Errorf("log header: magic %#x, version %d: %w", magic, binary.BigEndian.Uint32(h[4:]), storage.ErrCorrupt)
	}
	var order binary.ByteOrder = binary.LittleEndian
	if magic&1 != 0 {
		order = binary.BigEndian
	}
	w.page = int64(binary.BigEndian.Uint32(h[8:]))
	if w.page < 512 || w.page > 65536 || w.page&(w.page-1) != 0 {
		return nil, fmt.Errorf("log header: a page size of %d: %w", w.page, storage.ErrCorrupt)
	}
	var sum walSum
	sum.add(h[:24], order)
	if !sum.equal(h[24:]) {
		return nil, fmt.Errorf("log header: wrong checksum: %w", storage.ErrCorrupt)
	}
	frame := make([]byte, walFrameLen+w.page)
	pending := map[int64]int64{}
	for off := int64(walHeaderLen); off+int64(len(frame)) <= size; off += int64(len(frame)) {
		if err := iox.ReadFull(r, frame, off); err != nil {
			return nil, err
		}
		number := int64(binary.BigEndian.Uint32(frame))
		sum.add(frame[:8], order)
		sum.add(frame[walFrameLen:], order)
		if string(frame[8:16]) != string(h[16:24]) || !sum.equal(frame[16:]) || number == 0 {
			break
		}
		pending[number-1] = off + walFrameLen
		w.open++
		if pages := binary.BigEndian.Uint32(frame[4:]); pages != 0 {
			for k, v := range pending {
				w.at[k] = v
			}
			clear(pending)
			w.pages, w.open = int64(pages), 0
		}
	}
	return w, nil
}

// walSum is the log's running checksum.
type walSum struct{ a, b uint32 }

func (s *walSum) add(p []byte, order binary.ByteOrder) {
	for ; len(p) >= 8; p = p[8:] {
		s.a += order.Uint32(p) + s.b
		s.b += order.Uint32(p[4:]) + s.a
	}
}

func (s *walSum) equal(p []byte) bool {
	return s.a == binary.BigEndian.Uint32(p) && s.b == binary.BigEndian.Uint32(p[4:])
}
