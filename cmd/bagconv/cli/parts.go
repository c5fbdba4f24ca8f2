package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/internal/convert/batch"
	"github.com/bagconv/bagconv/internal/nearest"
)

// joinParts puts the name of a recording in the place of all its parts, if all of
// them are named: a glob of segments means what they are segments of. Other words
// stay.
func (e *env) joinParts(words []string) []string {
	named := map[string]bool{}
	for _, w := range words {
		named[filepath.Clean(w)] = true
	}
	var out []string
	for _, w := range words {
		whole, parts := e.wholeOf(w)
		if whole == "" || slices.ContainsFunc(parts, func(p string) bool { return !named[p] }) {
			whole = w
		}
		if whole == w || !slices.Contains(out, whole) {
			out = append(out, whole)
		}
	}
	return out
}

// wholeOf returns the name of the recording of which a file is a part, and its
// parts; "" for other words.
func (e *env) wholeOf(word string) (whole string, parts []string) {
	f, err := e.formats.DetectIn(e.fs, word)
	if err != nil || f.Layout.RecordingOf == nil {
		return "", nil
	}
	return f.Layout.RecordingOf(e.fs, filepath.Clean(word))
}

// severalInputs returns the error for a command that takes one input.
func (e *env) severalInputs(words []string, out string) error {
	whole, parts := e.wholeOf(words[0])
	same := func(w string) bool { name, _ := e.wholeOf(w); return name == whole }
	if whole != "" && !slices.ContainsFunc(words, func(w string) bool { return !same(w) }) {
		return flags.Usage(fmt.Sprintf("%s is the whole recording; bagconv merge joins only these parts",
			phrase.Clean(whole)),
			"%d of the %d parts of one recording are on the line", len(words), len(parts))
	}
	return flags.Usage("to join them: bagconv merge; to convert each: bagconv batch -O DIR/",
		"%d inputs (%s) but one output, %s", len(words), phrase.Clean(nearest.Some(words, 3)), phrase.Clean(out))
}

// isMany reports whether words mean several recordings: that is so of a folder with several in it.
func (e *env) isMany(words []string) bool {
	if words = e.joinParts(words); len(words) != 1 {
		return len(words) > 1
	}
	st, err := e.fs.Stat(words[0])
	if err != nil {
		return strings.ContainsAny(words[0], "*?[")
	}
	if !st.IsDir() {
		return false
	}
	if _, err := e.formats.DetectIn(e.fs, words[0]); err != nil {
		return true
	}
	found, err := (&batch.Finder{FS: e.fs, Formats: e.formats, Detect: e.detect}).Find(words)
	return err == nil && len(found.Inputs) > 1
}
