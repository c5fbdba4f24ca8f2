package convert

import (
	"context"
	"errors"
	"slices"

	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/storage"
)

// A Cut describes where to split a recording: one of its fields is set.
type Cut struct {
	ReadSize int64            // of the source that a part reads, in bytes: between its blocks
	Size     int64            // before a part has more bytes of message data
	Duration int64            // ns
	At       []selection.Time // begin new parts at these times
}

// maxParts is into how many parts a recording is split at most.
const maxParts = recording.MaxParts

// ErrParts is the error of a cut that makes more of them.
var ErrParts = errors.New("this would make more than 10,000 parts")

// Windows returns the times of the parts into which a cut splits what the job
// takes of its source, in order and without gaps; at most maxParts, else the
// error is ErrParts. By size it reads all messages once; messages of one time stay
// together. By ReadSize it does that only if no index has the times of blocks. Times of cut.At
// before or after all of it split nothing: outside has their indices.
func Windows(ctx context.Context, job *Job, cut Cut) (windows []selection.Window, outside []int, err error) {
	src, err := recording.Open(ctx, job.Ref())
	if err != nil {
		return nil, nil, err
	}
	info := src.Info
	if err := src.Close(); err != nil {
		return nil, nil, err
	}
	choice, err := job.Select.Resolve(info)
	if err != nil {
		return nil, nil, err
	}
	first, last := max(choice.First, info.Start), min(choice.Last, info.End)
	var starts []int64 // of the parts after the first
	switch {
	case cut.ReadSize > 0:
		if starts, err = startsByBlocks(ctx, job, cut.ReadSize, first, last); err != nil {
			return nil, nil, err
		}
	case cut.Size > 0:
		if starts, err = startsBySize(ctx, job, cut.Size); err != nil {
			return nil, nil, err
		}
	case cut.Duration > 0:
		if last > first && (uint64(last)-uint64(first))/uint64(cut.Duration) >= maxParts {
			return nil, nil, ErrParts
		}
		for at := first; last-at >= cut.Duration; {
			at += cut.Duration
			starts = append(starts, at)
		}
	default:
		for i, t := range cut.At {
			at, err := t.In(info)
			if err != nil {
				return nil, nil, err
			}
			if at > first && at <= last {
				starts = append(starts, at)
			} else if at != first {
				outside = append(outside, i)
			}
		}
		slices.Sort(starts)
		if starts = slices.Compact(starts); len(starts) >= maxParts {
			return nil, nil, ErrParts
		}
	}
	windows = make([]selection.Window, len(starts)+1)
	windows[0].First, windows[len(starts)].Last = choice.First, choice.Last
	for i, at := range starts {
		windows[i].Last, windows[i+1].First = at-1, at
	}
	return windows, outside, nil
}

// startsBySize finds the times at which another part begins.
func startsBySize(ctx context.Context, job *Job, size int64) (starts []int64, err error) {
	var n, part int64 // bytes of the part, and of its messages of the last time
	last, some := int64(0), false
	query := recording.Query{Select: job.Select, Threads: job.Threads}
	query.Edit.Latch = selection.NoLatch
	plan := func(info *storage.Info, _ []bool) ([]recording.Topic, error) {
		starts, n, part, some = nil, 0, 0, false // of an attempt before
		return make([]recording.Topic, len(info.Topics)), nil
	}
	write := func(m *storage.Message) error {
		if !some || m.LogTime != last {
			part = 0
		}
		n += int64(len(m.Data))
		part += int64(len(m.Data))
		if n > size && n > part { // what came at this time begins another
			if starts = append(starts, m.LogTime); len(starts) >= maxParts {
				return ErrParts
			}
			n = part
		}
		last, some = m.LogTime, true
		return nil
	}
	_, err = recording.Read(ctx, job.Ref(), query, recording.Each{Topics: plan, Write: write})
	return starts, err
}
