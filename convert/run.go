package convert

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/storage"
)

// Run converts one recording. The report is complete as far as the run came,
// also when it fails. When Run returns an error nothing stands at the sink's
// path that was not there before.
//
// Errors of the source and the sink wrap the sentinels of package storage; an existing output is
// fs.ErrExist unless Write.Overwrite is set; a cancelled context returns its cause. What
// CheckOutputs refuses, Run refuses too, and what turns out on the way not to be a run's business:
// see Job.Formats.
func Run(ctx context.Context, job Job) (*Report, error) {
	reports, err := RunAll(ctx, []*Job{&job})
	var failed *JobError
	if errors.As(err, &failed) {
		return reports[0], failed.Err
	}
	return reports[0], err
}

// maxOutputs is how many outputs are written at once. If there are more, the source is
// read again for each so many.
const maxOutputs = 64

// A JobError is the error of one of the jobs of RunAll: the first, if it is about what they
// have in common.
type JobError struct {
	Job int // its index
	Err error
}

func (e *JobError) Error() string { return e.Err.Error() }

// Unwrap returns the error of Run for that job.
func (e *JobError) Unwrap() error { return e.Err }

// RunAll converts one recording into several outputs, and reads it once. The jobs have the source
// and how it is read, Order, Edit.Restamp, MaxMemory, Threads and Progress in common: the values of
// the first job count. Reports have the indices of the jobs.
//
// A job that selects nothing has no output, and Sink.Messages is 0, unless all jobs select nothing:
// then the error is ErrNothing. Errors are the errors of Run as a *JobError; all outputs of jobs
// with a Stage are thrown away with that.
func RunAll(ctx context.Context, jobs []*Job) ([]*Report, error) {
	reports := make([]*Report, len(jobs))
	for i, job := range jobs {
		reports[i] = NewReport(End{Path: job.Source, Format: job.SourceFormat.Name},
			End{Path: job.Sink, Format: job.SinkFormat.Name})
	}
	some, began := false, time.Now()
	for first := 0; first < len(jobs); first += maxOutputs {
		last := min(first+maxOutputs, len(jobs))
		failed, err := run(ctx, jobs[first:last], reports[first:last])
		for _, r := range reports[first:last] {
			r.end(time.Since(began))
		}
		if err != nil && !errors.Is(err, ErrNothing) {
			return reports, &JobError{first + failed, err}
		}
		some = some || err == nil
	}
	forgetUsed(reports)
	if !some {
		return reports, &JobError{0, ErrNothing}
	}
	return reports, nil
}

// run converts a recording into some outputs. failed is the index of the job that the
// error is about; ErrNothing is about all of them.
func run(ctx context.Context, jobs []*Job, reports []*Report) (failed int, err error) {
	jobs, failed, err = guarded(jobs)
	if err != nil {
		return failed, err
	}
	var src *recording.Source
	var outputs []*output
	var planned *storage.Info // of outputs
	err = recording.Use(ctx, []recording.Ref{jobs[0].Ref()}, func(sources []*recording.Source) (err error) {
		if src = sources[0]; planned != src.Info {
			if tap := jobs[0].Tap; tap != nil {
				if err := tap.Begin(src); err != nil {
					return err
				}
			}
			if outputs, failed, err = plan(ctx, src, jobs, reports); err != nil {
				return err
			}
			planned = src.Info
		}
		failed, err = write(ctx, src, outputs)
		return err
	})
	for i, o := range outputs {
		o.report(src, reports[i])
		if err == nil && o.job.Stage != nil && o.files != nil {
			o.job.Stage.add(o.job, o.files)
		}
	}
	return failed, err
}

// plan decides what the outputs of jobs are. failed is the index of the one that the error is about.
func plan(ctx context.Context, src *recording.Source, jobs []*Job, reports []*Report) (outputs []*output, failed int,
	err error) {
	for i, job := range jobs {
		r := reports[i]
		r.Source.Version, r.Source.Size, r.Source.Files = src.Info.Version, src.Info.Size, src.Info.Files
		r.Warnings = append(r.Warnings[:0], src.Info.Warnings...)
		o, err := newOutput(ctx, job, src)
		if err != nil {
			return nil, i, err
		}
		r.Selection = o.describe(src.Info)
		outputs = append(outputs, o)
	}
	return outputs, 0, nil
}

