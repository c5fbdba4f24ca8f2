package cli

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/recording"
	"github.com/bagconv/bagconv/convert/selection"
	"github.com/bagconv/bagconv/live"
	"github.com/bagconv/bagconv/live/access"
	"github.com/bagconv/bagconv/live/foxglove"
)

// playViewers returns a player that viewers connect to, at the address of the line.
func (e *env) playViewers(c *cli.Context, path string, clock *live.Clock) (player, error) {
	l := &e.set.live
	place := strings.TrimSuffix(strings.TrimPrefix(l.address, "ws://"), "/")
	host, port, err := net.SplitHostPort(place)
	if err != nil || strings.Contains(port, "/") {
		return nil, usage("use ws://:8765", "--to %s is no address with a port", clean(l.address))
	}
	r, err := e.glance(c.Context, path)
	if err != nil {
		return nil, err
	}
	o, last, err := viewerOptions(r, path, e.set.job.Select)
	if err != nil {
		return nil, err
	}
	o.Clock, o.Name, o.Drop, o.Wait, o.WaitAny, o.Delay, o.Access = clock, filepath.Base(path), l.drop, l.wait, true, time.Duration(l.delay), access.Rules{Origins: e.set.origins}
	switch {
	case host == "":
		place = net.JoinHostPort("127.0.0.1", port)
	case net.ParseIP(host) == nil:
		o.Access.Hosts = []string{strings.ToLower(host)}
	}
	listener, err := (&net.ListenConfig{}).Listen(c.Context, "tcp", place)
	if err != nil {
		return nil, &failure{path: "--to " + l.address, what: "cannot listen there: " + plainError(err).Error(), hint: "choose another port, or 0 for any", err: err}
	}
	p := foxglove.NewPlayer(o)
	p.Serve(listener)
	if !e.set.quiet {
		e.say("viewers connect to ws://%s; stop with Ctrl-C", listener.Addr())
		e.noteExposed(listener)
	}
	l.viewers, l.last = p, last
	return p, nil
}

// viewerOptions returns what of a recording viewers can seek in, and the last log time that is selected. It
// closes r.
func viewerOptions(r *recording.Source, path string, selected selection.Selection) (o foxglove.PlayOptions, last int64, err error) {
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

// convertAll runs conversions: one that viewers watch again and again, from where they seek.
func (e *env) convertAll(ctx context.Context, jobs []*convert.Job) ([]*convert.Report, error) {
	if p := e.set.live.viewers; p != nil {
		return playOnce(ctx, p, *jobs[0], e.set.live.last)
	}
	return convert.RunAll(ctx, jobs)
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
			return reports, nil // after the last message there is none
		default:
			return reports, err
		}
	}
}
