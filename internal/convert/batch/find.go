package batch

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// An Input is one recording, in one file or several.
type Input struct {
	FS      storage.FS      // that it lies in; nil: the operating system's
	Path    string          // absolute
	Name    string          // where it lies below the base, slashes, without its ending
	Format  *storage.Format // nil if Err is why it cannot be read
	Files   []string        // that it consists of
	Size    int64           // bytes, of all files
	ModTime time.Time       // of the newest file
	Err     error
}

// Found is the result of a Finder.
type Found struct {
	Inputs []*Input
	Others int      // files that are not recordings
	Links  []string // to folders, which are not followed
	Passed []string // folders of Finder.Skip that were met
}

// A Finder turns the words of a command line into inputs.
type Finder struct {
	FS      storage.FS // nil: the operating system's
	Formats *storage.Registry
	// as Registry.Detect; its errors are shown, and it may know formats that are not recognised by content
	Detect func(path string) (*storage.Format, error)
	// outputs mirror what lies below it; "": below each folder, or below the folder that all folders have in common if
	// names in them are equal; of files, below the folder that all files have in common
	Base   string
	Skip   []string // absolute paths of folders that are not looked into
	Flat   bool     // in folders, only what lies in them itself: files, and folders that are one recording
	result Found
	seen   map[string]bool
}

// Find returns the recordings that words name, in the order of the words, and
// within folders by name. A word is a file, a folder, the stem of segments, or a
// glob. Whatever cannot be read is an Input with an Err; the error is about a glob
// that cannot be understood. Each recording is there once.
func (f *Finder) Find(words []string) (*Found, error) {
	f.result, f.seen = Found{}, map[string]bool{}
	var files []*Input
	var dirs []string
	for _, word := range words {
		paths := []string{word}
		if _, err := iox.Lstat(f.FS, word); err != nil && strings.ContainsAny(word, "*?[") {
			matches, err := filepath.Glob(word)
			if err != nil {
				return nil, fmt.Errorf("%s: a glob that cannot be read: %w", word, err)
			}
			if len(matches) > 0 {
				paths = matches
			}
		}
		for _, p := range paths {
			abs, err := iox.Abs(p)
			if err != nil {
				return nil, err
			}
			if st, err := f.stat(abs); err == nil && st.IsDir() && !f.isWhole(abs) {
				dirs = append(dirs, abs)
			} else {
				files = append(files, &Input{FS: f.FS, Path: abs})
			}
		}
	}
	f.named(files)
	began := len(f.result.Inputs)
	owner := map[string]int{} // of a name: the folder
	equal := false
	for i, dir := range dirs {
		before := len(f.result.Inputs)
		f.walk(dir, cmp.Or(f.Base, dir))
		for _, in := range f.result.Inputs[before:] {
			other, named := owner[fold(in.Name)]
			equal = equal || named && other != i
			owner[fold(in.Name)] = i
		}
	}
	if equal && f.Base == "" {
		for _, in := range f.result.Inputs[began:] {
			in.Name = f.nameBelow(common(dirs), in)
		}
	}
	return &f.result, nil
}

func (f *Finder) stat(path string) (os.FileInfo, error) { return iox.FS(f.FS).Stat(path) }

// isWhole reports whether a folder is one recording.
func (f *Finder) isWhole(dir string) bool {
	l, err := f.list(dir)
	return err == nil && l.whole
}

// named adds what the line names. Files that belong together are one input.
func (f *Finder) named(files []*Input) {
	is := map[string]bool{}
	for _, in := range files {
		is[in.Path] = true
	}
	listed := map[string]*listing{}
	var inputs []*Input
	for _, in := range files {
		dir := filepath.Dir(in.Path)
		l, ok := listed[dir]
		if !ok {
			l, _ = f.list(dir) // what cannot be listed is an error when it is read
			listed[dir] = l
		}
		inputs = append(inputs, f.togetherWith(in, l, is))
	}
	base := f.Base
	if base == "" {
		var dirs []string
		for _, in := range inputs {
			dirs = append(dirs, filepath.Dir(in.Path))
		}
		base = common(dirs)
	}
	for _, in := range inputs {
		f.add(in, base)
	}
}

