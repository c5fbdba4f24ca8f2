package cli

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bagconv/bagconv/convert/check"
	"github.com/bagconv/bagconv/storage"
)

func (e *env) checkCommand() *cli.Command {
	return &cli.Command{
		Name:    "check",
		Aliases: []string{"doctor"},
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "JSON instead of text"},
			&cli.StringFlag{Name: "fail-on", Value: "warning", Usage: "error, warning or note"},
			&cli.BoolFlag{Name: "exit-zero", Usage: "exit with 0 also with findings"},
			&cli.StringFlag{Name: "spec", Usage: "a file with a contract"},
			&cli.BoolFlag{Name: "make-spec", Usage: "write a contract"},
			&cli.Float64Flag{Name: "gap", Value: check.DefaultGap, Usage: "a number of periods, such as 10"},
			&cli.StringFlag{Name: "stamp-offset", Value: check.DefaultStampOffset.String(), Usage: "a duration, such as 500ms"},
			&cli.StringFlag{Name: "distro", Usage: "a ROS 2 distribution, such as humble"},
			&cli.IntFlag{Name: "threads", Usage: "a number of workers; 0 is one per core"},
			&cli.StringFlag{Name: "progress", Value: "auto", Usage: progressModes},
		},
		Action: e.check,
	}
}

// check looks at recordings one after the other. One that cannot be read does
// not keep the others from being looked at.
func (e *env) check(c *cli.Context) error {
	paths := c.Args().Slice()
	if len(paths) == 0 {
		return usage("type: bagconv check IN", "there is no input on the line")
	}
	o, err := e.checkOptions(c)
	if err != nil {
		return err
	}
	if c.Bool("make-spec") {
		return e.makeSpec(c, paths, o)
	}
	failOn, _ := check.ParseSeverity(c.String("fail-on"))
	var ended outcome
	all := []*checkJSON{}
	for i, path := range paths {
		var out *checkJSON
		res, err := e.checkOne(c, path, o)
		if err == nil {
			out = checkOf(res)
		}
		switch {
		case errors.Is(err, context.Canceled):
			return err
		case err != nil:
			ended.failed = true
			e.sayError(explain(err))
			out = &checkJSON{SchemaVersion: schemaVersion, Path: path, Error: explain(err), Findings: []findingJSON{}, Topics: []checkTopic{}}
		case out.reaches(failOn) && !c.Bool("exit-zero"):
			ended.findings = true
		}
		all = append(all, out)
		if !c.Bool("json") && err == nil {
			if i > 0 {
				_, _ = io.WriteString(e.Out, "\n")
			}
			if err := writeCheck(e.Out, out); err != nil {
				return err
			}
		}
	}
	if c.Bool("json") {
		if err := writeJSONs(e.Out, all); err != nil {
			return err
		}
	}
	return ended.end()
}

// checkOptions takes the flags.
func (e *env) checkOptions(c *cli.Context) (o check.Options, err error) {
	if err := oneOf("--fail-on", c.String("fail-on"), check.Severities()...); err != nil {
		return o, err
	}
	if newProgress(c.String("progress"), e.Stdio) == nil {
		return o, usage("", "--progress is %s, not %q", progressModes, c.String("progress"))
	}
	if o.Gap = c.Float64("gap"); !(o.Gap > 1 && o.Gap < 1e9) {
		return o, usage("10 is the default", "--gap is a number of periods above 1, not %v", o.Gap)
	}
	if o.StampOffset, err = time.ParseDuration(c.String("stamp-offset")); err != nil || o.StampOffset <= 0 {
		return o, usage("type for example 500ms, 2s or 1h", "--stamp-offset: %q is no duration above 0", c.String("stamp-offset"))
	}
	if o.Distro, err = distroOf(c); err != nil {
		return o, err
	}
	if spec := c.String("spec"); spec != "" {
		text, err := readSome(spec, check.MaxContract)
		if err != nil {
			return o, usage("see: bagconv help contracts", "--spec %s: %v", clean(spec), plainError(err))
		}
		if o.Contract, err = check.ParseContract(text); err != nil {
			return o, usage("see: bagconv help contracts", "--spec %s: %v", clean(spec), err)
		}
	}
	o.Threads, err = threadsOf(c)
	return o, err
}

// checkOne looks at one recording.
func (e *env) checkOne(c *cli.Context, path string, o check.Options) (res *check.Result, err error) {
	r, err := e.openWith(c.Context, path, storage.ReadOptions{CheckIndexes: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	show := newProgress(c.String("progress"), e.Stdio)
	o.Progress = show.update
	res, err = check.Run(c.Context, r, o)
	show.stop()
	return res, err
}

// makeSpec writes the contract that a recording keeps.
func (e *env) makeSpec(c *cli.Context, paths []string, o check.Options) error {
	switch {
	case len(paths) > 1:
		return usage("make it of a good one", "--make-spec takes one recording, not %d", len(paths))
	case c.Bool("json") || o.Contract != nil:
		return usage("", "--make-spec writes a contract, and goes neither with --json nor with --spec")
	}
	res, err := e.checkOne(c, paths[0], o)
	if err != nil {
		return err
	}
	text, err := check.MakeContract(res).Format()
	if err != nil {
		return err
	}
	if out := checkOf(res); out.reaches(check.Warning) {
		e.say("%s: there are findings (%s, %s); bagconv check shows them", clean(paths[0]), count(int64(out.Errors), "error"), count(int64(out.Warnings), "warning"))
	}
	_, err = e.Out.Write(text)
	return err
}
