package mcap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"slices"

	"github.com/bagconv/bagconv/storage"
)

// copyPiece is how much of an attachment is in memory.
const copyPiece = 128 << 10

// WriteAttachment copies an attachment. See storage.ExtraWriter.
func (w *writer) WriteAttachment(a *storage.Attachment) error {
	if err := w.Usable(); err != nil {
		return err
	}
	switch {
	case !validName(a.Name) || !validName(a.MediaType):
		return w.fail(fmt.Sprintf("attachment %.80q: a name that is not UTF-8", a.Name), storage.ErrUnsupported)
	case a.Size < 0:
		return w.fail(fmt.Sprintf("attachment %.80q: no size", a.Name), storage.ErrUnsupported)
	}
	content, err := a.Open()
	if err != nil {
		return w.Stop(err)
	}
	err = w.writeAttachment(attachment{uint64(a.LogTime), uint64(a.CreateTime), a.Name, a.MediaType, uint64(a.Size)},
		content)
	if err = errors.Join(err, content.Close()); err != nil {
		return w.Stop(err)
	}
	return nil
}

// WriteMetadata writes a metadata record. See storage.ExtraWriter.
func (w *writer) WriteMetadata(m *storage.MetadataRecord) error {
	if err := w.Usable(); err != nil {
		return err
	}
	values, err := m.Values()
	if err != nil {
		return w.Stop(err)
	}
	record := metadata{name: m.Name} // of another file, in which texts need not be UTF-8: they stay as they are
	for _, key := range slices.Sorted(maps.Keys(values)) {
		record.values = append(record.values, pair{key, values[key]})
	}
	if err := w.writeMetadata(record); err != nil {
		return w.Stop(err)
	}
	return nil
}

// writeAttachment writes an attachment of a.size bytes, which come from data, after
// the chunks that were appended so far.
func (w *writer) writeAttachment(a attachment, data io.Reader) error {
	w.Mu.Lock()
	defer w.Mu.Unlock()
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
			return w.fail(fmt.Sprintf("attachment %.80q ends %d bytes too early", a.name, left), err)
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

// writeMetadata writes a metadata record after the chunks that were appended so far.
func (w *writer) writeMetadata(m metadata) error {
	w.Mu.Lock()
	defer w.Mu.Unlock()
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
