package cli

import (
	"io"
	"os"
	"runtime/debug"
	"sync"

	"golang.org/x/term"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/stdio"
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
	fs      storage.FS     // of this machine and, for URLs, of stores
	streams *stdio.FS      // standard input and output as files of fs
	command *flags.Command // of the line or of a recipe, with its flags
	words   []string       // of the line, without the command
	set     settings       // of the line
	color   bool           // of Err
	word    string         // the first of the line, where it names no command; see mistypedVerb
	report  reporting
	meter   *iox.Meter      // of what is read and written
	logs    sync.Mutex      // guards Err while serve runs
	from    *storage.Format // of inputs whose content is not recognised; nil: they are not recordings

	moreFlags    []flags.Flag    // entries that a test adds to the tables
	moreCommands []flags.Command // the same
}

// useFiles makes fsys the file system of this run.
func (e *env) useFiles(fsys storage.FS) {
	e.fs = fsys
	e.set.job.Read.FS, e.set.job.Write.FS = e.files(), e.files()
}

// files returns the file system of this run, which counts.
func (e *env) files() storage.FS { return iox.Metered(e.fs, e.meter) }

// wordAt returns the n-th word of the line, from 0; "" if there are fewer.
func (e *env) wordAt(n int) string {
	if n < len(e.words) {
		return e.words[n]
	}
	return ""
}

// A reporting is the state of the report of a run.
type reporting struct {
	path      string
	json      bool
	attempted bool                            // the file was written, or could not be
	file      interface{ write(v any) error } // nil: not yet
	ended     bool                            // it has the end of the run

	source, sink string              // as far as they are known
	failed       func(err error) any // the report of a run that has not begun; nil: the report of a conversion
}

// entries makes the entries of all commands. command.go, which stands above all that asks for them, sets it.
var entries func(*env) []*flags.Command

// commands returns the commands, in the order of the help, for one line.
func (e *env) commands() []*flags.Command { return entries(e) }
