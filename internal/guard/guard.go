// Package guard is the one rule about which files a run may write, replace and remove.
//
// A run may write what does not exist yet, and change what it has made itself. It never
// touches these existing files:
//
//   - a file that it reads or will read: the file itself counts, not its name, so links,
//     parts, segments and folders lead to the same answer;
//   - a device, a pipe or a socket;
//   - anything but a recording, if a recording is written: a format must claim the
//     content, and a folder must hold the files of one recording and nothing else;
//   - anything but a file of the same kind, if a report is written.
//
// Output and Kind check before work begins. The file systems that Writer and Kind
// return check again at each operation, so that what changes meanwhile, or what an
// early check cannot foresee, is refused too. Nobody can check and replace in one step:
// a file that appears between the two is not protected.
//
// A Guard and its file systems are safe for concurrent use.
package guard

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A Guard has the files that a run reads, and the formats whose recordings it may replace.
type Guard struct {
	reads, fs storage.FS // of what is read, and of what is written
	formats   []*storage.Format

	mu    sync.Mutex
	kept  map[[2]uint64]string // paths, by iox.FileID
	other []keptFile           // that have no such id
	paths map[string]bool      // of both
}

// A keptFile is a file, or a folder that is a recording, which the run reads.
type keptFile struct {
	path string
	info os.FileInfo
}

// New returns a guard of a run that reads in one file system, writes in the other (nil: the operating system's), and
// may replace recordings of these formats.
func New(reads, writes storage.FS, formats ...*storage.Format) *Guard {
	return &Guard{reads: iox.FS(reads), fs: iox.FS(writes), formats: formats,
		kept: map[[2]uint64]string{}, paths: map[string]bool{}}
}

// ErrInput is wrapped by the Refusal of a file that the run reads, ErrFolder by the Refusal of
// a folder that cannot be replaced, but can hold an output.
var (
	ErrInput  = errors.New("it is an input")
	ErrFolder = errors.New("the folder stays")
)

// A Refusal is the error of a path that a run must leave alone. It wraps fs.ErrExist
// if only the wish to replace is missing.
type Refusal struct {
	Path string
	What string // what is there
	Hint string // what to do instead
	Err  error  // may be nil
}

func (r *Refusal) Error() string { return r.Path + ": " + r.What + "; " + r.Hint }

func (r *Refusal) Unwrap() error { return r.Err }

const otherOutput = "choose another output"

// Keep protects the files of the recording at path. If they cannot be listed, opening the
// recording reports the error.
func (g *Guard) Keep(f *storage.Format, path string) {
	files, err := f.FilesOf(g.reads, path)
	if err != nil {
		files.Messages = append(files.Messages, path)
	}
	for _, list := range [][]string{files.Folders, files.Messages, files.Beside} {
		for _, path := range list {
			g.keep(path)
		}
	}
}

// KeepFile protects the file at path.
func (g *Guard) KeepFile(path string) { g.keep(path) }

// keep protects what stands at path now.
func (g *Guard) keep(path string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.paths[path] {
		return
	}
	info, err := g.reads.Stat(path)
	if err != nil {
		return
	}
	g.paths[path] = true
	if id, ok := iox.FileID(info); !ok {
		g.other = append(g.other, keptFile{path, info})
	} else if g.kept[id] == "" {
		g.kept[id] = path
	}
}

// input returns the path under which the run reads a file, "" for none.
func (g *Guard) input(info os.FileInfo) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if id, ok := iox.FileID(info); ok {
		return g.kept[id]
	}
	for _, k := range g.other {
		if iox.SameFile(k.info, info) {
			return k.path
		}
	}
	return ""
}

// An Output is a recording that will be written.
type Output struct {
	Path      string
	Format    *storage.Format
	Name      string // of the input, for an example of a better output
	Segments  bool   // it may become several files whose stem is Path
	Overwrite bool
}

