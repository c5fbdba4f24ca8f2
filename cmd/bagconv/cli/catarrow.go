package cli

import (
	"context"
	"errors"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/export"
)

// arrowFormat is the value of --format for which cat prints no text.
const arrowFormat = "arrow"

// catArrow writes messages to standard output as streams of Arrow.
func (e *env) catArrow(ctx context.Context) error {
	args := e.words
	switch {
	case len(args) == 0:
		return flags.Usage("type: bagconv cat IN --format arrow -t /imu", "no input given")
	case len(args) > 1:
		return flags.Usage("choose topics with -t, and fields with --columns",
			"with --format arrow cat takes one recording and no fields")
	case e.OutTerminal:
		return flags.Usage("redirect the output to a file or a program", "--format arrow does not print to a terminal")
	}
	for _, name := range []string{"limit", "skip", "nth", "tail", "reverse", "bytes", "arrays", "raw", "framed",
		"definitions"} {
		if e.command.IsSet(name) {
			return flags.Usage("omit it; --start, --end, -t and --columns select", "--%s has no effect on --format arrow", name)
		}
	}
	job, err := e.jobFor(export.Stream(e.Out))
	if err != nil {
		return err
	}
	ref, err := e.refOf(args[0])
	if err != nil {
		return err
	}
	job.Source, job.SourceFormat, job.Sink, job.Formats = ref.Path, ref.Format, "-", e.formats
	job.Empty = true // a stream of a schema alone is one
	reports, err := convert.RunAll(ctx, []*convert.Job{job})
	var failed *convert.JobError
	if errors.As(err, &failed) {
		err = failed.Err
	}
	if err != nil {
		return e.explainRun(ctx, job, err)
	}
	result := resultOf(reports[0], nil)
	e.writeSummary(result, true, false, false)
	if result.ExitStatus != exitOK {
		return exitStatus(result.ExitStatus)
	}
	return nil
}
