package cli

import (
	"context"
	"errors"
	"io/fs"
	"strconv"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/guard"
	"github.com/bagconv/bagconv/internal/iox"
)

// noPlace returns the error of --attach if the output has no place for attachments.
func noPlace(job *convert.Job) error {
	e := env{formats: job.Formats}
	hint := "omit --attach"
	if job.SinkFormat.Holds.Extras { // but not this output of it
		return flags.Usage(hint+", or name a folder", "%s: one table has no place for attachments", phrase.Clean(job.Sink))
	}
	var names []string
	for _, f := range e.withExtras() {
		names = append(names, f.Name)
	}
	if len(names) > 0 {
		hint += ", or add --to " + phrase.OrList(names)
	}
	return flags.Usage(hint, "%s: a %s has no place for attachments", phrase.Clean(job.Sink), job.SinkFormat.Name)
}

// aboutFolder reports whether an error is about something in the folder of --extras.
func (e *env) aboutFolder(err error, dir string) bool {
	var r *guard.Refusal
	var pe *fs.PathError
	switch {
	case errors.As(err, &r):
		return e.within(r.Path, dir)
	case errors.As(err, &pe):
		return e.within(iox.FinalPath(pe.Path), dir)
	}
	return false
}

// extraLines writes attachments and metadata records in columns, each with a heading.
func extraLines(attachments []recording.AttachmentSummary, records []recording.RecordSummary,
	width int) (lines []string) {
	rows, last := [][]string{{"attachment", "size", "recorded", "created"}}, []string{"media type"}
	for _, a := range attachments {
		created := "-"
		if a.CreateTime != nil {
			created = *a.CreateTime
		}
		rows, last = append(rows, []string{phrase.Clean(a.Name), sizeText(a.Size), a.LogTime, created}),
			append(last, phrase.Clean(a.MediaType))
	}
	if len(attachments) > 0 {
		lines = append(lines, fitted(rows, last, width)...)
	}
	rows, last = [][]string{{"metadata record"}}, []string{"values"}
	for _, m := range records {
		rows, last = append(rows, []string{phrase.Clean(m.Name)}), append(last, strconv.Itoa(len(m.Values)))
	}
	if len(records) > 0 {
		lines = append(lines, fitted(rows, last, width)...)
	}
	return lines
}

// explainExtras adds the next step to an error about the folder of --extract or --extras.
func explainExtras(dir string, err error) error {
	var r *guard.Refusal
	var pe *fs.PathError
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &r):
		return &failure{path: r.Path, what: phrase.Clean(r.What), hint: phrase.Clean(r.Hint), err: err}
	case errors.Is(err, fs.ErrExist) && errors.As(err, &pe):
		return &failure{path: pe.Path, what: "it exists already",
			hint: "choose another folder, or use --force to replace files", err: err}
	case errors.Is(err, fs.ErrNotExist) && tempFolder(err) == "":
		return &failure{path: dir, what: "its parent folder does not exist", hint: "create that first", err: err}
	}
	return err
}
