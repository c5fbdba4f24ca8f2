package cli

import (
	"context"
	"errors"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert"
)

// refuseReport returns the error of a report that would replace another file. It is not
// written.
func (e *env) refuseReport(of string) error {
	e.report.attempted = true
	return flags.Usage("choose another name", "--report %s would overwrite %s", phrase.Clean(e.report.path), of)
}

// failure returns the report of a run that has not begun.
func (r *reporting) failure(err error) any {
	if r.failed != nil {
		return r.failed(err)
	}
	return resultOf(convert.NewReport(convert.End{Path: r.source}, convert.End{Path: r.sink}), err)
}

// notEnded returns the error in the report of a run that has not ended.
func (r *reporting) notEnded() any {
	return r.failure(&failure{path: r.source, what: "the run did not finish", err: context.Canceled})
}

// reportFailure writes the report of a run that failed before its work began, so that
// the report of an earlier run is not taken for it.
func (e *env) reportFailure(ctx context.Context, failed error) error {
	r := &e.report
	if r.ended || r.path == "" && !r.json {
		return nil
	}
	v := r.failure(failed)
	var err error
	if r.file == nil && !r.attempted {
		var file *reportFile
		if file, err = e.openReport(ctx, r.path, v); err == nil && file != nil {
			r.file = file
		}
	}
	if err == nil && r.file != nil {
		err = r.file.write(v)
	}
	if r.json {
		err = errors.Join(err, writeJSON(e.Out, v))
	}
	return err
}

// expectReport notes the report that a line asks for, even if the line is wrong. Only
// commands with --report have one.
func (e *env) expectReport(l *flags.Line) {
	if l.Command != nil && l.Command.Flag("report") != nil {
		e.report.path, e.report.json = l.Text("report"), l.Text("json") == "true"
	}
}
