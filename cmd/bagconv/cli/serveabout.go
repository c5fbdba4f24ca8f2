package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/bagconv/bagconv/convert/engine"
	"github.com/bagconv/bagconv/live/serve"
	"github.com/bagconv/bagconv/storage"
)

// about describes a recording for serve, as info does: if it is small, all messages are read.
func (e *env) about(ctx context.Context, fsys storage.FS, rec serve.Recording) (a *serve.About, err error) {
	r, err := rec.Format.Open(ctx, rec.Path, storage.ReadOptions{FS: fsys, InfoOnlyAbove: scanLimit, Key: e.set.job.Read.Key})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	info, err := r.Info()
	if err != nil {
		return nil, err
	}
	var scan *engine.ScanResult
	if !info.Locked && info.Size <= scanLimit {
		if scan, err = engine.Scan(ctx, r, e.set.job.Threads, nil); err != nil {
			return nil, err
		}
	}
	info.Damage = r.Damage()
	in := infoOf(info, scan)
	a = &serve.About{SchemaVersion: schemaVersion, Name: rec.Name, Format: in.Format, Messages: in.Messages, Topics: []serve.Topic{}, Damage: []string{}}
	if in.StartNS != nil {
		a.StartNS, a.EndNS, a.Start, a.End, a.Duration = *in.StartNS, *in.EndNS, *in.Start, *in.End, durationText(nsOf(*in.DurationNS))
	}
	if in.Timeline != nil {
		a.TimelineNS, a.StepNS, a.Step = in.Timeline.StartNS, in.Timeline.StepNS, durationText(in.Timeline.step)
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

// whole reports for serve whether a recording has an index, and can be read by everybody.
func (e *env) whole(ctx context.Context, fsys storage.FS, rec serve.Recording) bool {
	r, err := rec.Format.Open(ctx, rec.Path, storage.ReadOptions{FS: fsys, InfoOnlyAbove: 1, Key: e.set.job.Read.Key})
	if err != nil {
		return false
	}
	defer r.Close() // it was only read
	info, err := r.Info()
	return err == nil && !info.Encrypted && !slices.ContainsFunc(r.Damage().Warnings, func(w storage.Warning) bool { return w.Damage })
}
