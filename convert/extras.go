package convert

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/storage"
)

// copyExtras copies attachments and metadata records of the source, whatever is selected
// of its messages, and returns what is lost of them. Where the sink has a place for them
// only those are lost that it refuses, or that damage makes unreadable.
func copyExtras(ctx context.Context, r storage.Reader, to storage.ExtraWriter) (lost []Loss, err error) {
	from := storage.ReaderCapabilities(r).Extras
	if from == nil {
		return nil, nil
	}
	x, err := from.Extras()
	if err != nil {
		return nil, err
	}
	files := extraLoss{Loss: Loss{Code: "attachment"}, what: "attachments"}
	tables := extraLoss{Loss: Loss{Code: "metadata-record"}, what: "metadata records"}
	for i := range x.Attachments {
		a := &x.Attachments[i]
		if err := files.take(a.Name, a.Size, to != nil, func() error { return copyAttachment(ctx, a, to) }); err != nil {
			return nil, err
		}
	}
	for i := range x.Metadata {
		m := &x.Metadata[i]
		if err := tables.take(m.Name, 0, to != nil, func() error { return copyMetadata(m, to) }); err != nil {
			return nil, err
		}
	}
	for _, l := range []*extraLoss{&files, &tables} {
		if l.Count > 0 {
			lost = append(lost, l.loss())
		}
	}
	return lost, nil
}

// copyAttachment opens an attachment before the sink does: one that cannot be opened
// costs no other.
func copyAttachment(ctx context.Context, a *storage.Attachment, to storage.ExtraWriter) error {
	content, err := a.Open()
	if err != nil {
		return err
	}
	opened := *a
	opened.Open = func() (io.ReadCloser, error) { return endingReader{content, ctx}, nil }
	if err := to.WriteAttachment(&opened); err != nil {
		_ = content.Close() // the sink may not have come to it
		return err
	}
	return nil
}

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

func copyMetadata(m *storage.MetadataRecord, to storage.ExtraWriter) error {
	values, err := m.Values()
	if err != nil {
		return err
	}
	read := *m
	read.Values = func() (map[string]string, error) { return values, nil }
	return to.WriteMetadata(&read)
}

// An extraLoss counts attachments, or metadata records, that are not copied.
type extraLoss struct {
	Loss
	what  string
	names []string
	first error // why the first is not copied; nil: the format has no place for any
}

// take copies one, if the sink has a place, or counts it.
func (l *extraLoss) take(name string, size int64, place bool, write func() error) error {
	if place {
		err := write()
		if !refusal(err) && !errors.Is(err, storage.ErrTruncated) {
			return err
		}
		if l.first == nil {
			l.first = err
		}
	}
	l.Count++
	l.Bytes += size
	if len(l.names) < maxNames && !slices.Contains(l.names, name) {
		l.names = append(l.names, name)
	}
	return nil
}

// maxNames is how many names of lost extras a report lists.
const maxNames = 5

func (l *extraLoss) loss() Loss {
	loss := l.Loss
	loss.ByDesign = l.first == nil
	names := fmt.Sprintf("%.80q", l.names)
	if l.Count > int64(len(l.names)) {
		names = strings.TrimSuffix(names, "]") + " ...]"
	}
	loss.Message = fmt.Sprintf("the format has no place for %s: %s", l.what, names)
	if l.first != nil {
		loss.Message = fmt.Sprintf("%s cannot be copied: %s; the first: %v", l.what, names, l.first)
	}
	return loss
}
