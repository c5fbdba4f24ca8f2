package cli

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/urfave/cli/v2"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/extras"
)

// runJob runs a conversion, shows its progress, and reports its result.
func (e *env) runJob(c *cli.Context, job *convert.Job, salvage bool) error {
	return e.runJobs(c, "", []*convert.Job{job}, salvage)
}

// runJobs does so for conversions whose outputs appear together: then stem is what all
// their names begin with; "" for a single one. A conversion of which nothing is
// selected is left out, unless that is so of all. When one fails, nothing is written,
// and the report is that of the failure.
func (e *env) runJobs(c *cli.Context, stem string, jobs []*convert.Job, salvage bool) error {
	file, err := e.beginRun(c, stem, jobs)
	if err != nil {
		return err
	}
	results, status, err := e.runStaged(c, stem, jobs, salvage)
	if err != nil {
		return err
	}
	return e.endRun(file, results, status)
}

// beginRun checks what can be checked before a run, and opens its report.
func (e *env) beginRun(c *cli.Context, stem string, jobs []*convert.Job) (*reportFile, error) {
	for _, job := range jobs {
		if err := errors.Join(checkLevel(job), e.verifyOutput(c.Context, job, nil)); err != nil {
			return nil, err
		}
		if job.DryRun && (job.Verify != nil || job.Dedupe) {
			return nil, usage("omit one of them", "--dry-run reads a part of the input, and --verify and --dedupe need all of it")
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
	file, err := e.openReport(c.Context, e.set.report, e.report.notEnded())
	if err != nil {
		return nil, err
	}
	if err := e.openMetrics(c.Command.Name, 1); err != nil {
		return nil, err
	}
	e.metrics.begin()
	return file, nil
}

// endRun writes the report of a run, and returns how it ended.
func (e *env) endRun(file *reportFile, results []*resultJSON, status int) error {
	e.countRun(results)
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
func (e *env) runStaged(c *cli.Context, stem string, jobs []*convert.Job, salvage bool) (results []*resultJSON, status int, err error) {
	var stage *convert.Stage
	if stem != "" && !jobs[0].DryRun {
		if stage, err = convert.NewStage(stem, jobs[0]); err != nil {
			return nil, 0, e.explainRun(c.Context, jobs[0], err)
		}
		defer func() { err = errors.Join(err, stage.Abort()) }()
	}
	for _, job := range jobs {
		job.Stage = stage
	}
	results, err = e.runAll(c, jobs)
	if err != nil {
		e.sayResult(results[0], salvage)
		return results, results[0].ExitStatus, nil
	}
	for _, result := range results {
		status = max(status, result.ExitStatus)
	}
	if stage != nil {
		err := c.Context.Err()
		if err == nil {
			err = stage.Commit()
		}
		if err != nil {
			job := jobs[0]
			result := resultOf(&convert.Report{Source: convert.End{Path: job.Source}, Sink: convert.End{Path: job.Sink}}, e.explainRun(c.Context, job, err))
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

// cleanUp removes or finishes what runs that were killed have left of the outputs, and
// names it.
func (e *env) cleanUp(paths []string, jobs ...*convert.Job) {
	found, err := convert.CleanUp(e.fs, paths, jobs...)
	for _, l := range found {
		switch {
		case l.Err != nil:
			e.writeLines("warning", []string{fmt.Sprintf("%s: left by a run that was killed: %v; when no run uses it any more, remove it", l.Path, l.Err)})
		case l.Kept != "":
			e.writeLines("note", []string{fmt.Sprintf("%s: left by a recording that was killed; bagconv recover %s OUT saves it, then remove the folder", l.Path, l.Kept)})
		case l.Finished:
			e.writeLines("note", []string{l.Path + ": a run was killed while it put its output in place; this is now finished"})
		default:
			e.writeLines("note", []string{l.Path + ": left by a run that was killed; now removed"})
		}
	}
	if err != nil && !errors.Is(err, fs.ErrPermission) { // then nothing can be written there either
		e.sayError(explain(err))
	}
}

// runAll runs the conversions and shows their progress. With an error there is one result,
// of the job that it is about, with the error as text.
func (e *env) runAll(c *cli.Context, jobs []*convert.Job) (results []*resultJSON, err error) {
	show := e.newProgress()
	jobs[0].Progress = show.update
	if e.LimitMemory != nil {
		e.LimitMemory(jobs[0].MaxMemory)
	}
	reports, err := e.convertAll(c.Context, jobs)
	show.stop()
	var failed *convert.JobError
	if errors.As(err, &failed) {
		result := resultOf(reports[failed.Job], e.explainRun(c.Context, jobs[failed.Job], failed.Err))
		result.IO = e.meter.Counts()
		return []*resultJSON{result}, err
	}
	for _, report := range reports {
		if report.Sink.Files == nil && report.Share == 0 {
			continue // nothing of it was selected
		}
		result := resultOf(report, nil)
		result.Verified, result.IO = e.set.verified, e.meter.Counts()
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