// Output checks where a recording will stand. replaces reports that something stands
// there that may be replaced: what Overwrite allows, or an empty folder.
func (g *Guard) Output(o Output) (replaces bool, err error) {
	if err := g.inside(o.Path); err != nil {
		return false, err
	}
	target, err := g.fs.Stat(o.Path)
	folder := err == nil && target.IsDir()
	if folder && !o.Format.Layout.Folder {
		return false, &Refusal{o.Path, fmt.Sprintf("it is a folder, and a %s is a file", o.Format.Name),
			"name a file in it: " + o.into(), syscall.EISDIR}
	}
	if err := g.replaceable(o.Path); err != nil {
		var r *Refusal
		if errors.As(err, &r) && errors.Is(err, ErrFolder) {
			r.Hint = "write into it: " + o.into()
		}
		return false, err
	}
	if whole := g.wholeOf(o.Path); whole != "" {
		return false, &Refusal{o.Path, "it is a part of the recording " + whole + ", which would be incomplete without it",
			otherOutput, nil}
	}
	format := o.Format
	if f := g.formatOf(o.Path); f != nil {
		format = f
	}
	old, _ := format.FilesOf(g.fs, o.Path)
	switch {
	case !folder && len(old.Beside) > 0:
		return false, &Refusal{o.Path, old.Beside[0] + " lies beside it and would be taken for a part of the output",
			"remove it, or choose another output", nil}
	case o.Segments:
		for _, path := range old.Messages {
			if err := g.replaceable(path); err != nil {
				return false, err
			}
		}
	case target == nil:
		old.Messages = nil // segments, which stay
	}
	st, err := iox.Lstat(g.fs, o.Path)
	switch {
	case err != nil && len(old.Messages) == 0:
		return false, nil
	case err == nil && st.IsDir() && g.isEmpty(o.Path):
		return true, nil
	case !o.Overwrite:
		what := "it exists already"
		if format := g.formatOf(o.Path); format != nil {
			what += " (" + format.Name + ")"
		}
		return false, &Refusal{o.Path, what, "choose another name", fs.ErrExist}
	}
	return true, nil
}

// into returns an example of an output in the folder at Path.
func (o *Output) into() string {
	name := filepath.Base(o.Name)
	name = strings.TrimSuffix(name, filepath.Ext(name))
	if name == "" || name == "." || name == ".." || os.IsPathSeparator(name[0]) {
		name = "NAME"
	}
	if o.Format.Layout.Folder || len(o.Format.Extensions) == 0 {
		return filepath.Join(o.Path, name) + string(filepath.Separator)
	}
	return filepath.Join(o.Path, name+o.Format.Extensions[0])
}

// Folder checks a folder into which files shall be written that are not recordings.
func (g *Guard) Folder(path string) error { return g.inside(filepath.Join(path, "file")) }

// inside refuses a path below a folder that is an input.
func (g *Guard) inside(path string) error {
	abs, err := iox.Abs(path)
	if err != nil {
		return err
	}
	for dir := filepath.Dir(abs); ; dir = filepath.Dir(dir) {
		if st, err := g.fs.Stat(dir); err == nil {
			if in := g.input(st); in != "" {
				return &Refusal{path, "it would lie inside the input folder " + in, otherOutput, ErrInput}
			}
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

// formatOf returns the format whose recording stands at path, nil for none.
func (g *Guard) formatOf(path string) *storage.Format {
	if _, err := g.fs.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil // no format has to look
	}
	for _, f := range g.formats {
		if f.Claims(g.fs, path) {
			return f
		}
	}
	return nil
}

// wholeOf returns the recording of several parts that the file at path is a part of, ""
// for other files.
func (g *Guard) wholeOf(path string) string {
	if st, err := iox.Lstat(g.fs, path); err != nil || st.IsDir() {
		return ""
	}
	dir := filepath.Dir(path)
	for _, f := range g.formats {
		if f.Layout.RecordingOf != nil {
			if name, _ := f.Layout.RecordingOf(g.fs, path); name != "" {
				return name
			}
		}
		if !f.Layout.Folder || !f.Claims(g.fs, dir) {
			continue
		}
		files, err := f.FilesOf(g.fs, dir)
		if err != nil || files.Guessed || !slices.Contains(files.Messages, filepath.Clean(path)) {
			continue
		}
		besideOthers := slices.ContainsFunc(files.Beside,
			func(p string) bool { return !strings.HasPrefix(p, filepath.Clean(path)) })
		if besideOthers || len(files.Messages) > 1 {
			return dir
		}
	}
	return ""
}

// unlessMissing returns nil for the error of a name under which nothing stands, and other
// errors as they are: then nobody knows what would be replaced.
func unlessMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	return err
}

func (g *Guard) isEmpty(dir string) bool {
	entries, err := g.fs.ReadDir(dir)
	return err == nil && len(entries) == 0
}

// replaceable returns nil when what stands at path may be replaced by a recording, or
// removed; also when nothing does. A link stands for what it points to.
func (g *Guard) replaceable(path string) error {
	if _, err := iox.Lstat(g.fs, path); err != nil {
		return unlessMissing(err)
	}
	st, err := g.fs.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &Refusal{path, "it is a link to something that is not there", "remove the link, or choose another output", nil}
	} else if err != nil {
		return err
	}
	if in := g.input(st); in != "" {
		what := "it is an input"
		if filepath.Clean(in) != filepath.Clean(path) {
			what = "it is a file of an input, " + in
		}
		return &Refusal{path, what, otherOutput, ErrInput}
	}
	switch {
	case st.IsDir():
		return g.replaceableFolder(path)
	case !st.Mode().IsRegular():
		return &Refusal{path, "it is " + irregular(st.Mode()), "choose a file for the output", iox.ErrNotRegular}
	case st.Size() == 0:
		return nil
	}
	if g.formatOf(path) != nil {
		return nil
	}
	return &Refusal{path, "it is not a recording, and only recordings are replaced",
		"choose another output, or remove it yourself", nil}
}

