package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/nearest"
)

// A failure is an error about a path, with the next step.
type failure struct {
	path, what, hint string
	err              error
}

func (e *failure) Error() string {
	s := phrase.Clean(e.path) + ": " + e.what
	if e.hint != "" {
		s += "; " + e.hint
	}
	return s
}

func (e *failure) Unwrap() error { return e.err }

// explain turns an error into one line: the cause and, if there is one, the
// next step.
func explain(err error) string {
	var pe *fs.PathError
	var own *failure
	var differs *differsError
	text := err.Error()
	switch {
	case errors.As(err, &differs):
		return phrase.Clean(differs.Error())
	case errors.As(err, &own):
		return own.Error()
	case errors.Is(err, context.Canceled):
		return "interrupted"
	case errors.Is(err, syscall.ENOSPC):
		if dir := tempFolder(err); dir != "" {
			text = dir + ": no space left on device"
		}
		text += "; make room, or choose an output on another disk"
	case errors.Is(err, fs.ErrPermission) && tempFolder(err) != "":
		text = tempFolder(err) + ": no permission to write in this folder; choose another output"
	case errors.Is(err, fs.ErrNotExist) && tempFolder(err) != "":
		text = tempFolder(err) + ": the folder does not exist; create it first"
	case errors.As(err, &pe):
		// "open drive: permission denied" -> "drive: permission denied"
		text = strings.Replace(text, pe.Error(), pe.Path+": "+pe.Err.Error(), 1)
	}
	return phrase.Clean(strings.ReplaceAll(staging.ReplaceAllString(text, "$1"), "\n", "; "))
}

// staging matches the part of a path that goes when an output gets its name.
var staging = regexp.MustCompile(`(^|[\s/\\])(?:\.[^/\\:]+\.[0-9a-f]{8}\.part[/\\]new[/\\])+`)

// tempFolder returns the folder of the unfinished output that an error is about,
// "" when it is about something else.
func tempFolder(err error) string {
	var pe *fs.PathError
	if !errors.As(err, &pe) {
		return ""
	}
	for path := pe.Path; ; {
		dir, base := filepath.Dir(path), filepath.Base(path)
		switch {
		case iox.IsTemp(base):
			return dir
		case dir == path:
			return ""
		}
		path = dir
	}
}

// foreignPages are words that somebody may look for in the help.
var foreignPages = flags.ByWord(map[string]string{
	"type: bagconv help selection": "time times topic topics type",
	"type: bagconv help messages":  "encoding encodings types mapping",
	"type: bagconv help exits":     "exit status losses loss",
	"type: bagconv help urls":      "url s3 network keys",
	"type: bagconv COMMAND --help": "flags flag options",
})

// suggestPath looks for a file of a similar name.
func (e *env) suggestPath(path string) string {
	if path == stream {
		return "this command does not read standard input; bagconv convert - OUT does"
	}
	dir, base := splitPath(path)
	entries, err := e.fs.ReadDir(dir)
	if err != nil || len(entries) > 10_000 {
		return ""
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return phrase.Clean(nearest.Meant(nearest.Word(base, names), ""))
}

// A differsError is the error of an output that differs from its input. Its exit status
// is 4.
type differsError struct{ path, what string }

func (e *differsError) Error() string {
	return fmt.Sprintf("%s: the output differs from the input and was removed: %s", phrase.Clean(e.path), e.what)
}
