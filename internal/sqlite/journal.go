package sqlite

import (
	"encoding/binary"
	"io"

	"github.com/bagconv/bagconv/internal/iox"
)

// A rollback journal holds the pages of a database as they were before the
// transaction that was going on, https://www.sqlite.org/fileformat2.html section 3.
// Numbers are big-endian.
//
//	header  0 magic   8 records that follow, all that there are if it is
//	        0xffffffff  12 nonce of the checksums  16 pages of the database before
//	       20 sector size  24 page size, 0 for the database's; then zeros up to
//	        the end of the sector
//	record  0 page number  4 the page  then the checksum of the page
//
// After the records another header may follow, at the next multiple of the sector
// size. The name of a super-journal, with which several databases commit together,
// may stand at the end: name, its length, checksum, magic. If it is gone the
// transaction was committed.
const (
	JournalMagic     = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
	journalHeaderLen = 28
	journalSector    = 512 // the least that a journal has
	maxSuperName     = 1024
)

// ReadJournal reads a journal of size bytes as far as SQLite does when it rolls back:
// to the first record that is not sound. page is the page size of the database, 0 if
// it is not known. o is nil if no header can be read: SQLite then leaves the database
// as it is. cut means that the header counts more records.
func ReadJournal(r io.ReaderAt, size, page int64) (o *Overlay, cut bool, err error) {
	h := make([]byte, journalHeaderLen+len(journalMark))
	var buf []byte
	sector := int64(journalSector)
	for off := int64(0); off+sector <= size; off = (off + sector - 1) / sector * sector {
		if err := iox.ReadFull(r, h, off); err != nil {
			return nil, false, err
		}
		if string(h[:8]) != JournalMagic {
			break
		}
		records, nonce := int64(binary.BigEndian.Uint32(h[8:])), binary.BigEndian.Uint32(h[12:])
		if o == nil {
			sector = int64(binary.BigEndian.Uint32(h[20:]))
			if n := int64(binary.BigEndian.Uint32(h[24:])); n != 0 {
				page = n
			}
			if !powerOfTwo(page, 512, 65536) || !powerOfTwo(sector, 32, 65536) {
				return nil, false, nil
			}
			o = &Overlay{Page: page, Pages: int64(binary.BigEndian.Uint32(h[16:])), At: map[int64]int64{},
				Added: string(h[journalHeaderLen:]) == journalMark}
			buf = make([]byte, page+8)
		}
		off += sector
		counted := records != 0xffffffff
		if !counted {
			records = max(size-sector, 0) / (page + 8)
		}
		for range records {
			if off+page+8 > size {
				return o, counted, nil
			}
			if err := iox.ReadFull(r, buf, off); err != nil {
				return nil, false, err
			}
			number := int64(binary.BigEndian.Uint32(buf))
			lock := number == LockByte/page+1
			if number == 0 || lock || number <= o.Pages && binary.BigEndian.Uint32(buf[4+page:]) != journalSum(nonce,
				buf[4:4+page]) {
				return o, counted, nil
			}
			if number <= o.Pages {
				o.At[number-1] = off + 4
			}
			off += page + 8
		}
	}
	return o, false, nil
}

// journalSum returns the checksum of a page: of every 200th byte from its end.
func journalSum(nonce uint32, page []byte) uint32 {
	for i := len(page) - 200; i > 0; i -= 200 {
		nonce += uint32(page[i])
	}
	return nonce
}

// SuperJournal returns the name of the super-journal at the end of a journal, "" without.
func SuperJournal(r io.ReaderAt, size int64) (string, error) {
	var tail [16]byte
	if size < int64(len(tail)) {
		return "", nil
	}
	if err := iox.ReadFull(r, tail[:], size-16); err != nil {
		return "", err
	}
	n, sum := int64(binary.BigEndian.Uint32(tail[:])), binary.BigEndian.Uint32(tail[4:])
	if string(tail[8:]) != JournalMagic || n == 0 || n > maxSuperName || n > size-16 {
		return "", nil
	}
	name := make([]byte, n)
	if err := iox.ReadFull(r, name, size-16-n); err != nil {
		return "", err
	}
	for _, c := range name {
		sum -= uint32(int8(c)) // plain char, which is signed on most machines
	}
	if sum != 0 {
		return "", nil
	}
	return string(name), nil
}
