package cli

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/internal/through"
)

// throughFlags have programs change messages.
func (s *settings) throughFlags() []flags.Flag {
	needs := func(name string, set func(*flags.Flag) error) func(*flags.Flag) error {
		return func(f *flags.Flag) error {
			if s.through.Command == "" && f.IsSet() {
				return flags.Usage("add --through CMD", "--%s has no effect without --through", name)
			}
			return set(f)
		}
	}
	return flags.AllIn(editGroup, "convert filter",
		flags.Flag{Name: "through", Arg: "CMD", LineOnly: true, Set: flags.Parsed(&s.through.Command, parseCommand),
			Brief: "send messages of the topics of -t and --type through a program",
			Help: "send messages through a program, as the frames of cat --raw --framed; it answers each with a frame. " +
				"-t and --type choose these topics, and all others stay as they are: docs/through.md"},
		flags.Flag{Name: "processes", Arg: "N", Kind: flags.Number, Default: "1", LineOnly: true,
			Set:   needs("processes", flags.Parsed(&s.through.Processes, parseProcesses)),
			Brief: "run N programs of --through side by side",
			Help:  "with --through: run N programs side by side (default 1)"},
		flags.Flag{Name: "through-timeout", Arg: "D", Default: "60s", LineOnly: true,
			Set:   needs("through-timeout", flags.Parsed(&s.through.Timeout, parseTimeout)),
			Brief: "how long a program of --through may neither read nor write",
			Help: "with --through: how long a program may neither read nor write while its answer is waited for " +
				"(default 60s)"},
	)
}

func parseCommand(text string) (string, error) {
	if strings.TrimSpace(text) == "" {
		return "", errors.New("the command is empty")
	}
	return text, nil
}

func parseProcesses(text string) (n int, err error) {
	if _, err = fmt.Sscan(text, &n); err != nil || n < 1 || n > through.MaxProcesses {
		return 0, fmt.Errorf("it is a number from 1 to %d, not %q", through.MaxProcesses, text)
	}
	return n, nil
}

func parseTimeout(text string) (time.Duration, error) {
	ns, err := selection.ParseDuration(text)
	return time.Duration(ns), err
}

// sendThrough has a job send the topics of its selection through the program of --through.
func (e *env) sendThrough(job *convert.Job) error {
	pool := &e.set.through
	switch {
	case pool.Command == "":
		return nil
	case job.DryRun:
		return flags.Usage("omit one of them", "--dry-run reads a part of the input, and --through needs all of it")
	case e.set.verified != "":
		return flags.Usage("omit one of them", "--verify compares with the input, which --through changes")
	}
	pool.Stderr = e.Err
	job.Through = &convert.Through{Pool: pool}
	job.Through.Select.Topics, job.Through.Select.Types = job.Select.Topics, job.Select.Types
	job.Through.Select.MissingOK = job.Select.MissingOK
	job.Select.Topics, job.Select.Types = nil, nil
	if job.Threads == 0 && pool.Processes > runtime.NumCPU() {
		job.Threads = min(pool.Processes, convert.MaxThreads)
	}
	return nil
}