// write plans how to read the source, and writes the outputs from start to end. failed is
// the index of the one that the error is about.
func write(ctx context.Context, src *recording.Source, outputs []*output) (failed int, err error) {
	job := outputs[0].job
	p := pipelineOf(src, outputs...)
	p.Through = job.Through
	p.Strict, p.Progress, p.Continues = job.Read.Strict, job.Progress, src.Resumes()
	p.TempDir = filepath.Dir(filepath.Clean(job.Sink))
	if job.SinkFormat.Layout.Live {
		p.TempDir = os.TempDir()
	}
	if job.DryRun {
		p.Order, p.Dedupe, p.Sample = OrderFile, false, sampleBytes
	}
	if job.Tap != nil {
		p.Trace, p.TempDir = job.Tap.Trace, os.TempDir()
	}
	defer p.Close()
	if err := p.Prepare(ctx); err != nil {
		return 0, err
	}
	defer func() {
		// With the outputs in place an error would contradict them.
		for _, o := range outputs {
			if e := o.close(); err != nil {
				err = errors.Join(err, e)
			}
		}
	}()
	for i, o := range outputs {
		err := context.Cause(ctx)
		if err == nil {
			err = o.open(ctx, src, p.WriterMemory())
		}
		if err != nil {
			return i, err
		}
	}
	if len(outputs) == 1 {
		p.Same = outputs[0].same()
		if p.Prior, err = outputs[0].prior(ctx, src); err != nil {
			return 0, err
		}
	}
	if failed, err := move(ctx, p, outputs); err != nil {
		return failed, err
	}
	for i, o := range outputs {
		if err := o.check(src, o.Share); err != nil {
			return i, err
		}
	}
	if !slices.ContainsFunc(outputs, func(o *output) bool { return o.writer != nil }) {
		return 0, ErrNothing
	}
	for i, o := range outputs {
		if err := o.finish(); err != nil {
			return i, err
		}
	}
	for i, o := range outputs {
		if err := o.commit(); err != nil {
			return i, err
		}
	}
	return 0, nil
}

// move moves all messages, of a source that goes on in its rounds. failed is the index of the
// output that the error is about.
func move(ctx context.Context, p *recording.Pipeline, outputs []*output) (failed int, err error) {
	for {
		err := p.Run(ctx)
		for _, o := range outputs {
			o.count()
		}
		if err != nil {
			return max(slices.Index(p.Sinks, p.Failed), 0), err
		}
		if !p.Continues {
			return 0, nil
		}
		if p.Continues, err = p.Source.Resume(); err != nil {
			return 0, err
		}
		for i, o := range outputs {
			if err := o.extend(p.Source); err != nil {
				return i, err
			}
		}
	}
}

// ErrLossy is the error of a strict run that could not carry everything.
var ErrLossy = errors.New("not everything can be converted, and strict mode allows no loss")

// A LossError is why a strict run was refused: the losses and the damage that a run
// without strict would have reported. It wraps ErrLossy.
type LossError struct {
	Losses []Loss            // none by design
	Damage []storage.Warning // of the source
}

func (e *LossError) Error() string { return ErrLossy.Error() }

// Unwrap returns ErrLossy.
func (e *LossError) Unwrap() error { return ErrLossy }

// refuseLoss fails a strict run before its output gets its name.
func (o *output) refuseLoss(src *recording.Source) error {
	r := Report{Warnings: src.Damage().Warnings}
	o.plan.describe(&r, src.Info, o.Counts)
	refused := &LossError{}
	for _, l := range r.Losses {
		if !l.ByDesign {
			refused.Losses = append(refused.Losses, l)
		}
	}
	for _, w := range r.Warnings {
		if w.Damage {
			refused.Damage = append(refused.Damage, w)
		}
	}
	if len(refused.Losses)+len(refused.Damage) > 0 {
		return refused
	}
	return nil
}
