package mcap

import (
	"encoding/binary"
	"fmt"
	"hash"
	"hash/crc32"
	"io"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// Extras lists attachments and metadata records, without the records that Info has. See
// storage.ExtraReader.
func (r *reader) Extras() (storage.Extras, error) {
	var x storage.Extras
	for i := range r.attachments {
		a := &r.attachments[i]
		x.Attachments = append(x.Attachments, storage.Attachment{
			Name: a.name, MediaType: a.mediaType, Size: int64(a.size),
			LogTime: int64(a.log), CreateTime: int64(a.create),
			Open: func() (io.ReadCloser, error) { return r.openAttachment(a) },
		})
	}
	for _, p := range r.metadata {
		if r.own.at[p.at] {
			continue
		}
		m, err := r.metadataAt(p)
		if err != nil {
			return x, err
		}
		x.Metadata = append(x.Metadata, storage.MetadataRecord{Name: m.name, Values: func() (map[string]string,
			error) {
			return r.metadataValues(p)
		}})
	}
	return x, nil
}

// metadataValues reads the values of a metadata record.
func (r *reader) metadataValues(p placed) (map[string]string, error) {
	m, err := r.metadataAt(p)
	if err != nil {
		return nil, err
	}
	values := make(map[string]string, len(m.values))
	for _, v := range m.values {
		if _, ok := values[v.key]; ok {
			if err := r.src.Warn("repeated-key", p.at, false, "metadata record %.80q has the key %.80q twice; the first is used",
				m.name, v.key); err != nil {
				return nil, err
			}
			continue
		}
		values[v.key] = v.value
	}
	return values, nil
}

// placed is where a record is in the file.
type placed struct {
	at, length int64
}

// A placedAttachment is an Attachment record in the file.
type placedAttachment struct {
	placed
	attachment
	data int64 // where its data begins
}

// openAttachment opens the data of an attachment. A checksum that differs is reported by a warning,
// when all data was read.
func (r *reader) openAttachment(a *placedAttachment) (*attachmentReader, error) {
	head := make([]byte, a.data-a.at-recordHead)
	if err := iox.ReadFull(r.src.File, head, a.at+recordHead); err != nil {
		return nil, r.src.Fail(a.at, "attachment", err)
	}
	x := &attachmentReader{r: r, a: a, sum: crc32.NewIEEE(), left: int64(a.size)}
	x.sum.Write(head)
	return x, nil
}

// An attachmentReader reads the data of an attachment.
type attachmentReader struct {
	r    *reader
	a    *placedAttachment
	sum  hash.Hash32
	left int64
	err  error // once all was read: io.EOF, or that the checksum differs
}

// Read reads on. At the end it compares the checksum.
func (x *attachmentReader) Read(p []byte) (int, error) {
	if x.left == 0 {
		if x.err == nil {
			x.err = x.check()
		}
		return 0, x.err
	}
	p = p[:min(int64(len(p)), x.left)]
	at := x.a.data + int64(x.a.size) - x.left
	if err := iox.ReadFull(x.r.src.File, p, at); err != nil {
		return 0, x.r.src.Fail(at, "attachment", err)
	}
	x.sum.Write(p)
	x.left -= int64(len(p))
	return len(p), nil
}

func (x *attachmentReader) check() error {
	var b [4]byte
	at := x.a.data + int64(x.a.size)
	if err := iox.ReadFull(x.r.src.File, b[:], at); err != nil {
		return x.r.src.Fail(at, "attachment", err)
	}
	if want := binary.LittleEndian.Uint32(b[:]); want != 0 && want != x.sum.Sum32() {
		if err := x.r.src.Warn("attachment-crc", x.a.at, true,
			"the checksum of attachment %.80q differs: it is read, and may be damaged", x.a.name); err != nil {
			return err
		}
	}
	return io.EOF
}

// Close does nothing: the file is the Reader's.
func (x *attachmentReader) Close() error { return nil }

// metadataAt reads a metadata record.
func (r *reader) metadataAt(p placed) (metadata, error) {
	b := make([]byte, min(p.length-recordHead, maxRecord))
	if err := iox.ReadFull(r.src.File, b, p.at+recordHead); err != nil {
		return metadata{}, r.src.Fail(p.at, "metadata record", err)
	}
	var m metadata
	if err := m.parse(b); err != nil {
		return metadata{}, r.src.Fail(p.at, "metadata record", fmt.Errorf("%w: %w", storage.ErrCorrupt, err))
	}
	return m, nil
}
