package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
)

// The exit statuses, as every help text has them.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitLossy       = 3
	exitFindings    = 4
	exitSome        = 5  // batch: some inputs failed
	exitTransient   = 75 // work, collect: some tasks are not done, and may be
	exitInterrupted = 130
	exitNoReader    = 141 // standard output was closed, as by head: the status of a shell for SIGPIPE
)

// An outcome is the facts about the end of a command that decide its exit status. Several
// can be true.
type outcome struct {
	usage       bool // the line is wrong
	failed      bool
	interrupted bool
	transient   bool // some tasks may succeed if they are tried again
	some        bool // of several inputs failed
	findings    bool // what was asked about is not so: recordings differ, or are not sound
	lossy       bool // something is damaged, or not carried
}

// outcomeOf returns the outcome of a command that ended with an error, or nil.
func outcomeOf(err error) (o outcome) {
	var usage *flags.UsageError
	var differs *differsError
	switch {
	case err == nil:
	case errors.As(err, &differs):
		o.findings = true
	case errors.As(err, &usage):
		o.usage = true
	case errors.Is(err, context.Canceled):
		o.interrupted = true
	default:
		o.failed = true
	}
	return o
}

// status returns the exit status: the first of these that is true decides.
func (o outcome) status() int {
	switch {
	case o.usage:
		return exitUsage
	case o.failed:
		return exitFailed
	case o.interrupted:
		return exitInterrupted
	case o.transient:
		return exitTransient
	case o.some:
		return exitSome
	case o.findings:
		return exitFindings
	case o.lossy:
		return exitLossy
	}
	return exitOK
}

// word returns the status of a run in JSON.
func (o outcome) word() string {
	switch o.status() {
	case exitOK:
		return "ok"
	case exitLossy:
		return "lossy"
	case exitInterrupted:
		return "interrupted"
	}
	return "failed"
}

// end returns the error of a command that has already reported its outcome; nil for
// exitOK.
func (o outcome) end() error {
	if status := o.status(); status != exitOK {
		return exitStatus(status)
	}
	return nil
}

// exitStatus ends a command with a status and without a message.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }
