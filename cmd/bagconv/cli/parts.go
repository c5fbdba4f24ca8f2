package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/internal/convert/batch"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/nearest"
	"github.com/bagconv/bagconv/storage"
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
	if strings.Contains(out, "==") {
		return flags.Usage("-t TOPIC selects topics, --where EXPRESSION messages by their fields",
			"%s is not a name of an output", phrase.Clean(out))
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

// recordingsIn lists the recordings in a folder: files, and folders in it that are one recording, but not what lies
// below those. It is nil for what is no folder, and for a folder that is a recording itself, also if all that is found
// are files of this recording. On a store, files are opened only if their names tell of several recordings.
func (e *env) recordingsIn(path string, format *storage.Format) (paths []string) {
	if st, err := e.fs.Stat(path); err != nil || !st.IsDir() {
		return nil
	}
	if iox.IsURL(path) && format != nil && !e.hasOthers(format, path) {
		return nil
	}
	finder := &batch.Finder{FS: e.fs, Formats: e.formats, Detect: e.detect, Flat: true}
	found, err := finder.Find([]string{path})
	if err != nil {
		return nil
	}
	whole, err := iox.Abs(path)
	for _, in := range found.Inputs {
		rel, wrong := filepath.Rel(whole, in.Path)
		if err != nil || wrong != nil || rel == "." {
			return nil
		}
		paths = append(paths, filepath.Join(path, rel))
	}
	if format != nil && e.partsOf(format, path, paths) {
		return nil
	}
	return paths
}

// partsOf reports whether all paths are files of the recording that a folder is.
func (e *env) partsOf(format *storage.Format, folder string, paths []string) bool {
	files, err := format.FilesOf(e.fs, folder)
	if err != nil {
		return false
	}
	of := map[string]bool{}
	for _, f := range files.Messages {
		of[filepath.Base(f)] = true
	}
	return !slices.ContainsFunc(paths, func(p string) bool { return !of[filepath.Base(p)] })
}

// hasOthers reports whether a folder that is a recording has files with names of recordings that are not its own.
func (e *env) hasOthers(format *storage.Format, folder string) bool {
	entries, err := e.fs.ReadDir(folder)
	if err != nil {
		return false
	}
	var paths []string
	for _, entry := range entries {
		if !entry.IsDir() && e.formats.Named(entry.Name()) != nil {
			paths = append(paths, filepath.Join(folder, entry.Name()))
		}
	}
	return !e.partsOf(format, folder, paths)
}

// eachIn puts the recordings in a folder in the place of the folder, for commands that read recordings one after the
// other.
func (e *env) eachIn(words []string) (paths []string) {
	for _, word := range words {
		format, err := e.formats.DetectIn(e.fs, word)
		in := e.recordingsIn(word, format)
		if len(in) == 0 || len(in) == 1 && err == nil {
			in = []string{word}
		}
		paths = append(paths, in...)
	}
	return paths
}

// detectOne is detect for a command that takes one recording: it refuses a folder with several recordings in it.
func (e *env) detectOne(path string) (*storage.Format, error) {
	format, err := e.detect(path)
	if err != nil {
		return nil, err
	}
	if in := e.recordingsIn(path, format); len(in) > 1 {
		return nil, &failure{path: path, what: fmt.Sprintf("a folder with %d recordings in it (%s)", len(in),
			phrase.Clean(nearest.Some(baseNames(in), 3))), err: storage.ErrUnsupported,
			hint: fmt.Sprintf("convert all: bagconv batch -O OUT/ %s; or name one: %s", phrase.Clean(path), phrase.Clean(in[0]))}
	}
	return format, nil
}

func baseNames(paths []string) (names []string) {
	for _, p := range paths {
		names = append(names, filepath.Base(p))
	}
	return names
}
