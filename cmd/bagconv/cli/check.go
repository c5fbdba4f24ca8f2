package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert/check"
	"github.com/bagconv/bagconv/storage"
)

// check looks at recordings one after the other. One that cannot be read does
// not keep the others from being looked at.
func (e *env) check(ctx context.Context) error {
	paths := e.words
	if len(paths) == 0 {
		return flags.Usage("type: bagconv check IN", "no input given")
	}
	paths = e.eachIn(paths)
	o := e.set.check.options
	o.Definitions, o.Target, o.Distro, o.Threads = e.set.job.Definitions, e.set.job.Target, e.set.job.Distro,
		e.set.job.Threads
	if e.set.check.makeSpec {
		return e.makeSpec(ctx, paths, o)
	}
	failOn, _ := check.ParseSeverity(e.set.check.failOn)
	var ended outcome
	all := []checkJSON{}
	for i, path := range paths {
		res, err := e.checkOne(ctx, path, o)
		switch {
		case errors.Is(err, context.Canceled):
			return err
		case err != nil:
			ended.failed = true
			e.sayError(explain(err))
			res = &check.Result{Path: path, Error: explain(err), Findings: []check.Finding{}, Topics: []check.Topic{}}
		case res.Reaches(failOn) && !e.set.check.exitZero:
			ended.findings = true
		}
		all = append(all, checkJSON{schemaVersion, res})
		if !e.set.json && err == nil {
			if i > 0 {
				_, _ = io.WriteString(e.Out, "\n")
			}
			if err := e.writeCheck(e.Out, res); err != nil {
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
		return flags.Usage("see: bagconv help contracts", "--spec %s: %v", phrase.Clean(path), err)
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
func (e *env) checkOne(ctx context.Context, path string, o check.Options) (res *check.Result, err error) {
	r, err := e.openWith(ctx, path, storage.ReadOptions{CheckIndexes: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	show := e.newProgress()
	o.Progress = show.update
	res, err = check.Run(ctx, r.Reader, o)
	show.stop()
	return res, err
}

// makeSpec writes the contract that a recording keeps.
func (e *env) makeSpec(ctx context.Context, paths []string, o check.Options) error {
	switch {
	case len(paths) > 1:
		return flags.Usage("name one good recording", "--make-spec takes one recording, not %d", len(paths))
	case e.set.json || o.Contract != nil:
		return flags.Usage("", "--make-spec prints a contract, and does not go with --json or --spec")
	}
	res, err := e.checkOne(ctx, paths[0], o)
	if err != nil {
		return err
	}
	text, err := check.MakeContract(res).Format()
	if err != nil {
		return err
	}
	if res.Reaches(check.Warning) {
		e.say("%s: there are findings (%s, %s); bagconv check shows them", phrase.Clean(paths[0]),
			phrase.Count(int64(res.Errors), "error"), phrase.Count(int64(res.Warnings), "warning"))
	}
	_, err = e.Out.Write(text)
	return err
}

// checkCommand is the command check.
func (e *env) checkCommand() flags.Command {
	return flags.Command{
		Name: "check", Part: lookPart, Aliases: []string{"doctor"}, Call: "check IN...",
		Summary: "find everything wrong or odd in a recording",
		About: `Reads recordings from end to end, decodes all messages, and lists everything
that is wrong or odd, with what to do about it: damage, gaps and jumps in the
times of a topic, repeated messages and stamps, header stamps far from the log
time, missing definitions, definitions that do not match their hash, messages
that do not match their definition. Nothing is written. docs/check.md explains
the codes of findings. Of a folder, all recordings in it are checked, but not
what lies below. doctor is another name of this command.`,
		Examples: []string{
			"bagconv check drive{file}",
			"bagconv check --fail-on error *{file}",
			"bagconv check good{file} --make-spec > drive.yaml",
			"bagconv check --spec drive.yaml drive_ros2/",
			"bagconv check --json drive_ros2/ | jq -r '.findings[].code'",
		},
		Exits: flags.Exits{
			0:   "no findings of the severity of --fail-on or above",
			1:   "a recording cannot be read; the others are checked",
			4:   "there are findings of the severity of --fail-on or above",
			130: "interrupted",
		},
		Run: e.check,
	}
}

// checkFlags returns the flags of check. report takes some of them.
func (s *settings) checkFlags() []flags.Flag {
	o := &s.check.options
	both := flags.AllIn(readGroup, "check report",
		flags.Flag{Name: "spec", Arg: "FILE", Kind: flags.File, Set: flags.Parsed(&o.Contract,
			func(path string) (*check.Contract, error) { return readContract(s.job.Read.FS, path) }),
			Help: "check against a contract: topics, types, rates, gaps, counts, duration, size. bagconv help contracts " +
				"explains its keys"},
		flags.Flag{Name: "gap", Arg: "N", Kind: flags.Decimal, Default: fmt.Sprint(check.DefaultGap),
			Set: func(f *flags.Flag) error {
				if err := flags.Put(&o.Gap)(f); err != nil || !(o.Gap > 1 && o.Gap < 1e9) {
					return flags.Usage("10 is the default", "--gap needs a number of periods above 1, not %s", f)
				}
				return nil
			}, Brief: "report gaps longer than N times the period of a topic", Help: "report a time without messages as a gap " +
				"if it is longer than N times the median period of its topic; 10 (default)"},
		flags.Flag{Name: "stamp-offset", Arg: "D", Default: check.DefaultStampOffset.String(),
			Set:  flags.Parsed(&o.StampOffset, parseStampOffset),
			Help: "largest distance of header stamps from the log time; 1s (default)"},
	)
	return append(flags.AllIn(readGroup, "check",
		flags.Flag{Name: "fail-on", Kind: flags.OneWord, Values: flags.Words(check.Severities()...),
			Default: check.Warning.String(), Set: flags.Put(&s.check.failOn),
			Help: "lowest severity that makes the exit status 4; warning is the default"},
		flags.Flag{Name: "exit-zero", Kind: flags.OnOff, Set: flags.Put(&s.check.exitZero),
			Help: "exit with status 0 even if there are findings"},
		flags.Flag{Name: "make-spec", Kind: flags.OnOff, Set: flags.Put(&s.check.makeSpec),
			Help: "print such a contract, made from a good recording, with limits that allow others like it"},
	), both...)
}

func parseStampOffset(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, flags.Usage("type for example 500ms, 2s or 1h", "--stamp-offset needs a duration above 0, not %q", text)
	}
	return d, nil
}
