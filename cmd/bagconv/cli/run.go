package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/bagconv/bagconv/convert"
)

// runJob runs a conversion, shows its progress, and says what became of it.
func (e *env) runJob(c *cli.Context, job *convert.Job, salvage bool) error {
	return e.runJobs(c, []*convert.Job{job}, salvage)
}

// runJobs does so for conversions that belong together. One of which nothing is
// selected is left out, unless that is so of all. When one fails, the outputs of
// those before it go too, and the report is that of the failure.
func (e *env) runJobs(c *cli.Context, jobs []*convert.Job, salvage bool) error {
	if newProgress(c.String("progress"), e.Stdio) == nil {
		return usage("", "--progress is %s, not %q", progressModes, c.String("progress"))
	}
	for _, job := range jobs {
		if err := errors.Join(checkLevel(job), verifyOutput(c, job)); err != nil {
			return err
		}
	}
	if err := e.checkOutputs(jobs, c.String("report")); err != nil {
		return err
	}
	file, err := e.openReport(c.Context, c.String("report"), e.report.notEnded())
	if err != nil {
		return err
	}
	var results []*resultJSON
	status := exitOK
	for i, job := range jobs {
		result, err := e.runOne(c, job)
		if alone := i == len(jobs)-1 && len(results) == 0; errors.Is(err, convert.ErrNothing) && !alone {
			continue
		}
		e.sayResult(c, result, salvage)
		if result.Error != "" {
			if err := removeOutputs(results); err != nil {
				e.sayError(explain(err))
			}
			results, status = []*resultJSON{result}, result.ExitStatus
			break
		}
		results, status = append(results, result), max(status, result.ExitStatus)
	}
	if err := file.write(oneOrAll(results)); err != nil {
		return err
	}
	e.report.ended = true
	if c.Bool("json") {
		if err := writeJSONs(e.Out, results); err != nil {
			return err
		}
	}
	if status != exitOK {
		return exitStatus(status)
	}
	return nil
}

// runOne runs a conversion and shows its progress. The error is that of the run;
// the result has it as text.
func (e *env) runOne(c *cli.Context, job *convert.Job) (*resultJSON, error) {
	show := newProgress(c.String("progress"), e.Stdio)
	if c.Bool("quiet") {
		show = noProgress{}
	}
	job.Progress = show.update
	if e.LimitMemory != nil {
		e.LimitMemory(job.MaxMemory)
	}
	report, err := convert.Run(c.Context, *job)
	show.stop()
	result := resultOf(report, explainRun(c.Context, job, err))
	if err == nil {
		result.Verified = c.String("verify")
	}
	return result, err
}

// sayResult says on standard error what became of a run.
func (e *env) sayResult(c *cli.Context, result *resultJSON, salvage bool) {
	if c.String("progress") == "json" && !c.Bool("quiet") {
		writeEvents(e.Err, result)
		return
	}
	e.writeSummary(result, c.Bool("quiet"), c.Bool("verbose"), salvage)
}

// removeOutputs removes what runs have written.
func removeOutputs(results []*resultJSON) (err error) {
	for _, r := range results {
		for _, path := range r.Sink.Files {
			err = errors.Join(err, os.RemoveAll(path))
		}
	}
	if err != nil {
		return fmt.Errorf("what was written before cannot be removed: %w", err)
	}
	return nil
}
