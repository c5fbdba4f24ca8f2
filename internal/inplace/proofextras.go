package inplace

import (
	"bytes"
	"errors"
	"io"
	"maps"

	"github.com/bagconv/bagconv/storage"
)

// compareExtras looks for the attachments and metadata records before the change among the ones after it, in the same
// order.
func (c *comparison) compareExtras() error {
	was, now := storage.ReaderCapabilities(c.before).Extras, storage.ReaderCapabilities(c.after).Extras
	if was == nil || now == nil {
		return nil
	}
	a, err := was.Extras()
	if err != nil {
		return err
	}
	b, err := now.Extras()
	if err != nil {
		return err
	}
	for i := range a.Attachments {
		x, found := &a.Attachments[i], false
		for len(b.Attachments) > 0 && !found {
			if found, err = sameAttachment(x, &b.Attachments[0], c.proof.Kept); err != nil {
				return err
			}
			b.Attachments = b.Attachments[1:]
		}
		if !found {
			return c.proof.refuse("attachment %.200q could not be read", x.Name)
		}
	}
	for i := range a.Metadata {
		x, found := &a.Metadata[i], false
		for len(b.Metadata) > 0 && !found {
			if found, err = sameRecord(x, &b.Metadata[0]); err != nil {
				return err
			}
			b.Metadata = b.Metadata[1:]
		}
		if !found {
			return c.proof.refuse("metadata record %.200q could not be read", x.Name)
		}
	}
	return nil
}

// sameAttachment reports whether two attachments are equal. Content that is damaged, or kept, is equal to any.
func sameAttachment(a, b *storage.Attachment, kept bool) (bool, error) {
	if a.Name != b.Name || a.MediaType != b.MediaType || a.LogTime != b.LogTime || a.CreateTime != b.CreateTime ||
		a.Size != b.Size {
		return false, nil
	}
	if kept {
		return true, nil
	}
	x, err := a.Open()
	if err != nil {
		return storage.IsDamage(err), notDamage(err)
	}
	y, err := b.Open()
	if err != nil {
		return false, errors.Join(x.Close(), notDamage(err))
	}
	same, err := sameContent(x, y)
	return same, errors.Join(err, x.Close(), y.Close())
}

// sameContent compares what two readers return, up to damage in the first one.
func sameContent(x, y io.Reader) (bool, error) {
	var a, b [32 << 10]byte
	for {
		n, err := io.ReadFull(x, a[:])
		k, _ := io.ReadFull(y, b[:n])
		if k < n || !bytes.Equal(a[:n], b[:n]) {
			return false, nil
		}
		switch {
		case err == nil:
		case err == io.EOF, err == io.ErrUnexpectedEOF, storage.IsDamage(err):
			return true, nil
		default:
			return false, err
		}
	}
}

// sameRecord reports whether two metadata records are equal. A record that cannot be read is equal to
// any record of its name.
func sameRecord(a, b *storage.MetadataRecord) (bool, error) {
	if a.Name != b.Name {
		return false, nil
	}
	x, err := a.Values()
	if err != nil {
		return storage.IsDamage(err), notDamage(err)
	}
	y, err := b.Values()
	return err == nil && maps.Equal(x, y), notDamage(err)
}

func notDamage(err error) error {
	if storage.IsDamage(err) {
		return nil
	}
	return err
}
