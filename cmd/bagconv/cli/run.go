package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/verify"
	"github.com/bagconv/bagconv/internal/convert/extras"
	"github.com/bagconv/bagconv/internal/convert/selection"
)

// runJob runs a conversion, shows its progress, and reports its result.
func (e *env) runJob(ctx context.Context, job *convert.Job, salvage bool) error {
	return e.runJobs(ctx, "", []*convert.Job{job}, salvage)
}

// runJobs does so for conversions whose outputs appear together: then stem is what all their names
// begin with; "" for a single one. A conversion of which nothing is selected is left out, unless
// nothing is selected of all. When a conversion fails, nothing is written, and the report tells of
// the failure.
func (e *env) runJobs(ctx context.Context, stem string, jobs []*convert.Job, salvage bool) error {
	file, err := e.beginRun(ctx, stem, jobs)
	if err != nil {
		return err
	}
	results, status, err := e.runStaged(ctx, stem, jobs, salvage)
	if err != nil {
		return err
	}
	return e.endRun(file, results, status)
}

// beginRun checks what can be checked before a run, and opens its report.
func (e *env) beginRun(ctx context.Context, stem string, jobs []*convert.Job) (*reportFile, error) {
	for _, job := range jobs {
		if err := errors.Join(checkLevel(job), e.verifyOutput(ctx, job, nil)); err != nil {
			return nil, err
		}
		if job.DryRun && (job.Verify != nil || job.Dedupe) {
			return nil, flags.Usage("omit one of them",
				"--dry-run reads a part of the input, and --verify and --dedupe need all of it")
		}
	}
	place := stem
	if place == "" {
		place = jobs[0].Sink
	}
	places := []string{place}
	if dir := jobs[0].Extras; dir != "" {
		places = append(places, extras.StagePath(dir))
	}
	if !jobs[0].DryRun {
		e.cleanUp(places, jobs...)
	}
	if err := e.checkOutputs(jobs, e.set.report); err != nil {
		return nil, err
	}
	file, err := e.openReport(ctx, e.set.report, e.report.notEnded())
	if err != nil {
		return nil, err
	}
	return file, nil
}

// endRun writes the report of a run, and returns how it ended.
func (e *env) endRun(file *reportFile, results []*resultJSON, status int) error {
	e.report.ended = true
	if err := file.write(oneOrAll(results)); err != nil {
		return written(status, err)
	}
	if e.set.json {
		if err := writeJSONs(e.Out, results); err != nil {
			return written(status, err)
		}
	}
	if status != exitOK {
		return exitStatus(status)
	}
	return nil
}

// A writtenError is the error of a report; the output is there all the same.
type writtenError struct{ err error }

func (e *writtenError) Error() string {
	return "the output is complete, but its report could not be written: " + plainError(e.err).Error()
}

func (e *writtenError) Unwrap() error { return e.err }

// written returns an error of the report of a run that ended with a status.
func written(status int, err error) error {
	if status != exitOK && status != exitLossy {
		return err
	}
	return &writtenError{err}
}

// runStaged runs the conversions, and puts their outputs in place when all of them are
// whole.
func (e *env) runStaged(ctx context.Context, stem string, jobs []*convert.Job, salvage bool) (results []*resultJSON,
	status int, err error) {
	var stage *convert.Stage
	if stem != "" && !jobs[0].DryRun {
		if stage, err = convert.NewStage(stem, jobs[0]); err != nil {
			return nil, 0, e.explainRun(ctx, jobs[0], err)
		}
		defer func() { err = errors.Join(err, stage.Abort()) }()
	}
	for _, job := range jobs {
		job.Stage = stage
	}
	results, err = e.runAll(ctx, jobs)
	if err != nil {
		e.sayResult(results[0], salvage)
		return results, results[0].ExitStatus, nil
	}
	for _, result := range results {
		status = max(status, result.ExitStatus)
	}
	if stage != nil {
		err := ctx.Err()
		if err == nil {
			err = stage.Commit()
		}
		if err != nil {
			job := jobs[0]
			result := resultOf(convert.NewReport(convert.End{Path: job.Source}, convert.End{Path: job.Sink}),
				e.explainRun(ctx, job, err))
			e.sayResult(result, salvage)
			return []*resultJSON{result}, result.ExitStatus, nil
		}
	}
	if len(results) > 1 && !e.writesEvents() {
		e.writeParts(results, e.set.quiet, e.set.verbose)
		return results, status, nil
	}
	for _, result := range results {
		e.sayResult(result, salvage)
	}
	return results, status, nil
}

