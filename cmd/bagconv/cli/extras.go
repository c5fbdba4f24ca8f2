package cli

import (
	"errors"
	"io/fs"
	"strconv"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/guard"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// noPlace returns the error of --attach if the output has no place for attachments.
func noPlace(job *convert.Job) error {
	e := env{formats: job.Formats}
	hint := "omit --attach"
	var names []string
	for _, f := range e.withExtras() {
		names = append(names, f.Name)
	}
	if len(names) > 0 {
		hint += ", or add --to " + orList(names)
	}
	return usage(hint, "%s: a %s has no place for attachments", clean(job.Sink), job.SinkFormat.Name)
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

// The JSON of attachments and metadata records, in info and list.
type (
	attachmentJSON struct {
		Name         string  `json:"name"`
		MediaType    string  `json:"media_type"`
		Size         int64   `json:"size"`
		LogTimeNS    string  `json:"log_time_ns"`
		LogTime      string  `json:"log_time"`       // RFC 3339, UTC
		CreateTimeNS *string `json:"create_time_ns"` // null if it is not known, as the next
		CreateTime   *string `json:"create_time"`
		File         string  `json:"file,omitempty"` // its name in the folder of --extract
	}
	recordJSON struct {
		Name   string            `json:"name"`
		Values map[string]string `json:"values"`
	}
)

// extrasOf lists the attachments and metadata records of a recording.
func extrasOf(r storage.Reader) (attachments []attachmentJSON, records []recordJSON, err error) {
	attachments, records = []attachmentJSON{}, []recordJSON{}
	from := storage.ReaderCapabilities(r).Extras
	if from == nil {
		return attachments, records, nil
	}
	x, err := from.Extras()
	if err != nil {
		return nil, nil, err
	}
	for i := range x.Attachments {
		a := &x.Attachments[i]
		j := attachmentJSON{Name: a.Name, MediaType: a.MediaType, Size: a.Size, LogTimeNS: *nsText(a.LogTime), LogTime: timeText(a.LogTime)}
		if a.CreateTime != 0 {
			text := timeText(a.CreateTime)
			j.CreateTimeNS, j.CreateTime = nsText(a.CreateTime), &text
		}
		attachments = append(attachments, j)
	}
	for i := range x.Metadata {
		values, err := x.Metadata[i].Values()
		if err != nil {
			return nil, nil, err
		}
		records = append(records, recordJSON{x.Metadata[i].Name, values})
	}
	return attachments, records, nil
}

// extraLines writes attachments and metadata records in columns, each with a heading.
func extraLines(attachments []attachmentJSON, records []recordJSON) (lines []string) {
	rows, last := [][]string{{"attachment", "size", "recorded", "created"}}, []string{"media type"}
	for _, a := range attachments {
		created := "-"
		if a.CreateTime != nil {
			created = *a.CreateTime
		}
		rows, last = append(rows, []string{clean(a.Name), sizeText(a.Size), a.LogTime, created}), append(last, clean(a.MediaType))
	}
	if len(attachments) > 0 {
		lines = append(lines, table(rows, last)...)
	}
	rows, last = [][]string{{"metadata record"}}, []string{"values"}
	for _, m := range records {
		rows, last = append(rows, []string{clean(m.Name)}), append(last, strconv.Itoa(len(m.Values)))
	}
	if len(records) > 0 {
		lines = append(lines, table(rows, last)...)
	}
	return lines
}
