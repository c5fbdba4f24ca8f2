package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/internal/live/access"
	"github.com/bagconv/bagconv/internal/live/serve"
	"github.com/bagconv/bagconv/live"
	"github.com/bagconv/bagconv/live/foxglove"
	"github.com/bagconv/bagconv/storage"
)

// What one viewer of serve takes: bytes of a conversion, and of messages that wait. A viewer
// subscribes to one topic after the other: the first message waits for a moment.
const (
	showMemory  = 32 << 20
	showWaiting = 4 << 20
	showDelay   = 200 * time.Millisecond
)

// playServed returns what plays recordings to viewers of serve, each with a clock of its own, with the
// selection and the changes of a job.
func (e *env) playServed(played convert.Job, rules access.Rules) func(http.ResponseWriter, *http.Request,
	serve.Recording) (int64, error) {
	if played.Encoding == "" {
		played.Encoding = convert.EncodingKeep
	}
	played.Write, played.MaxMemory, played.Sink = storage.WriteOptions{}, showMemory, "viewer"
	return func(w http.ResponseWriter, r *http.Request, rec serve.Recording) (int64, error) {
		if !foxglove.Accepts(w, r, &rules) {
			return 0, nil
		}
		job := played
		job.Source, job.SourceFormat = rec.Path, rec.Format
		ref := job.Ref()
		ref.Read.InfoOnlyAbove = scanLimit
		reader, err := recording.Open(r.Context(), ref)
		if err != nil {
			return 0, refuseViewer(w, err)
		}
		o, last, err := viewerOptions(reader, rec.Name, job.Select)
		if err != nil {
			return 0, refuseViewer(w, err)
		}
		o.Clock, o.Name, o.Access, o.Drop = live.NewClock(1, false), path.Base(rec.Name), rules, e.set.live.drop
		o.WaitAny, o.Delay, o.Waiting = true, showDelay, showWaiting
		return show(w, r, foxglove.NewPlayer(o), job, last)
	}
}

// refuseViewer answers that a recording cannot be played, which the log explains.
func refuseViewer(w http.ResponseWriter, err error) error {
	http.Error(w, "The recording cannot be played; the log of the server has the cause.", http.StatusInternalServerError)
	return err
}

// show plays a recording to a viewer until that leaves.
func show(w http.ResponseWriter, r *http.Request, p *foxglove.Player, job convert.Job, last int64) (int64, error) {
	ctx, cancel := context.WithCancel(r.Context())
	ended := make(chan error, 1)
	go func() {
		err := showAll(ctx, p, job, last)
		ended <- errors.Join(err, p.Close())
	}()
	p.ServeHTTP(w, r)
	cancel()
	err := <-ended
	lost, dropped := p.Problems()
	for _, text := range lost {
		err = errors.Join(err, errors.New(text))
	}
	if dropped > 0 {
		err = errors.Join(err, fmt.Errorf("%s dropped, because the viewer did not keep up", phrase.Count(dropped, "message")))
	}
	return p.Sent(), err
}

// showAll plays a recording until ctx ends, or an error, which viewers are told.
func showAll(ctx context.Context, p *foxglove.Player, job convert.Job, last int64) error {
	job.SinkFormat = p.Format()
	for again := true; again; again = p.AtEnd(ctx) {
		reports, err := playOnce(ctx, p, job, last)
		if ctx.Err() != nil {
			return nil // the viewer has left
		}
		if err != nil {
			p.Tell("The recording cannot be read any further; the log of the server has the cause.", true)
			return err
		}
		for _, r := range reports {
			lost, damaged := missingLines("", r)
			if lines := append(lost, damaged...); len(lines) > 0 {
				p.Tell("Not everything could be played: "+strings.Join(lines, "; "), false)
			}
		}
	}
	return nil
}

// viewerOptions returns what of a recording viewers can seek in, and the last log time that is selected. It
// closes r.
func viewerOptions(r *recording.Source, path string, selected selection.Selection) (o foxglove.PlayOptions, last int64,
	err error) {
	info := r.Info
	if err = r.Close(); err != nil {
		return o, 0, err
	}
	choice, err := selected.Resolve(info)
	if err != nil {
		return o, 0, explainSelection(path, err)
	}
	o.Start, o.End = max(info.Start, choice.First), min(info.End, choice.Last)
	return o, choice.Last, nil
}

// playOnce plays a recording to its end, again and again from where viewers seek. last is the last log time
// that is selected.
func playOnce(ctx context.Context, p *foxglove.Player, played convert.Job, last int64) ([]*convert.Report, error) {
	for {
		run, from := p.Begin(ctx)
		job := played
		if from != nil {
			if job.Select.Timed() {
				job.Select.Duration, job.Select.End = 0, selection.At(selection.Shift(last, 1))
			}
			job.Select.Start = selection.At(*from)
		}
		reports, err := convert.RunAll(run, []*convert.Job{&job})
		switch {
		case ctx.Err() == nil && p.Sought():
		case from != nil && errors.Is(err, convert.ErrNothing):
			return reports, nil // the time is after the last message
		default:
			return reports, err
		}
	}
}
