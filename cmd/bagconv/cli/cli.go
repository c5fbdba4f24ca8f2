// Package cli is the command line of bagconv: one file per command, and Run,
// which takes the arguments and returns the exit status, so that tests and other
// programs can call it.
//
//	cli.go       Run: from the arguments to a command; status.go: from its end to an exit status
//	flag.go      what is known of a flag; flagtable.go: the table of flags, whose parts are
//	             flagsinput.go, flagsoutput.go, flagsread.go and, from the formats, options.go
//	command.go   what is known of a command; commandswrite.go and commandsread.go: all of them
//	line.go      reads the line: flags anywhere; config.go: flags from a file
//	help.go, man.go, completion.go  made from the two tables
//	color.go     which words are coloured
//	convert.go   the command convert, recover.go the command recover; run.go runs
//	             conversions, summary.go and report.go report on them, reportfile.go
//	             writes the file of --report, earlyreport.go if nothing was done
//	output.go    which format an output has, and why it may not stand where it should
//	info.go      the command info; infotext.go, timeline.go and infojson.go show it
//	check.go     the command check; checkjson.go shows what it finds
//	verify.go    the command verify, and --verify; verifyjson.go shows differences
//	cat.go       the command cat; catplan.go plans what it writes of each topic, catpick.go
//	             prints single messages
//	gen.go       the command gen, flagsgen.go its flags
//	record.go    the command record: running systems
//	play.go      the command play; keys_linux.go: keys while it plays
//	batch.go     the command batch: its inputs and what is to be done; batchrun.go
//	             does it, batchtext.go reports the results
//	list.go      the command list; sections.go lists records, chunks and parts;
//	             extras.go has the flags about attachments
//	serve.go     the command serve
//	topics.go, du.go, schema.go, tree.go, treesize.go, formats.go, version.go
//	progress.go  how far a run is: bar, plain lines, JSON
//	select.go    what was selected, and why a selection is wrong; nearest.go what may have been meant
//	units.go     sizes, durations and times as people write them
//	errors.go    errors as one line with a next step; fold.go: the same on a narrow terminal
//
// Data goes to Stdio.Out. Everything else, progress and errors included, goes to
// Stdio.Err. Only this package prints. Commands that only read never
// write to a file, but for list --extract.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/remote"
	"github.com/bagconv/bagconv/storage"
)

// Stdio is where a command writes.
type Stdio struct {
	Out, Err    io.Writer
	Terminal    bool // Err is a terminal that can move its cursor
	OutTerminal bool // Out is a terminal: somebody reads it
	OutColumns  int  // how wide that is; 0: not known

	// LimitMemory is called with the bytes that a conversion may take, for a process
	// that has nothing else to do; nil: memory is left as it is.
	LimitMemory func(bytes int64)

	// CollectLess is called with such a limit before many small recordings are converted: nearly all of their memory
	// is garbage, and to collect it every few MB was most of the work. nil: it is collected as always.
	CollectLess func(bytes int64)
}

// System returns the Stdio of the process. It is for one command at a time, and sets the limits of
// the process.
func System() Stdio {
	columns, _, _ := term.GetSize(int(os.Stdout.Fd())) // 0 if it is not a terminal
	return Stdio{
		Out: os.Stdout, Err: os.Stderr,
		Terminal:    term.IsTerminal(int(os.Stderr.Fd())) && os.Getenv("TERM") != "dumb",
		OutTerminal: term.IsTerminal(int(os.Stdout.Fd())), OutColumns: columns,
		LimitMemory: limitMemory, CollectLess: collectLess,
	}
}

// collectLess lets five times as much garbage come as lives, up to a limit, unless the environment decides that.
func collectLess(bytes int64) {
	limitMemory(bytes)
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(500)
	}
}

// limitMemory sets the limit that the collector of garbage keeps to, unless the
// environment has one.
func limitMemory(bytes int64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(bytes)
	}
}

// env is what the commands share.
type env struct {
	Stdio
	formats *storage.Registry
	fs      storage.FS // of this machine and, for URLs, of stores
	command *command   // of the line or of a recipe, with its flags
	set     settings   // of the line
	color   bool       // of Err
	word    string     // the first of the line, where it names no command; see mistypedVerb
	report  reporting
	meter   *iox.Meter      // of what is read and written
	metrics *metricsFile    // of --metrics; nil: none
	logs    sync.Mutex      // guards Err while serve runs
	from    *storage.Format // of inputs whose content is not recognised; nil: they are not recordings

	moreFlags []flag // entries that a test adds to the table
}