func irregular(m fs.FileMode) string {
	switch {
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// replaceableFolder allows an empty folder, and one that is exactly one recording.
func (g *Guard) replaceableFolder(dir string) error {
	base := filepath.Base(filepath.Clean(dir))
	switch {
	case base == "." || base == ".." || os.IsPathSeparator(base[0]):
		return &Refusal{dir, "this folder cannot be replaced", "write into it", ErrFolder}
	case isMount(dir):
		return &Refusal{dir, "a mount point cannot be replaced", "write into it", ErrFolder}
	}
	entries, err := g.fs.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		return nil
	}
	if in := g.inputIn(dir, false); in != "" {
		return &Refusal{dir, "it contains an input, " + in, otherOutput, ErrInput}
	}
	var stranger string
	for _, f := range g.formats {
		if !f.Layout.Folder || !f.Claims(g.fs, dir) {
			continue
		}
		if stranger = g.firstStranger(f, dir, entries); stranger == "" {
			return nil
		}
		break
	}
	if stranger == "" {
		stranger = entries[0].Name()
	}
	return &Refusal{dir, fmt.Sprintf("the folder contains more than a recording (%s)", stranger), "write into it",
		ErrFolder}
}

// inputIn returns the first input in a folder, and with deep also in the folders below it.
func (g *Guard) inputIn(dir string, deep bool) string {
	entries, err := g.fs.ReadDir(dir)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if st, err := g.fs.Stat(path); err == nil {
			if in := g.input(st); in != "" {
				return in
			}
		}
		if deep && e.IsDir() {
			if in := g.inputIn(path, deep); in != "" {
				return in
			}
		}
	}
	return ""
}

// leftover reports whether path is what a run that was killed has left, or lies in it,
// and this run does not read it.
func (g *Guard) leftover(path string) bool {
	for p := absolute(path); p != filepath.Dir(p); p = filepath.Dir(p) {
		if !iox.IsTemp(filepath.Base(p)) {
			continue
		}
		st, err := g.fs.Stat(path)
		return err != nil || g.input(st) == "" && g.inputIn(path, true) == ""
	}
	return false
}

// firstStranger returns the first entry of a recording's folder that does not belong to the
// recording, "" if all do.
func (g *Guard) firstStranger(f *storage.Format, dir string, entries []os.DirEntry) string {
	files, err := f.FilesOf(g.fs, dir)
	if err != nil {
		return entries[0].Name()
	}
	belongs := map[string]bool{}
	for _, path := range files.Folders {
		belongs[filepath.Clean(path)] = true
	}
	for _, path := range files.Beside {
		belongs[filepath.Clean(path)] = true
	}
	for _, path := range files.Messages {
		if filepath.Dir(path) != filepath.Clean(dir) {
			return filepath.Base(path) + ", which lies elsewhere"
		}
		belongs[filepath.Clean(path)] = f.Claims(g.fs, path)
	}
	if files.Guessed {
		return entries[0].Name()
	}
	return g.stranger(dir, entries, belongs)
}

// stranger returns the first entry of a folder that does not belong to a recording, also in folders that do; "" if all
// do.
func (g *Guard) stranger(dir string, entries []os.DirEntry, belongs map[string]bool) string {
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case belongs[path] && e.IsDir():
			below, err := g.fs.ReadDir(path)
			if err != nil {
				return e.Name()
			}
			if name := g.stranger(path, below, belongs); name != "" {
				return filepath.Join(e.Name(), name)
			}
		case !belongs[path] || !e.Type().IsRegular():
			return e.Name()
		}
	}
	return ""
}
