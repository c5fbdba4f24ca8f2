package cli

import (
	"context"
	"errors"

	"github.com/bagconv/bagconv/convert"
)

// A reporting is the state of the report of a run.
type reporting struct {
	path      string
	json      bool
	attempted bool        // the file was written, or could not be
	file      *reportFile // nil: not yet
	ended     bool        // it has the end of the run

	source, sink string              // as far as they are known
	failed       func(err error) any // the report of a run that has not begun; nil: that of a conversion
}

// refuseReport returns the error of a report that would replace another file. It is not
// written.
func (e *env) refuseReport(of string) error {
	e.report.attempted = true
	return usage("choose another name", "--report %s would overwrite %s", clean(e.report.path), of)
}

// failure returns the report of a run that has not begun.
func (r *reporting) failure(err error) any {
	if r.failed != nil {
		return r.failed(err)
	}
	return resultOf(&convert.Report{Source: convert.End{Path: r.source}, Sink: convert.End{Path: r.sink}}, err)
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
		r.file, err = e.openReport(ctx, r.path, v)
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
func (e *env) expectReport(l *line) {
	if l.command != nil && l.command.flag("report") != nil {
		e.report.path, e.report.json = l.text("report"), l.text("json") == "true"
	}
}
