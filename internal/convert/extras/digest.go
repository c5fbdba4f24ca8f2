package extras

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"io"
	"maps"
	"slices"

	"github.com/bagconv/bagconv/storage"
)

// A Digest is an attachment or a metadata record, as far as it is compared with others.
type Digest struct {
	Record              bool // a metadata record: all but the name and Sum is 0
	Name, MediaType     string
	LogTime, CreateTime int64 // ns since 1970
	Size                int64 // bytes
	Sum                 [sha256.Size]byte
}

// Digests are the digests of a recording.
type Digests struct {
	List       []Digest // of what can be read: attachments first, in the order of the file
	Unreadable int      // attachments and records that cannot be read
}

// DigestsOf reads attachments and metadata records of a recording. Without contents, no content
// is read, and all sums are 0.
func DigestsOf(ctx context.Context, r storage.Reader, contents bool) (all Digests, err error) {
	from := storage.ReaderCapabilities(r).Extras
	if from == nil {
		return all, nil
	}
	x, err := from.Extras()
	if err != nil {
		return all, err
	}
	add := func(d Digest, err error) error {
		switch {
		case err == nil:
			all.List = append(all.List, d)
		case errors.Is(err, storage.ErrCorrupt), errors.Is(err, storage.ErrTruncated), errors.Is(err, storage.ErrUnsupported):
			all.Unreadable++
		default:
			return err
		}
		return ctx.Err()
	}
	for i := range x.Attachments {
		if err := add(DigestOf(ctx, &x.Attachments[i], contents)); err != nil {
			return all, err
		}
	}
	for i := range x.Metadata {
		if err := add(digestOfRecord(&x.Metadata[i], contents)); err != nil {
			return all, err
		}
	}
	return all, nil
}

// DigestOf returns the digest of an attachment; without contents its sum is 0.
func DigestOf(ctx context.Context, a *storage.Attachment, contents bool) (d Digest, err error) {
	d = Digest{Name: a.Name, MediaType: a.MediaType, LogTime: a.LogTime, CreateTime: a.CreateTime, Size: a.Size}
	if !contents {
		return d, nil
	}
	content, err := a.Open()
	if err != nil {
		return d, err
	}
	sum := sha256.New()
	_, err = io.Copy(sum, endingReader{content, ctx})
	sum.Sum(d.Sum[:0])
	return d, errors.Join(err, content.Close())
}

func digestOfRecord(m *storage.MetadataRecord, contents bool) (d Digest, err error) {
	d = Digest{Record: true, Name: m.Name}
	if !contents {
		return d, nil
	}
	values, err := m.Values()
	if err != nil {
		return d, err
	}
	sum := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(values)) {
		addText(sum, key)
		addText(sum, values[key])
	}
	sum.Sum(d.Sum[:0])
	return d, nil
}

// addText adds a text and its length.
func addText(sum hash.Hash, s string) {
	sum.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(s))))
	sum.Write([]byte(s))
}

// Same reports whether both are attachments, or records, of one name.
func (d *Digest) Same(o *Digest) bool { return d.Record == o.Record && d.Name == o.Name }

// An endingReader ends with its context.
type endingReader struct {
	io.ReadCloser
	ctx context.Context
}

func (r endingReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.ReadCloser.Read(p)
}

// Ending returns a reader that ends with ctx.
func Ending(ctx context.Context, r io.ReadCloser) io.ReadCloser { return endingReader{r, ctx} }