// runAll runs the conversions and shows their progress. With an error there is one result,
// of the job that it is about, with the error as text.
func (e *env) runAll(ctx context.Context, jobs []*convert.Job) (results []*resultJSON, err error) {
	show := e.newProgress()
	jobs[0].Progress = show.update
	if e.LimitMemory != nil {
		e.LimitMemory(jobs[0].MaxMemory)
	}
	reports, err := convert.RunAll(ctx, jobs)
	show.stop()
	var failed *convert.JobError
	if errors.As(err, &failed) {
		result := resultOf(reports[failed.Job], e.explainRun(ctx, jobs[failed.Job], failed.Err))
		result.IO = e.meter.Counts()
		return []*resultJSON{result}, err
	}
	for i, report := range reports {
		if report.Sink.Files == nil && report.Share == 0 {
			continue // nothing of it was selected
		}
		result := resultOf(report, nil)
		result.Verified, result.IO = e.set.verified, e.meter.Counts()
		result.Part = e.set.split.about[jobs[i].Sink]
		if report := e.set.live.report; report != nil {
			result.Live = report()
		}
		results = append(results, result)
	}
	return results, nil
}

// sayResult reports on standard error what became of a run.
func (e *env) sayResult(result *resultJSON, salvage bool) {
	if e.writesEvents() {
		writeEvents(e.Err, result)
		return
	}
	e.writeSummary(result, e.set.quiet, e.set.verbose, salvage)
}

// writesEvents reports whether a run writes events as JSON to standard error.
func (e *env) writesEvents() bool {
	return e.set.progress == "json" && !e.set.quiet
}

// verifyOutput makes a conversion read its output back before it gets its name,
// when --verify asks for it. proof, if it is not nil, gets what was compared if it is equal.
func (e *env) verifyOutput(ctx context.Context, job *convert.Job, proof func(*verify.Result)) error {
	level, ok := verify.ParseLevel(e.set.verified)
	if !ok {
		return nil
	}
	edit, err := comparableEdit(job.Edit, "--verify", level)
	if err != nil {
		return err
	}
	job.Verify = func(path string, refused []convert.Extra) error {
		in, out := job.Ref(), job.Ref()
		out.Path, out.Format = path, job.SinkFormat
		res, err := verify.Run(ctx, verify.Job{
			A:      verify.Side{Ref: in, Select: job.Select, Edit: edit, Attach: job.Attach},
			B:      verify.Side{Ref: out},
			Level:  level,
			Ignore: []verify.Code{verify.Unconvertible}, Refused: refused, // the report of the conversion has them
			Target: job.Target, Frames: job.Frames, Threads: job.Threads,
		})
		if err != nil {
			return fmt.Errorf("reading the output back: %w", err)
		}
		switch {
		case res.Equal && !res.B.Damaged:
			if proof != nil {
				proof(res)
			}
			return nil
		case res.Equal:
			damage, _ := parted(res.B.Warnings)
			return &differsError{job.Sink, "it cannot be read completely: " + strings.Join(warningLines(res.B.Path, damage),
				"; ")}
		}
		const maxNamed = 3
		lines := differenceLines(res)
		if n := len(lines); n > maxNamed {
			lines = append(lines[:maxNamed], "and "+phrase.Count(int64(n-maxNamed), "other difference"))
		}
		return &differsError{job.Sink, strings.Join(lines, "; ")}
	}
	return nil
}

// comparableEdit returns the edit as verify can do it: --restamp log changes messages,
// but not how many there are and when.
func comparableEdit(edit selection.Edit, flag string, level verify.Level) (selection.Edit, error) {
	if edit.Restamp == selection.RestampLog {
		if level != verify.Counts {
			return edit, flags.Usage(flag+" counts is possible", "--restamp log changes messages, which %s %s compares", flag,
				level)
		}
		edit.Restamp = selection.RestampNone
	}
	if edit.Fields.Any() {
		if edit.Fields.Static.Any() || len(edit.Fields.Transforms) > 0 {
			return edit, flags.Usage("omit "+flag, "--static and --drop-tf change how many messages there are")
		}
		if level != verify.Counts {
			return edit, flags.Usage(flag+" counts is possible", "edits of fields and frames change messages, which %s %s "+
				"compares", flag, level)
		}
		edit.Fields = selection.Fields{}
	}
	return edit, nil
}
