package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/selection"
	"github.com/bagconv/bagconv/convert/verify"
	"github.com/bagconv/bagconv/storage"
)

// verify compares two recordings.
func (e *env) verify(c *cli.Context) error {
	job, err := e.verifyJob(c)
	if err != nil {
		return err
	}
	show := e.newProgress()
	job.Progress = show.update
	res, err := verify.Run(c.Context, *job)
	show.stop()
	err = explainVerify(err)
	if err != nil && (!e.set.json || errors.Is(err, context.Canceled)) {
		return err
	}
	out := verifyOf(job, res, err)
	switch {
	case e.set.json:
		if writeErr := writeJSON(e.Out, out); writeErr != nil {
			return writeErr
		}
	case !out.Equal || !e.set.quiet:
		if err := writeVerify(e.Out, out); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	for i, end := range []*verifyEnd{&out.A, &out.B} {
		e.writeLines("damaged", damageLines(end))
		if res != nil {
			side := []*verify.End{&res.A, &res.B}[i]
			odd := slices.DeleteFunc(slices.Clone(side.Warnings), func(w storage.Warning) bool { return w.Damage })
			e.writeLines("warning", warningLines(end.Path, warningsJSON(slices.Concat(odd, side.Doubts))))
		}
	}
	return outcome{findings: !out.Equal, lossy: out.A.Damaged || out.B.Damaged}.end()
}

// damageLines reports what is damaged of a side.
func damageLines(end *verifyEnd) []string {
	damage := slices.DeleteFunc(slices.Clone(end.Warnings), func(w warningJSON) bool { return !w.Damage })
	return warningLines(end.Path, damage)
}

// explainVerify adds the next step to errors about a selection.
func explainVerify(err error) error {
	var s *verify.SelectionError
	if !errors.As(err, &s) {
		return err
	}
	return explainSelection(s.Path, s.Err)
}

// verifyJob takes the flags.
func (e *env) verifyJob(c *cli.Context) (*verify.Job, error) {
	args := c.Args().Slice()
	switch {
	case len(args) == 0:
		return nil, usage("type: bagconv verify A B", "no recordings given")
	case len(args) == 1:
		return nil, usage(fmt.Sprintf("type: bagconv verify %s B", clean(args[0])), "only one recording given; verify compares two")
	case len(args) > 2:
		return nil, usage("compare them two by two", "verify compares two recordings, not %d", len(args))
	}
	job, flags := e.set.verify, &e.set.job
	job.Read.FS = e.files()
	job.Definitions, job.Target, job.Distro, job.Frames, job.Threads = flags.Definitions, flags.Target, flags.Distro, flags.Frames, flags.Threads
	job.A.Select, job.A.Edit = flags.Select, flags.Edit
	for _, code := range job.Exact {
		if slices.Contains(job.Ignore, code) {
			return nil, usage("omit one of them", "--ignore and --exact both name %s", code)
		}
	}
	var err error
	if job.A.Edit, err = comparableEdit(job.A.Edit, "--level", job.Level); err != nil {
		return nil, err
	}
	if e.set.both {
		if job.A.Select.All() {
			return nil, usage("add for example --topic /imu", "--both needs a selection, which it applies to B, too")
		}
		job.B.Select, job.B.Edit.Latch = job.A.Select, job.A.Edit.Latch
	}
	for i, side := range []*verify.Side{&job.A, &job.B} {
		side.Path = args[i]
		if side.Format, err = e.detect(args[i]); err != nil {
			return nil, err
		}
	}
	return &job, nil
}

// comparableEdit returns the edit as verify can do it: --restamp log changes messages,
// but not how many there are and when.
func comparableEdit(edit selection.Edit, flag string, level verify.Level) (selection.Edit, error) {
	if edit.Restamp == selection.RestampLog {
		if level != verify.Counts {
			return edit, usage(flag+" counts is possible", "--restamp log changes messages, which %s %s compares", flag, level)
		}
		edit.Restamp = selection.RestampNone
	}
	return edit, nil
}

// A differsError is the error of an output that differs from its input. Its exit status
// is 4.
type differsError struct{ path, what string }

func (e *differsError) Error() string {
	return fmt.Sprintf("%s: the output differs from the input and was removed: %s", clean(e.path), e.what)
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
		res, err := verify.Run(ctx, verify.Job{
			A:      verify.Side{Path: job.Source, Format: job.SourceFormat, Select: job.Select, Edit: edit, Attach: job.Attach},
			B:      verify.Side{Path: path, Format: job.SinkFormat},
			Level:  level,
			Ignore: []verify.Code{verify.Unconvertible}, Refused: refused, // the report of the conversion has them
			Definitions: job.Definitions, Target: job.Target, Distro: job.Distro, Frames: job.Frames, Read: job.Read, Threads: job.Threads,
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
			return &differsError{job.Sink, "it cannot be read completely: " + strings.Join(damageLines(&verifyOf(nil, res, nil).B), "; ")}
		}
		const maxNamed = 3
		lines := differenceLines(verifyOf(nil, res, nil))
		if n := len(lines); n > maxNamed {
			lines = append(lines[:maxNamed], "and "+count(int64(n-maxNamed), "other difference"))
		}
		return &differsError{job.Sink, strings.Join(lines, "; ")}
	}
	return nil
}
