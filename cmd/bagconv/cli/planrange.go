package cli

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/convert/batch"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/internal/convert/tasks"
	"github.com/bagconv/bagconv/storage"
)

// notInParts are flags with which a part depends on the messages before it, or is not one output.
var notInParts = []string{"throttle", "every", "restamp", "latch", "segment-size", "segment-duration"}

// rangeSize returns the size of --range-size, 0 if it is not set.
func (b *batchRun) rangeSize() (int64, error) {
	if b.set.work.rangeSize == "" {
		return 0, nil
	}
	size, err := storage.ParseSize(b.set.work.rangeSize)
	if err != nil || size <= 0 {
		return 0, flags.Usage("", "--range-size needs a size such as 10G, not %q", b.set.work.rangeSize)
	}
	for _, name := range notInParts {
		if b.command.IsSet(name) {
			return 0, flags.Usage("omit one of them", "--%s is not possible with --range-size", name)
		}
	}
	if b.job.Order == convert.OrderFile {
		return 0, flags.Usage("omit one of them", "--order file is not possible with --range-size, which cuts by time")
	}
	return size, nil
}

// cutTask returns a task for each range of a recording, or the task itself if there is but one.
func (b *batchRun) cutTask(t *tasks.Task, in *batch.Input, size int64) ([]*tasks.Task, error) {
	job := *b.job
	job.Source, job.SourceFormat, job.Sink = in.Path, in.Format, t.Output
	ctx := b.ctx
	windows, _, err := convert.Windows(ctx, &job, convert.Cut{ReadSize: size})
	if errors.Is(err, convert.ErrParts) {
		return nil, &failure{path: in.Path, what: err.Error(), hint: "use a larger --range-size", err: err}
	}
	if storage.IsDamage(err) || errors.Is(err, selection.ErrNoTopics) || err == nil && len(windows) == 1 {
		return []*tasks.Task{t}, nil // work reports the damage, or that the topics are missing
	}
	if err != nil {
		return nil, explainSelection(in.Path, err)
	}
	before, err := convert.CountBefore(ctx, &job, windows)
	if err != nil {
		return nil, explainSelection(in.Path, err)
	}
	var list []*tasks.Task
	for i, w := range windows {
		part := *t
		part.Range = &tasks.Range{Part: i, Parts: len(windows), First: bound(w.First), Last: bound(w.Last), Joined: t.Output}
		if before != nil {
			part.Range.Before = before[i]
		}
		part.Output = partOutput(job.SinkFormat, part.Range)
		part.SetID()
		list = append(list, &part)
	}
	return list, nil
}

// bound returns the bound of a window as a task has it.
func bound(t int64) string {
	if t == math.MinInt64 || t == math.MaxInt64 {
		return ""
	}
	return strconv.FormatInt(t, 10)
}

// partOutput returns where a part is written.
func partOutput(sink *storage.Format, r *tasks.Range) string {
	ext := filepath.Ext(r.Joined)
	switch {
	case sink.Shards.Join != nil:
		return filepath.Join(r.Folder(), fmt.Sprintf("%04d", r.Part), filepath.Base(r.Joined))
	case sink.Shards.Name != nil:
		return sink.Shards.Name(r.Joined, r.Part)
	}
	return fmt.Sprintf("%s_%03d%s", strings.TrimSuffix(r.Joined, ext), r.Part, ext)
}

// narrow makes a job the job of a part. Nothing is repeated at the cut; the first part has what is
// there once in a recording.
func (b *batchRun) narrow(job *convert.Job, r *tasks.Range) {
	w := selection.Window{First: math.MinInt64, Last: math.MaxInt64}
	if n, err := strconv.ParseInt(r.First, 10, 64); err == nil {
		w.First = n
	}
	if n, err := strconv.ParseInt(r.Last, 10, 64); err == nil {
		w.Last = n
	}
	job.Select, job.Before = w.Of(job.Select), r.Before
	if job.Extras = b.extrasOf(r.Joined); r.Part > 0 {
		job.Edit.Latch, job.SkipExtras, job.Extras, job.Attach = selection.NoLatch, true, "", nil
	}
}

// A halfJoined is the error of a part whose recording is being joined.
type halfJoined struct{ path string }

func (e *halfJoined) Error() string {
	return phrase.Clean(e.path) +
		": its parts are being joined, or bagconv collect was killed meanwhile; run bagconv collect again"
}

// Transient is for tasks.Transient.
func (*halfJoined) Transient() bool { return true }
