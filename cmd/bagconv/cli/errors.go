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
	"unicode"

	"github.com/bagconv/bagconv/internal/identify"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A usageError is an error of the command line. Its
// exit status is 2.
type usageError struct{ what, hint string }

func (e *usageError) Error() string {
	if e.hint == "" {
		return e.what
	}
	return e.what + "; " + e.hint
}

// usage makes a usageError: the next step, then what is wrong.
func usage(hint, what string, a ...any) error {
	return &usageError{what: fmt.Sprintf(what, a...), hint: hint}
}

// A failure is an error about a path, with the next step.
type failure struct {
	path, what, hint string
	err              error
}

func (e *failure) Error() string {
	s := clean(e.path) + ": " + e.what
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
		return clean(differs.Error())
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
	return clean(strings.ReplaceAll(staging.ReplaceAllString(text, "$1"), "\n", "; "))
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

// detect finds the format of a recording: that of its content, else that of --from.
// The error explains what stands at the path if that is not a recording.
func (e *env) detect(path string) (*storage.Format, error) {
	f, err := e.formats.DetectIn(e.fs, path)
	if err == nil {
		return f, nil
	}
	if e.from != nil && errors.Is(err, storage.ErrUnknownFormat) {
		return e.from, nil
	}
	found := identify.Path(e.fs, path, e.formats)
	fail := &failure{path: path, what: found.What, hint: found.Hint, err: err}
	if errors.Is(err, fs.ErrNotExist) && fail.hint == "" {
		fail.hint = e.suggestPath(path)
	}
	if fail.hint == "" && errors.Is(err, storage.ErrUnknownFormat) {
		fail.hint = "bagconv formats lists what can be read"
	}
	return nil, fail
}

// mistypedVerb returns an error if the first word of a line is neither a command nor a
// recording.
func (e *env) mistypedVerb(word string) error {
	if word == "" || strings.ContainsAny(word, `./\`) {
		return nil
	}
	var names []string
	for _, c := range e.commands() {
		names = append(names, c.name)
		if c.alias != "" {
			names = append(names, c.alias)
		}
	}
	if _, err := e.fs.Stat(word); err == nil {
		return nil
	}
	if _, err := e.formats.DetectIn(e.fs, word); err == nil { // what several files begin with
		return nil
	}
	if near := nearest(word, names); near != "" {
		return usage("did you mean "+near+"?", "%q is neither a command nor a recording", word)
	}
	if instead := foreignVerbs[word]; instead != "" {
		return usage(instead, "unknown command %q", word)
	}
	hint := e.suggestPath(word)
	if hint == "" {
		hint = "see: bagconv help"
	}
	return &failure{path: word, what: "no such file, folder or command", hint: hint, err: fs.ErrNotExist}
}

// foreignVerbs are commands of other programs, with the command that does the same here.
var foreignVerbs = map[string]string{
	"echo": "bagconv cat prints messages", "export": "bagconv cat --format csv prints messages", "dump": "bagconv cat prints messages",
	"print": "bagconv cat prints messages", "ls": "bagconv topics lists topics",
	"get": "bagconv list attachments IN --extract DIR writes attachments", "add": "type: bagconv IN OUT --attach FILE",
	"show": "bagconv info describes a recording", "stat": "bagconv info describes a recording",
	"fix": "bagconv recover writes what can be read", "repair": "bagconv recover writes what can be read",
	"compress": "type: bagconv IN OUT --compression lz4", "decompress": "type: bagconv IN OUT --compression none",
	"sort": "every conversion sorts by time: bagconv IN OUT", "cut": "type: bagconv filter IN OUT -S 10 -u 60",
	"compare": "bagconv verify compares two recordings",
}

// suggestPath looks for a file of a similar name.
func (e *env) suggestPath(path string) string {
	if path == "-" {
		return "standard input cannot be read: bagconv reads a recording at several places at once"
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
	if near := nearest(base, names); near != "" {
		return "did you mean " + near + "?"
	}
	return ""
}

// clean makes text from files safe for a terminal: control characters, and invisible
// characters that change the order of others, become escapes. URLs are shown without what is
// secret in them.
func clean(s string) string {
	s = iox.ShowAll(s)
	safe := func(r rune) bool {
		return r >= ' ' && r < 0x7f || r >= 0xa0 && !unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
	}
	if !strings.ContainsFunc(s, func(r rune) bool { return !safe(r) || r == 0xfffd }) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == 0xfffd && s[i] != 0xef:
			fmt.Fprintf(&b, `\x%02x`, s[i]) // not UTF-8
		case safe(r):
			b.WriteRune(r)
		case r > 0xff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\x%02x`, r)
		}
	}
	return b.String()
}
