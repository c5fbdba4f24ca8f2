package mcap

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
)

// copyPiece is how much of an attachment is in memory.
const copyPiece = 128 << 10

// writeAttachment writes an attachment of a.size bytes, which come from data, behind
// the chunks that were appended so far.
func (w *Writer) writeAttachment(a attachment, data io.Reader) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.begin(); err != nil {
		return err
	}
	offset := w.pos
	head := a.appendHead(nil)
	if err := w.put(head); err != nil {
		return err
	}
	sum := crc32.ChecksumIEEE(head[recordHead:])
	piece := make([]byte, min(copyPiece, a.size+1))
	for left := a.size; ; {
		n, err := data.Read(piece)
		if uint64(n) > left {
			return w.fail(fmt.Sprintf("attachment %.80q has more than its %d bytes", a.name, a.size), nil)
		}
		left -= uint64(n)
		sum = crc32.Update(sum, crc32.IEEETable, piece[:n])
		if e := w.put(piece[:n]); e != nil {
			return e
		}
		if err == io.EOF && left == 0 {
			break
		}
		if err != nil {
			return w.fail(fmt.Sprintf("attachment %.80q, %d bytes before its end", a.name, left), err)
		}
	}
	if err := w.put(append(binary.LittleEndian.AppendUint32(nil, sum), padding...)); err != nil {
		return err
	}
	x := attachmentIndex{uint64(offset), uint64(w.pos - offset), a}
	w.attachmentIndexes = x.append(w.attachmentIndexes)
	w.stats.attachments++
	return nil
}

// writeMetadata writes a metadata record behind the chunks that were appended so far.
func (w *Writer) writeMetadata(m metadata) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.begin(); err != nil {
		return err
	}
	x := metadataIndex{offset: uint64(w.pos), name: m.name}
	if err := w.put(m.append(nil)); err != nil {
		return err
	}
	x.length = uint64(w.pos) - x.offset
	w.metadataIndexes = x.append(w.metadataIndexes)
	w.stats.metadata++
	return nil
}
