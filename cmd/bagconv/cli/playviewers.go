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
	info, err := r.Info()
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	choice, err := e.set.job.Select.Resolve(info)
	if err != nil {
		return nil, explainSelection(path, err)
	}
	o := foxglove.PlayOptions{Clock: clock, Name: filepath.Base(path), Drop: l.drop, Wait: l.wait, Delay: time.Duration(l.delay), Access: access.Rules{Origins: e.set.origins},
		Start: max(info.Start, choice.First), End: min(info.End, choice.Last)}
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
	l.viewers, l.last = p, choice.Last
	return p, nil
}

// convertAll runs conversions: one that viewers watch again and again, from where they seek.
func (e *env) convertAll(ctx context.Context, jobs []*convert.Job) ([]*convert.Report, error) {
	p := e.set.live.viewers
	if p == nil {
		return convert.RunAll(ctx, jobs)
	}
	for {
		run, from := p.Begin(ctx)
		job := *jobs[0]
		if from != nil {
			if job.Select.Timed() {
				job.Select.Duration, job.Select.End = 0, selection.At(selection.Shift(e.set.live.last, 1))
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