// togetherWith returns the recording that a named file is a part of, when all
// parts are named; else the file.
func (f *Finder) togetherWith(in *Input, l *listing, is map[string]bool) *Input {
	if l != nil {
		if g, ok := l.byName[in.Path]; ok { // the stem of segments, or a file
			return g.Input
		}
		if g, ok := l.byPart[in.Path]; ok && !slices.ContainsFunc(g.parts, func(p string) bool { return !is[p] }) {
			return g.Input
		}
	}
	if st, err := f.stat(in.Path); err == nil && st.IsDir() {
		if l, err := f.list(in.Path); err == nil && l.whole {
			return l.inputs[0].Input
		}
	}
	in.Format, in.Err = f.Detect(in.Path)
	in.Files = filesOf(in.FS, in.Format, in.Path)
	return in
}

// common returns the deepest folder that has all folders in it, or is one of them.
func common(dirs []string) string {
	base := ""
	for i, dir := range dirs {
		if i == 0 {
			base = dir
		}
		for !within(dir, base) {
			base = filepath.Dir(base)
		}
	}
	return base
}

func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// walk adds the recordings in a folder and below it.
func (f *Finder) walk(dir, base string) {
	if st, err := f.stat(dir); err == nil && slices.ContainsFunc(f.Skip, func(skip string) bool {
		other, err := f.stat(skip)
		return err == nil && iox.SameFile(st, other)
	}) {
		f.result.Passed = append(f.result.Passed, dir)
		return
	}
	l, err := f.list(dir)
	if err != nil {
		f.add(&Input{FS: f.FS, Path: dir, Err: err}, base)
		return
	}
	f.result.Others += l.others
	f.result.Links = append(f.result.Links, l.links...)
	for _, g := range l.inputs {
		f.add(g.Input, base)
	}
	for _, sub := range l.folders {
		if !f.Flat || f.isWhole(sub) {
			f.walk(sub, base)
		}
	}
}

// add adds an input once.
func (f *Finder) add(in *Input, base string) {
	if f.seen[in.Path] {
		return
	}
	f.seen[in.Path] = true
	in.measure()
	in.Name = f.nameBelow(base, in)
	f.result.Inputs = append(f.result.Inputs, in)
}

// nameBelow returns where an input lies below a folder, without its ending.
func (f *Finder) nameBelow(base string, in *Input) string {
	rel, err := filepath.Rel(base, in.Path)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		rel = filepath.Base(in.Path)
	}
	if in.Format == nil || !in.Format.Layout.Folder || len(in.Files) > 0 && in.Files[0] == in.Path {
		rel = f.stem(rel)
	}
	return filepath.ToSlash(rel)
}

// Measure finds the files of an input by its path and format, and their size and time.
func (in *Input) Measure() {
	in.Files = filesOf(in.FS, in.Format, in.Path)
	in.measure()
}

func (in *Input) measure() {
	in.Size, in.ModTime = 0, time.Time{}
	for _, path := range in.Files {
		if st, err := iox.FS(in.FS).Stat(path); err == nil {
			in.Size += st.Size()
			if st.ModTime().After(in.ModTime) {
				in.ModTime = st.ModTime()
			}
		}
	}
}

// stem returns a name without the ending of its format.
func (f *Finder) stem(name string) string {
	for _, format := range f.Formats.Known() {
		if s := format.StemOf(name); s != name {
			return s
		}
	}
	return name
}

// looksLike reports whether a file has the name of a recording. A format that is only written, such as Parquet, has no
// recordings.
func (f *Finder) looksLike(name string) bool {
	return slices.ContainsFunc(f.Formats.Known(), func(format *storage.Format) bool {
		return (format.Open != nil || format.Create == nil) && format.StemOf(name) != name
	})
}

// exists reports whether something stands under a name; an error is not proof of
// the contrary.
func exists(fsys storage.FS, path string) bool {
	_, err := iox.Lstat(fsys, path)
	return err == nil || !errors.Is(err, fs.ErrNotExist)
}