// ErrNoReader is the cause of a context that ends because nobody reads the output any
// more.
var ErrNoReader = fmt.Errorf("standard output was closed: %w", context.Canceled)

// Run runs the command line args, args[0] being the program's name, and returns
// its exit status. When ctx is cancelled it cleans up and returns 130. It may be
// called concurrently, but with the Stdio of System.
func Run(ctx context.Context, args []string, stdio Stdio, formats *storage.Registry) int {
	return (&env{Stdio: stdio, formats: formats, meter: &iox.Meter{}}).main(ctx, args)
}

func (e *env) main(ctx context.Context, args []string) (status int) {
	defer func() { e.metrics.close(status) }()
	e.set.remote.Listings = e.formats.Listings()
	e.set.remote.Meter = e.meter
	e.set.remote.Note = func(text string) { e.writeLines("note", []string{text}) }
	stores := remote.New(ctx, &e.set.remote)
	defer stores.Close()
	e.useFiles(iox.Join(iox.OS, stores))
	err := e.run(ctx, args)
	var reported exitStatus
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &reported):
		return int(reported) // the command has reported why
	}
	if noReader(ctx, err) {
		err = ErrNoReader
	} else {
		e.sayError(explain(err))
	}
	if failed := e.reportFailure(ctx, err); failed != nil {
		e.sayError(explain(failed))
	}
	return outcomeOf(err).status()
}

// noReader reports whether a command ended because its output was closed, as by head:
// then there is no message.
func noReader(ctx context.Context, err error) bool {
	var w *writtenError
	return !errors.As(err, &w) && (errors.Is(err, syscall.EPIPE) || context.Cause(ctx) == ErrNoReader)
}

func (e *env) run(ctx context.Context, args []string) error {
	args, err := named(args)
	if err != nil {
		return err
	}
	if len(args) > 1 && args[1] == "__complete" { // which no help names
		return e.complete(ctx, args[2:])
	}
	line, err := e.parse(args[min(1, len(args)):])
	e.colorAs(line.text("color"))
	e.expectReport(&line)
	switch {
	case err != nil:
		return e.explainLine(&line, err)
	case line.help && line.command == nil:
		return e.help("")
	case line.help:
		return e.help(line.command.name)
	case line.command == nil:
		fmt.Fprint(e.Err, e.helpText(""))
		return outcome{usage: true}.end()
	}
	if !line.named && !line.bare && len(line.words) > 0 {
		e.word = line.words[0]
	}
	if err := e.forcedInput(&line); err != nil {
		return err
	}
	app := &cli.App{
		Name: "bagconv", HideHelp: true, HideVersion: true, Commands: []*cli.Command{e.urfave(line.command)},
		Writer: e.Out, ErrWriter: e.Err,
		ExitErrHandler: func(*cli.Context, error) {}, // Run returns the status
	}
	return app.RunContext(ctx, line.args())
}

// explainLine returns the error of a line: that its first word is the command of another program, if
// it is, else err.
func (e *env) explainLine(l *line, err error) error {
	if l.named || l.bare || len(l.words) == 0 || foreignVerbs[l.words[0]] == "" {
		return err
	}
	if wrong := e.mistypedVerb(l.words[0]); wrong != nil {
		return wrong
	}
	return err
}

// forcedInput refuses a line such as -f IN -o OUT if OUT is there: in cyber_recorder, -f names the
// input, and here it would replace the output without a question.
func (e *env) forcedInput(l *line) error {
	out := l.text("output")
	if l.afterF == "" || out == "" || len(l.words) != 1 || l.words[0] != l.afterF {
		return nil
	}
	if _, err := e.fs.Stat(out); err != nil {
		return nil
	}
	return usage("write --force to replace it", "%s exists already, and -f is --force: it does not name the input %s", clean(out), clean(l.afterF))
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
			return nil, &usageError{what: clean(err.Error())}
		}
		args[i] = flag + name
	}
	return args, nil
}

// say writes one line to Err.
func (e *env) say(format string, a ...any) {
	fmt.Fprintf(e.Err, "bagconv: %s\n", e.foldMessage("bagconv", fmt.Sprintf(format, a...)))
}

// sayError writes an error to Err.
func (e *env) sayError(text string) {
	fmt.Fprintf(e.Err, "%s %s\n", e.painted("bagconv"), e.foldMessage("bagconv", text))
}
