package storage

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// The sentinels that errors of formats wrap; test with errors.Is.
var (
	ErrCorrupt       = errors.New("corrupt")                                  // the bytes contradict the format
	ErrTruncated     = fmt.Errorf("truncated (%w)", io.ErrUnexpectedEOF)      // the file ends too early
	ErrUnsupported   = errors.New("not supported")                            // sound, but not for us
	ErrIndex         = errors.New("the index contradicts the data")           // see IndexUse
	ErrKey           = errors.New("no matching key")                          // encrypted, and the key is missing or wrong
	ErrContradicts   = errors.New("it contradicts the recording")             // see Topic.Continues
	ErrLocked        = errors.New("another process has locked it")            // see Format.AppendTo
	ErrUnknownFormat = errors.New("not a recording of any format known here") // see Registry.Detect
)

// An Error is a problem at a place in a recording.
type Error struct {
	Format string // Format.Name
	Path   string
	Offset int64  // byte offset in the file, or -1
	What   string // what was being read or written, and what is wrong with it: "chunk: size 12 is over the file's end"
	Hint   string // what to do next; may be empty
	Err    error  // the cause; wraps one of the sentinels if one fits
}

// Error returns "path: format: what at byte N: cause; hint".
func (e *Error) Error() string {
	var b strings.Builder
	if e.Path != "" {
		b.WriteString(e.Path + ": ")
	}
	if e.Format != "" {
		b.WriteString(e.Format + ": ")
	}
	b.WriteString(e.What)
	if e.Offset >= 0 {
		fmt.Fprintf(&b, " at byte %d", e.Offset)
	}
	if e.Err != nil {
		if e.What != "" {
			b.WriteString(": ")
		}
		b.WriteString(e.Err.Error())
	}
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// IsDamage reports whether an error is about the content of a file. It is false for an error of the
// system, and for a run that was stopped.
func IsDamage(err error) bool {
	return errors.Is(err, ErrCorrupt) || errors.Is(err, ErrTruncated) || errors.Is(err, ErrUnsupported)
}
