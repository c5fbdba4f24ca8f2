package convert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/convert/extras"
	"github.com/bagconv/bagconv/storage"
)

// ErrNoPlace is the error of a run with files to attach to an output that has no place
// for attachments.
var ErrNoPlace = errors.New("the output has no place for attachments")

// writeExtras writes attachments and metadata records of the source, and then the
// files of Job.Attach.
func (o *output) writeExtras(ctx context.Context, r storage.Reader) (err error) {
	var to []storage.ExtraWriter
	if o.caps.Extras != nil {
		to = append(to, o.caps.Extras)
	}
	if o.job.Extras != "" {
		o.extrasFolder = extras.NewFolder(o.job.extrasFS, o.job.Extras, o.job.Write.Overwrite, !o.job.Write.NoSync)
		to = append(to, o.extrasFolder)
	}
	if o.job.DryRun {
		return o.measureExtras(ctx, r, len(to) > 0)
	}
	if !o.job.SkipExtras {
		if o.plan.extras, o.refused, err = copyExtras(ctx, r, to...); err != nil {
			return err
		}
	}
	o.plan.extrasFolder = o.extrasFolder
	for i := range o.added {
		if o.caps.Extras == nil {
			return ErrNoPlace
		}
		if err := copyAttachment(ctx, &o.added[i], o.caps.Extras); err != nil {
			return fmt.Errorf("%s: %w", o.job.Attach[i], err)
		}
	}
	return nil
}

// CopyExtras copies attachments and metadata records of a recording, whatever is selected of its
// messages, each to the first of several places that takes it, and returns what is lost of them. If
// there is a place, only what it refuses is lost, or what damage makes unreadable.
func CopyExtras(ctx context.Context, r storage.Reader, to ...storage.ExtraWriter) (lost []Loss, err error) {
	lost, _, err = copyExtras(ctx, r, to...)
	return lost, err
}

// copyExtras is CopyExtras; refused are the ones that the first place did not take.
func copyExtras(ctx context.Context, r storage.Reader, to ...storage.ExtraWriter) (lost []Loss, refused []Extra,
	err error) {
	from := storage.ReaderCapabilities(r).Extras
	if from == nil {
		return nil, nil, nil
	}
	x, err := from.Extras()
	if err != nil {
		return nil, nil, err
	}
	files := extraLoss{Loss: Loss{Code: "attachment"}, what: "attachments"}
	tables := extraLoss{Loss: Loss{Code: "metadata-record"}, what: "metadata records"}
	for i := range x.Attachments {
		a := &x.Attachments[i]
		if err := files.take(a.Name, a.Size, to, func(w storage.ExtraWriter) error {
			return copyAttachment(ctx, a,
				w)
		}); err != nil {
			return nil, nil, err
		}
	}
	for i := range x.Metadata {
		m := &x.Metadata[i]
		if err := tables.take(m.Name, 0, to, func(w storage.ExtraWriter) error { return copyMetadata(m, w) }); err != nil {
			return nil, nil, err
		}
	}
	for _, l := range []*extraLoss{&files, &tables} {
		for _, name := range l.refused {
			refused = append(refused, Extra{l == &tables, name})
		}
		if l.Count > 0 {
			lost = append(lost, l.loss())
		}
	}
	return lost, refused, nil
}

// copyAttachment opens an attachment before the sink does: one that cannot be opened
// costs no other.
func copyAttachment(ctx context.Context, a *storage.Attachment, to storage.ExtraWriter) error {
	content, err := a.Open()
	if err != nil {
		return err
	}
	attachment := *a
	attachment.Open = func() (io.ReadCloser, error) { return extras.Ending(ctx, content), nil }
	if err := to.WriteAttachment(&attachment); err != nil {
		_ = content.Close() // the sink may not have come to it
		return err
	}
	return nil
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
	what    string
	names   []string
	refused []string // all names that the first place did not take
	first   error    // why the first is not copied; nil: the format has no place for any
}

// take copies one to the first of the places that takes it, or counts it.
func (l *extraLoss) take(name string, size int64, to []storage.ExtraWriter,
	write func(storage.ExtraWriter) error) error {
	var first error
	for k, w := range to {
		err := write(w)
		if !refusal(err) && !errors.Is(err, storage.ErrTruncated) {
			return err
		}
		if first = cmp.Or(first, err); k == 0 {
			l.refused = append(l.refused, name)
		}
	}
	if l.first == nil {
		l.first = first
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
