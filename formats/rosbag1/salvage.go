package rosbag1

import (
	"bytes"
	"encoding/binary"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

var opField = []byte("\x04\x00\x00\x00op=")

// maxBack is how far before its op a record's start is looked for. It bounds
// the topic name of a connection whose writer put it before op.
const maxBack = 512

// nextRecord returns the offset, from from on, of the next bytes in b that read as a message or
// connection, fit into b, and are followed by a record header or by the end of b; else len(b).
func nextRecord(b []byte, from int) int {
	var h header
	for at := from; at < len(b); at++ {
		start, next := candidate(&h, b, from, at)
		if start < 0 {
			return len(b)
		}
		at = next
		if h.op != opMessage && h.op != opConnection {
			continue
		}
		end := int64(start) + int64(h.headLen) + h.dataSize()
		if end > int64(len(b)) {
			continue
		}
		var follow header
		if err := follow.parseRecord(b[end:]); end == int64(len(b)) || err == nil || err == storage.ErrTruncated {
			return start
		}
	}
	return len(b)
}

// candidate looks, from at on, for an op field that belongs to a whole record header starting at
// from or later, and parses that header. It returns where the header starts and where the op field
// is; start is -1 if no such header is found.
func candidate(h *header, b []byte, from, at int) (start, opAt int) {
	for {
		i := bytes.Index(b[at:], opField)
		if i < 0 {
			return -1, len(b)
		}
		i += at
		for start := i - 4; start >= max(from, i-maxBack, 0); start-- {
			n := binary.LittleEndian.Uint32(b[start:])
			if n < 8 || n > 2*maxBack || start+4+int(n) < i+8 {
				continue
			}
			if h.parseRecord(b[start:]) == nil && int(h.op) < len(required) && required[h.op] != 0 {
				return start, i
			}
		}
		at = i + 1
	}
}

// find returns the offset, from from on, of the next record with an op in ops (a bit for each) that
// fits into the file and is followed by a record; to if no such record begins before to.
func (r *reader) find(from, to int64, ops uint16) (int64, error) {
	var h header
	var buf []byte
	step := int64(4 << 10)
	for off := from; off < to; off += step {
		if off > from {
			step = min(2*step, 1<<20)
		}
		buf = storage.Grow(buf, int(min(step+4*maxBack, r.src.Size-off)))
		if err := iox.ReadFull(r.src.File, buf, off); err != nil {
			return 0, chunked.IOError(err)
		}
		for at := 0; ; {
			start, opAt := candidate(&h, buf, 0, at)
			if start < 0 || int64(start) >= step || off+int64(start) >= to {
				break
			}
			at = opAt + 1
			if ops>>h.op&1 == 0 {
				continue
			}
			ok, err := r.plausible(off+int64(start), &h, buf[start:])
			if err != nil {
				return 0, err
			}
			if ok {
				return off + int64(start), nil
			}
		}
	}
	return to, nil
}

// plausible reports whether the record at p, whose header reads well, also fits
// into the file. b is its bytes, as far as they are at hand.
func (r *reader) plausible(p int64, h *header, b []byte) (bool, error) {
	end := p + int64(h.headLen) + h.dataSize()
	if h.op == opChunk {
		codec := codecOf(h.compression)
		if codec == nil || int64(h.size) < int64(h.dataLen)/2 {
			return false, nil
		}
		if data := b[min(h.headLen, len(b)):]; r.enc == nil && len(data) >= 4 && !hasMagic(codec, data) {
			return false, nil
		}
		return true, nil
	}
	if end > r.src.Size {
		return false, nil
	}
	w := r.window()
	return w.follows(end)
}

// follows reports whether a record, or the end of the file, is at p.
func (w *window) follows(p int64) (bool, error) {
	if p == w.size {
		return true, nil
	}
	var h header
	err := w.header(&h, p)
	if chunked.IsIO(err) {
		return false, err
	}
	return err == nil || err == storage.ErrTruncated, nil
}
