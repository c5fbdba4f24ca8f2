package batch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A listing is one folder, without what lies in folders below.
type listing struct {
	inputs  []group
	byName  map[string]group // by path
	byPart  map[string]group // by path of a part
	whole   bool             // the folder is one recording, and nothing else is in it
	folders []string
	links   []string
	others  int // files that are not recordings
}

// A group is a recording in one file or several.
type group struct {
	*Input
	parts []string // files that make the recording when all are there
}

// list finds the recordings in a folder: recordings that the formats make of several files,
// and each other file by itself. Names that begin with a dot are left out.
func (f *Finder) list(dir string) (*listing, error) {
	entries, err := iox.FS(f.FS).ReadDir(dir)
	if err != nil {
		return nil, err
	}
	l := &listing{}
	var files []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		st, err := f.stat(path)
		switch {
		case err != nil: // a link to nowhere
			l.others++
		case st.IsDir() && e.Type()&os.ModeSymlink != 0:
			l.links = append(l.links, path)
		case st.IsDir():
			l.folders = append(l.folders, path)
		case st.Mode().IsRegular():
			files = append(files, e.Name())
		default:
			l.others++
		}
	}
	for _, format := range f.Formats.Formats() {
		var groups []storage.Group
		groups, files = format.GroupsOf(f.FS, dir, files)
		for _, g := range groups {
			l.addGroup(f.FS, dir, format, g)
		}
	}
	for _, name := range files {
		l.addFile(f, filepath.Join(dir, name))
	}
	l.whole = l.whole && len(l.folders) == 0 && len(l.inputs) == 1
	l.byName, l.byPart = map[string]group{}, map[string]group{}
	for _, g := range l.inputs {
		l.byName[g.Path] = g
		for _, part := range g.parts {
			l.byPart[part] = g
		}
	}
	slices.SortStableFunc(l.inputs, func(a, b group) int { return strings.Compare(a.Path, b.Path) })
	return l, nil
}

// addGroup adds the recording that a format makes of several files.
func (l *listing) addGroup(fsys storage.FS, dir string, format *storage.Format, g storage.Group) {
	paths := func(names []string) (list []string) {
		for _, name := range names {
			list = append(list, filepath.Join(dir, name))
		}
		return list
	}
	files := paths(slices.Concat(g.Parts, g.Beside))
	slices.Sort(files)
	l.inputs = append(l.inputs, group{&Input{FS: fsys, Path: filepath.Join(dir, g.Name), Format: format, Files: files},
		paths(g.Parts)})
	l.whole = l.whole || g.Name == ""
}

// addFile adds a file that is a recording, or has the name of a recording.
func (l *listing) addFile(f *Finder, path string) {
	format, err := f.Formats.DetectIn(f.FS, path)
	looks := f.looksLike(filepath.Base(path))
	if err != nil && looks {
		format, err = f.Detect(path) // the line may name the format
	}
	switch {
	case err == nil:
		l.inputs = append(l.inputs, group{&Input{FS: f.FS, Path: path, Format: format, Files: filesOf(f.FS, format, path)},
			[]string{path}})
	case !looks:
		l.others++
	default:
		l.inputs = append(l.inputs, group{&Input{FS: f.FS, Path: path, Err: err, Files: []string{path}}, []string{path}})
	}
}

// filesOf lists the files of a recording that is one file, with the files beside it.
func filesOf(fsys storage.FS, format *storage.Format, path string) []string {
	if format == nil {
		return []string{path}
	}
	files, err := format.FilesOf(fsys, path)
	if err != nil || len(files.Messages) == 0 {
		return []string{path}
	}
	return slices.Concat(files.Messages, files.Beside)
}
