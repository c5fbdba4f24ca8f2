package cli

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bagconv/bagconv/convert/engine"
	"github.com/bagconv/bagconv/live/serve"
	"github.com/bagconv/bagconv/storage"
)

// about describes a recording for serve, as info does: if it is small, all messages are read, and else counted by
// the index.
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
	switch {
	case info.Locked:
	case info.Size <= scanLimit:
		if scan, err = engine.Scan(ctx, r, e.set.job.Threads, nil); err != nil {
			return nil, err
		}
	default:
		scan = e.countServed(ctx, fsys, rec)
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

// countTime is how long a large recording is counted.
const countTime = 5 * time.Second

// countServed counts the messages of a large recording by its index; nil if that cannot be done in time.
func (e *env) countServed(ctx context.Context, fsys storage.FS, rec serve.Recording) *engine.ScanResult {
	ctx, cancel := context.WithTimeout(ctx, countTime)
	defer cancel()
	r, err := rec.Format.Open(ctx, rec.Path, storage.ReadOptions{FS: fsys, Key: e.set.job.Read.Key})
	if err != nil {
		return nil
	}
	defer r.Close() // it was only read
	scan, err := engine.ScanIndex(ctx, r)
	if err != nil {
		return nil
	}
	return scan
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
