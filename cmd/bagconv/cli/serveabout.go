package cli

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/live/serve"
	"github.com/bagconv/bagconv/storage"
)

// about describes a recording for serve, as info does: if it is small, all messages are read, and else counted by
// the index.
func (e *env) about(ctx context.Context, fsys storage.FS, rec serve.Recording) (a *serve.About, err error) {
	r, err := e.openServed(ctx, fsys, rec, scanLimit)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	info := r.Info
	var scan *recording.Totals
	switch {
	case info.Locked:
	case info.Size <= scanLimit:
		if scan, err = r.Totals(ctx, recording.Query{Threads: e.set.job.Threads}); err != nil {
			return nil, err
		}
	default:
		scan = e.countServed(ctx, fsys, rec)
	}
	info.Damage = r.Reader.Damage()
	in := recording.Describe(info, scan)
	a = &serve.About{SchemaVersion: schemaVersion, Name: rec.Name, Format: in.Format, Messages: in.Messages,
		Topics: []serve.Topic{}, Damage: []string{}}
	if in.StartNS != nil {
		a.StartNS, a.EndNS, a.Start, a.End, a.Duration = nsText(*in.StartNS), nsText(*in.EndNS), *in.Start, *in.End,
			span{*in.StartNS, *in.EndNS}.text()
	}
	if in.Timeline != nil {
		a.TimelineNS, a.StepNS, a.Step = nsText(in.Timeline.Start), nsText(in.Timeline.Step), durationText(in.Timeline.Step)
	}
	for i, t := range in.Topics {
		topic := serve.Topic{Name: t.Name, Type: t.Type, Encoding: t.Encoding, Messages: t.Count, Bins: []int64{}}
		if in.Timeline != nil {
			topic.Bins = in.Timeline.Counts[i]
		}
		a.Topics = append(a.Topics, topic)
	}
	for _, w := range in.Warnings {
		if w.Damage {
			a.Damage = append(a.Damage, w.Message)
		}
	}
	return a, nil
}

// countTime is how long a large recording is counted.
const countTime = 5 * time.Second

// countServed counts the messages of a large recording by its index; nil if that cannot be done in time.
func (e *env) countServed(ctx context.Context, fsys storage.FS, rec serve.Recording) *recording.Totals {
	ctx, cancel := context.WithTimeout(ctx, countTime)
	defer cancel()
	r, err := e.openServed(ctx, fsys, rec, 0)
	if err != nil {
		return nil
	}
	defer r.Close() // it was only read
	scan, err := r.Totals(ctx, recording.Query{Pick: &recording.Pick{NoData: true}})
	if err != nil {
		return nil
	}
	return scan
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

// topicsOf lists the topics of a recording with their types, as its index has them.
func (e *env) topicsOf(ctx context.Context, fsys storage.FS, rec serve.Recording) ([]string, error) {
	r, err := e.openServed(ctx, fsys, rec, 1)
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
	defer answer.Body.Close()
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

func nsText(ns int64) string { return strconv.FormatInt(ns, 10) }
