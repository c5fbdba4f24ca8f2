// Package cli is the command line of bagconv: one file per command, and Run,
// which takes the arguments and returns the exit status, so that tests and other
// programs can call it.
//
//	cli.go       Run: from the arguments to a command; status.go: from its end to an exit status
//	env.go       what all commands share; settings.go: what the flags of a line set
//	command.go   the list of commands; flagtable.go: the table of flags, whose parts are flagsinput.go,
//	             flagsoutput.go, flagsremote.go and, from the formats, options.go; config.go: flags from a file
//	NAME.go      the command NAME: its entry, its flags, what it does; NAMEtext.go shows what it found
//	run.go       runs conversions; summary.go and report.go report on them, reportfile.go writes the
//	             file of --report, earlyreport.go if nothing was done
//	output.go    which format an output has, and why it may not stand where it should
//	batchplan.go, batchrun.go   what a batch has to do, and how it does that; worktask.go: a task of a plan
//	help.go, completion.go      made from the two tables, by packages of these names
//	groups.go    the groups of flags, and flags that several groups have; apply.go applies flags
//	open.go      opens inputs; job.go: what a conversion shall do, as a value
//	errors.go    errors as one line with a next step; say.go writes it, folded on a narrow terminal
//
// No two files need each other: env.go and say.go stand at the bottom, command.go and cli.go at the top.
//
// Data goes to Stdio.Out. Everything else, progress and errors included, goes to
// Stdio.Err. Only this package prints. Commands that only read never
// write to a file, but for list --extract.
package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/help"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/remote"
	"github.com/bagconv/bagconv/internal/stdio"
	"github.com/bagconv/bagconv/storage"
)

// ErrNoReader is the cause of a context that ends because nobody reads the output any
// more.
var ErrNoReader = fmt.Errorf("standard output was closed: %w", context.Canceled)

// Run runs the command line args, args[0] being the program's name, and returns
// its exit status. When ctx is cancelled it cleans up and returns 130. It may be
// called concurrently, but with the Stdio of System.
func Run(ctx context.Context, args []string, stdio Stdio, formats *storage.Registry) int {
	return (&env{Stdio: stdio, formats: withExports(formats), meter: &iox.Meter{}}).main(ctx, args)
}

func (e *env) main(ctx context.Context, args []string) (status int) {
	e.set.remote.Listings = e.formats.Listings()
	e.set.remote.Meter = e.meter
	e.set.remote.Note = func(text string) { e.writeLines("note", []string{text}) }
	stores := remote.New(ctx, &e.set.remote)
	defer stores.Close()
	e.streams = stdio.New(iox.OS, e.Out)
	defer func() { _ = e.streams.Close() }() // what is kept was only read
	e.useFiles(iox.Join(e.streams, stores))
	err := e.run(ctx, args)
	var reported exitStatus
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &reported):
		return int(reported) // the command has reported why
	}
	if noReader(ctx, err) {
		if err = ErrNoReader; e.command == nil || e.command.Flag("report") == nil {
			return exitNoReader // nothing but what it prints could be unfinished
		}
	} else {
		e.sayError(explain(err))
	}
	if failed := e.reportFailure(ctx, err); failed != nil {
		e.sayError(explain(failed))
	}
	return outcomeOf(err).status()
}

func (e *env) run(ctx context.Context, args []string) error {
	args, err := named(args)
	if err != nil {
		return err
	}
	if len(args) > 1 && args[1] == "__complete" { // which no help names
		return e.asker().Complete(ctx, e.Out, args[2:])
	}
	line, err := flags.Parse(e.commands(), args[min(1, len(args)):])
	e.colorAs(line.Text("color"))
	e.expectReport(&line)
	switch {
	case err != nil:
		return e.explainLine(&line, err)
	case line.Help != "" && line.Command == nil:
		return e.help("", help.Brief)
	case line.Help != "":
		return e.help(line.Command.Name, depth(&line))
	case line.Command == nil:
		fmt.Fprint(e.Err, e.helpText("", help.Brief))
		return outcome{usage: true}.end()
	}
	if !line.Named && !line.Bare && len(line.Words) > 0 {
		e.word = line.Words[0]
	}
	if err := e.forcedInput(&line); err != nil {
		return err
	}
	e.take(&line)
	if err := e.settle(ctx); err != nil {
		return err
	}
	if err := e.takeStreams(ctx); err != nil {
		return err
	}
	return e.command.Run(ctx)
}

// explainLine returns the error of a line: that its first word is the command of another program, if
// it is, else err.
func (e *env) explainLine(l *flags.Line, err error) error {
	if l.Named || l.Bare || len(l.Words) == 0 || foreignVerbs[l.Words[0]] == "" {
		return err
	}
	if wrong := e.mistypedVerb(l.Words[0]); wrong != nil {
		return wrong
	}
	return err
}

// forcedInput refuses a line such as -f IN -o OUT if OUT is there: in cyber_recorder, -f names the
// input, and here it would replace the output without a question.
func (e *env) forcedInput(l *flags.Line) error {
	out := l.Text("output")
	if l.AfterF == "" || out == "" || len(l.Words) != 1 || l.Words[0] != l.AfterF {
		return nil
	}
	if _, err := e.fs.Stat(out); err != nil {
		return nil
	}
	return flags.Usage("write --force to replace it",
		"%s exists already, and -f is --force: it does not name the input %s", phrase.Clean(out), phrase.Clean(l.AfterF))
}

// named puts the names by which files are known in the place of URLs; see remote.Name.
func named(args []string) ([]string, error) {
	args = slices.Clone(args)
	for i := range args {
		flag, word, ok := strings.Cut(args[i], "=")
		if flag += "="; !ok || !strings.HasPrefix(flag, "-") {
			flag, word = "", args[i]
		}
		name, err := remote.Name(word)
		if err != nil {
			return nil, &flags.UsageError{What: phrase.Clean(err.Error())}
		}
		args[i] = flag + name
	}
	return args, nil
}

// noReader reports whether a command ended because its output was closed, as by head:
// then there is no message.
func noReader(ctx context.Context, err error) bool {
	var w *writtenError
	return !errors.As(err, &w) && (errors.Is(err, syscall.EPIPE) || context.Cause(ctx) == ErrNoReader)
}
