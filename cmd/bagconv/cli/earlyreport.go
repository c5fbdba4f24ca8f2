package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bagconv/bagconv/convert"
)

// A reporting is what is asked of the report of a run, and how far it is.
type reporting struct {
	path   string
	json   bool
	opened bool        // the file was, or it could not be
	file   *reportFile // nil: not yet
	ended  bool        // it tells how the run ended

	source, sink string              // as far as they are known
	failed       func(err error) any // the report of a run that has not begun; nil: that of a conversion
}

// refuseReport is the error of a report in the place of something else. It is not
// written there.
func (e *env) refuseReport(of string) error {
	e.report.opened = true
	return usage("choose another name", "--report %s would overwrite %s", clean(e.report.path), of)
}

// failure is the report of a run that has not begun.
func (r *reporting) failure(err error) any {
	if r.failed != nil {
		return r.failed(err)
	}
	return resultOf(&convert.Report{Source: convert.End{Path: r.source}, Sink: convert.End{Path: r.sink}}, err)
}

// notEnded is the error in the report of a run that goes on.
func (r *reporting) notEnded() any {
	return r.failure(&failure{path: r.source, what: "the run did not come to its end", err: context.Canceled})
}

// reportFailure writes the report of a run that has failed before its work began, so
// that nobody takes that of an earlier run for it.
func (e *env) reportFailure(ctx context.Context, args []string, failed error) error {
	r := &e.report
	if r.ended || !e.askedReport(args) {
		return nil
	}
	v := r.failure(failed)
	var err error
	if r.file == nil && !r.opened {
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

// askedReport finds --report and --json on a line that may be wrong in itself. It is
// false for commands without a report.
func (e *env) askedReport(args []string) bool {
	r := &e.report
	if r.path != "" || r.json {
		return true
	}
	word := ""
	for i, arg := range args {
		if arg == "--" {
			break
		}
		if word == "" && !strings.HasPrefix(arg, "-") {
			word = arg
		}
		switch name, value, ok := strings.Cut(strings.TrimLeft(arg, "-"), "="); {
		case !strings.HasPrefix(arg, "--"):
		case name == "report" && ok:
			r.path = value
		case name == "report" && i+1 < len(args):
			r.path = args[i+1]
		case name == "json":
			r.json = !ok || value == "true"
		}
	}
	for _, c := range e.commands() {
		if c.HasName(word) && !writesReport(c) {
			return false
		}
	}
	return r.path != "" || r.json
}

// writesReport reports whether a command has the flag --report.
func writesReport(c *cli.Command) bool {
	return slices.ContainsFunc(c.Flags, func(f cli.Flag) bool { return f.Names()[0] == "report" })
}
