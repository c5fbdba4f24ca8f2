package multi

import (
	"bytes"
	"errors"
	"io"
	"maps"

	"github.com/bagconv/bagconv/storage"
)

// Parts that a split has made have the same attachments and metadata records each. Equal ones are
// written once: of one name and, for attachments, of the same times and bytes.

// hasAttachment reports whether an attachment is in a list.
func hasAttachment(list []storage.Attachment, a *storage.Attachment) (bool, error) {
	for i := range list {
		b := &list[i]
		if a.Name != b.Name || a.MediaType != b.MediaType || a.Size != b.Size || a.LogTime != b.LogTime ||
			a.CreateTime != b.CreateTime {
			continue
		}
		if same, err := sameContent(a, b); same || err != nil {
			return same, err
		}
	}
	return false, nil
}

// sameContent compares the bytes of attachments.
func sameContent(a, b *storage.Attachment) (same bool, err error) {
	x, err := a.Open()
	if err != nil {
		return false, nil // it is reported when it is copied
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	y, err := b.Open()
	if err != nil {
		return false, nil
	}
	defer func() { err = errors.Join(err, y.Close()) }()
	const piece = 128 << 10
	p, q := make([]byte, piece), make([]byte, piece)
	for {
		n, errX := io.ReadFull(x, p)
		m, errY := io.ReadFull(y, q)
		switch {
		case !bytes.Equal(p[:n], q[:m]):
			return false, nil
		case errX != nil || errY != nil:
			return ended(errX) && ended(errY), nil
		}
	}
}

func ended(err error) bool { return err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) }

// hasMetadata reports whether a metadata record is in a list.
func hasMetadata(list []storage.MetadataRecord, m *storage.MetadataRecord) (bool, error) {
	for i := range list {
		if list[i].Name != m.Name {
			continue
		}
		a, err := m.Values()
		if err != nil {
			return false, nil // it is reported when it is copied
		}
		if b, err := list[i].Values(); err == nil && maps.Equal(a, b) {
			return true, nil
		}
	}
	return false, nil
}
