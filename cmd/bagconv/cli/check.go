package cli

import (
	"context"
	"errors"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/bagconv/bagconv/convert/check"
	"github.com/bagconv/bagconv/storage"
)

// check looks at recordings one after the other. One that cannot be read does
// not keep the others from being looked at.
func (e *env) check(c *cli.Context) error {
	paths := c.Args().Slice()
	if len(paths) == 0 {
		return usage("type: bagconv check IN", "no input given")
	}
	o := e.set.check
	o.Definitions, o.Target, o.Distro, o.Threads = e.set.job.Definitions, e.set.job.Target, e.set.job.Distro, e.set.job.Threads
	if e.set.makeSpec {
		return e.makeSpec(c, paths, o)
	}
	failOn, _ := check.ParseSeverity(e.set.failOn)
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
		case out.reaches(failOn) && !e.set.exitZero:
			ended.findings = true
		}
		all = append(all, out)
		if !e.set.json && err == nil {
			if i > 0 {
				_, _ = io.WriteString(e.Out, "\n")
			}
			if err := e.writeCheck(e.Out, out); err != nil {
				return err
			}
		}
	}
	if e.set.json {
		if err := writeJSONs(e.Out, all); err != nil {
			return err
		}
	}
	return ended.end()
}

// readContract reads the file of --spec.
func readContract(fsys storage.FS, path string) (*check.Contract, error) {
	wrong := func(err error) error {
		return usage("see: bagconv help contracts", "--spec %s: %v", clean(path), err)
	}
	text, err := readSome(fsys, path, check.MaxContract)
	if err != nil {
		return nil, wrong(plainError(err))
	}
	contract, err := check.ParseContract(text)
	if err != nil {
		return nil, wrong(err)
	}
	return contract, nil
}

// checkOne looks at one recording.
func (e *env) checkOne(c *cli.Context, path string, o check.Options) (res *check.Result, err error) {
	r, err := e.openWith(c.Context, path, storage.ReadOptions{CheckIndexes: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	show := e.newProgress()
	o.Progress = show.update
	res, err = check.Run(c.Context, r.Reader, o)
	show.stop()
	return res, err
}

// makeSpec writes the contract that a recording keeps.
func (e *env) makeSpec(c *cli.Context, paths []string, o check.Options) error {
	switch {
	case len(paths) > 1:
		return usage("name one good recording", "--make-spec takes one recording, not %d", len(paths))
	case e.set.json || o.Contract != nil:
		return usage("", "--make-spec prints a contract, and does not go with --json or --spec")
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
