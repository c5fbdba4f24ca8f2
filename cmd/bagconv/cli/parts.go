package cli

import (
	"fmt"
	"path/filepath"
	"slices"
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
	if err != nil || f.Whole == nil {
		return "", nil
	}
	return f.Whole(e.fs, filepath.Clean(word))
}

// severalInputs returns the error for a command that takes one input.
func (e *env) severalInputs(words []string, out string) error {
	whole, parts := e.wholeOf(words[0])
	same := func(w string) bool { name, _ := e.wholeOf(w); return name == whole }
	if whole != "" && !slices.ContainsFunc(words, func(w string) bool { return !same(w) }) {
		return usage(fmt.Sprintf("%s is the whole recording; bagconv merge joins only these parts", clean(whole)),
			"%d of the %d parts of one recording are on the line", len(words), len(parts))
	}
	return usage("to join them: bagconv merge; to convert each: bagconv batch -O DIR/", "%d inputs (%s) but one output, %s", len(words), clean(someOf(words)), clean(out))
}
