package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path"
	"slices"
	"time"

	"github.com/bagconv/bagconv/convert/check"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/live/serve"
	"github.com/bagconv/bagconv/internal/report"
	"github.com/bagconv/bagconv/internal/report/page"
	"github.com/bagconv/bagconv/storage"
)

// wholeAtOnce is up to how many bytes a recording is read as a whole for its report, although nobody asked for that.
const wholeAtOnce = 32e6

// servedReport makes the report of a recording that is served, as a page or as JSON.
func (e *env) servedReport(ctx context.Context, fsys storage.FS, rec serve.Recording, o serve.ReportRequest) (
	text []byte, err error) {
	r, err := e.openServed(ctx, fsys, rec, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	quick := !o.Whole && r.Info.Size > wholeAtOnce
	got, _, err := report.Gather(ctx, r.Reader, report.Options{Name: path.Base(rec.Name), Path: rec.Name, Quick: quick,
		Check: check.Options{Threads: e.set.job.Threads, Definitions: e.set.job.Definitions, Distro: e.set.job.Distro}})
	if err != nil {
		return nil, err
	}
	version, _ := buildVersion()
	whole := &report.Report{Program: "bagconv " + version, Recordings: []report.Recording{*got}}
	if o.JSON {
		return json.Marshal(seeJSON{schemaVersion, whole})
	}
	live := &page.Live{Home: o.Home, JSON: o.JSONAt, Messages: o.Messages, Links: []page.Links{
		{Title: "Open in", Links: pageLinks(o.Entry.Open)}, {Title: "Play to", Links: pageLinks(o.Entry.Play)},
		{Title: "Download", Links: pageLinks(slices.Concat(o.Entry.Files[:min(len(o.Entry.Files), 5)], o.Entry.As))},
		{Title: "Convert to", Links: pageLinks(o.Entry.Make)}}}
	if quick {
		live.Whole = o.WholeAt
	}
	var b bytes.Buffer
	err = page.WriteLive(&b, whole, live)
	return b.Bytes(), err
}

func pageLinks(list []serve.Link) (out []page.Link) {
	for _, l := range list {
		out = append(out, page.Link{Text: path.Base(l.Text), URL: l.URL})
	}
	return out
}

// whole reports for serve whether a recording has an index, and can be read by everybody.
func (e *env) whole(ctx context.Context, fsys storage.FS, rec serve.Recording) bool {
	r, err := e.openServed(ctx, fsys, rec, 1)
	if err != nil {
		return false
	}
	defer r.Close() // it was only read
	return !r.Info.Encrypted && !slices.ContainsFunc(r.Reader.Damage().Warnings,
		func(w storage.Warning) bool { return w.Damage })
}

// topicsOf lists the topics of a recording with their types, as its index has them. A small one
// without an index is read.
func (e *env) topicsOf(ctx context.Context, fsys storage.FS, rec serve.Recording) ([]string, error) {
	r, err := e.openServed(ctx, fsys, rec, wholeAtOnce)
	if err != nil {
		return nil, err
	}
	defer r.Close() // it was only read
	var lines []string
	for i := range r.Info.Topics {
		lines = append(lines, r.Info.Topics[i].Name+" "+r.Info.Topics[i].Type)
	}
	slices.Sort(lines)
	return slices.Compact(lines), nil
}

// fetchTime is how long a viewer of this machine has to answer.
const fetchTime = 300 * time.Millisecond

// fetchLocal reads the beginning of a page of this machine.
func fetchLocal(ctx context.Context, address string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	return string(text), err
}

// openServed opens a recording that is served, of more than infoOnly bytes for its Info alone.
func (e *env) openServed(ctx context.Context, fsys storage.FS, rec serve.Recording, infoOnly int64) (*recording.Source,
	error) {
	ref := e.refTo(rec.Path, rec.Format)
	ref.Read.FS, ref.Read.InfoOnlyAbove = fsys, infoOnly
	return recording.Open(ctx, ref)
}
