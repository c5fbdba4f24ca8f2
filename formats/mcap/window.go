package mcap

import (
	"encoding/binary"
	"io"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A window reads records of a file.
type window struct {
	chunked.Window
	file io.ReaderAt
	size int64
}

func (r *reader) window() window {
	return window{Window: r.src.Window(), file: r.src.File, size: r.src.Size}
}

// head reads the start of the record at off. Without an error it fits into the file.
func (w *window) head(off int64) (recordHeader, error) {
	b, err := w.Data(off, recordHead)
	if err != nil {
		return recordHeader{}, err
	}
	h, err := parseHead(b)
	if err == nil && h.length > uint64(w.size-off-recordHead) {
		err = errCut
	}
	return h, err
}

// body returns the body of the record at off, or its first most bytes.
func (w *window) body(off int64, h recordHeader, most int64) ([]byte, error) {
	return w.Data(off+recordHead, int64(min(h.length, uint64(most))))
}

// followed reports whether a record can begin at off; see followed in salvage.go.
func (w *window) followed(off int64) (bool, error) {
	if off == w.size {
		return true, nil
	}
	b, err := w.Data(off, 64)
	if err != nil {
		return false, err
	}
	if len(b) >= recordHead && b[0] != 0 {
		length := binary.LittleEndian.Uint64(b[1:])
		if length <= uint64(w.size-off-recordHead) {
			return true, nil
		}
	}
	return followed(b), nil
}

// checked is how much of a record's body is looked at to see whether it is a record. maxRecord is
// how large a record may be that is read as a whole: no chunk, message or attachment.
const (
	checked   = 4 << 10
	maxRecord = 64 << 20
)

// find returns the offset, from from on, of the next record with an op in ops (a bit for each) that
// makes sense, or to if no such record begins before it.
func (w *window) find(from, to int64, ops uint32) (int64, error) {
	var piece []byte
	for off := from; off < to; {
		n := min(1<<20, w.size-off)
		piece = storage.Grow(piece, int(n))
		if err := iox.ReadFull(w.file, piece, off); err != nil {
			return 0, chunked.IOError(err)
		}
		last := off+n == w.size
		i := 0
		for ; i+recordHead <= len(piece) && off+int64(i) < to; i++ {
			op := piece[i]
			if op == 0 || op > opDataEnd || ops>>op&1 == 0 {
				continue
			}
			at := off + int64(i)
			h := recordHeader{op, binary.LittleEndian.Uint64(piece[i+1:])}
			if ok, err := w.plausible(at, h); err != nil || ok {
				return at, err
			}
		}
		if last {
			break
		}
		off += int64(i)
	}
	return to, nil
}

// isChunk reports whether the record at off, whose opcode is another, can be
// nothing but a chunk whose opcode is damaged.
func (w *window) isChunk(off int64, h recordHeader) bool {
	b, err := w.body(off, h, chunkHead)
	var c chunk
	if err != nil || c.parse(b, h.length) != nil || uint64(c.head)+c.n != h.length || c.start > c.end {
		return false
	}
	return codecOf(c.compression) != nil
}

// plausible reports whether a record at off that begins with h makes sense.
func (w *window) plausible(off int64, h recordHeader) (bool, error) {
	room := uint64(w.size - off - recordHead)
	if h.length > room && h.op != opChunk {
		return false, nil
	}
	b, err := w.body(off, h, checked)
	if err != nil {
		return false, err
	}
	if h.op == opChunk {
		var c chunk
		if c.parse(b, h.length) != nil || uint64(c.head)+c.n != h.length {
			return false, nil
		}
		if codec, _ := c.codec(); codec == nil {
			return false, nil
		}
		if h.length > room {
			return h.length < 1<<40, nil // the file is cut within it
		}
		return true, nil
	}
	if uint64(len(b)) < h.length && h.op != opAttachment && h.op != opMessage {
		if h.length > maxRecord {
			return false, nil
		}
		if b, err = w.body(off, h, maxRecord); err != nil {
			return false, err
		}
	}
	if checkBody(h.op, h.length, b) != nil {
		return false, nil
	}
	return w.followed(off + recordHead + int64(h.length))
}
