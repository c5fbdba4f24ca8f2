package sqlite

import (
	"encoding/binary"
	"fmt"
	"io"
	"maps"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

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

// IsWAL reports whether a file begins as a write-ahead log.
func IsWAL(head []byte) bool {
	return len(head) >= 4 && binary.BigEndian.Uint32(head)&^1 == walMagic
}

// ReadWAL reads the frames of a log of size bytes up to the first that is not
// sound, as recovery does. A log that was never begun has no frames.
func ReadWAL(r io.ReaderAt, size int64) (*Overlay, error) {
	w := &Overlay{At: map[int64]int64{}, Open: map[int64]int64{}}
	if size < walHeaderLen {
		return w, nil
	}
	var h [walHeaderLen]byte
	if err := iox.ReadFull(r, h[:], 0); err != nil {
		return nil, err
	}
	magic := binary.BigEndian.Uint32(h[:])
	if magic&^1 != walMagic || binary.BigEndian.Uint32(h[4:]) != walVersion {
		return nil, fmt.Errorf("log header: magic %#x, version %d: %w", magic, binary.BigEndian.Uint32(h[4:]),
			storage.ErrCorrupt)
	}
	var order binary.ByteOrder = binary.LittleEndian
	if magic&1 != 0 {
		order = binary.BigEndian
	}
	w.Page = int64(binary.BigEndian.Uint32(h[8:]))
	if !powerOfTwo(w.Page, 512, 65536) {
		return nil, fmt.Errorf("log header: a page size of %d: %w", w.Page, storage.ErrCorrupt)
	}
	var sum walSum
	sum.add(h[:24], order)
	if !sum.equal(h[24:]) {
		return nil, fmt.Errorf("log header: wrong checksum: %w", storage.ErrCorrupt)
	}
	frame := make([]byte, walFrameLen+w.Page)
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
		w.Open[number-1] = off + walFrameLen
		if pages := binary.BigEndian.Uint32(frame[4:]); pages != 0 {
			maps.Copy(w.At, w.Open)
			clear(w.Open)
			w.Pages = int64(pages)
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
