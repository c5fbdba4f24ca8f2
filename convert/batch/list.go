package batch

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

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
	others  int // files that are no recordings
}

// A group is a recording in one file or several.
type group struct {
	*Input
	parts []string // files that make the recording when all are there
}

// describes is the file that makes a folder one rosbag2 recording, whatever its
// files are called.
const describes = "metadata.yaml"

// list finds the recordings in a folder. These files are one:
//
//	metadata.yaml and what it describes     the folder; files of other formats
//	                                        beside them are recordings of their own
//	x_0.db3 x_1.db3 x_2.db3, or 0_x 1_x     the folder, where nothing describes it
//	x.record.00000 x.record.00001 ...       the stem x.record
//
// Names that begin with a dot are left out.
func (f *Finder) list(dir string) (*listing, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	l := &listing{}
	var files []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if strings.HasPrefix(e.Name(), ".") || besideDatabase(path) {
			continue
		}
		st, err := os.Stat(path)
		switch {
		case err != nil: // a link to nowhere
			l.others++
		case st.IsDir() && e.Type()&os.ModeSymlink != 0:
			l.links = append(l.links, path)
		case st.IsDir():
			l.folders = append(l.folders, path)
		case st.Mode().IsRegular():
			files = append(files, path)
		default:
			l.others++
		}
	}
	if format := f.folderFormat(dir); format != nil {
		files = l.addFolder(f, dir, files, format)
	}
	l.whole = l.whole && len(l.folders) == 0
	files = l.addSegments(f, files)
	for _, path := range files {
		l.addFile(f, path)
	}
	l.whole = l.whole && len(l.inputs) == 1
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

// besideDatabase tells the files that SQLite keeps beside a database: they are
// no recordings. The log counts as a part of the one beside it.
func besideDatabase(path string) bool {
	for _, x := range []string{"-wal", "-shm"} {
		if name, is := strings.CutSuffix(path, x); is && exists(name) {
			return true
		}
	}
	return false
}

// folderFormat is the format whose recordings are folders that claims one.
func (f *Finder) folderFormat(dir string) *storage.Format {
	for _, format := range f.Formats.Formats() {
		if format.Folder && format.Sniff(dir, nil) {
			return format
		}
	}
	return nil
}

// numbered is the number that tells the parts of a recording apart.
var numbered = regexp.MustCompile(`^[0-9]+_|_[0-9]+$`)

// addFolder adds a folder as one recording where it is one, and returns the
// files that do not belong to it.
func (l *listing) addFolder(f *Finder, dir string, files []string, format *storage.Format) (rest []string) {
	var parts, own []string
	names := map[string]bool{}
	described := slices.Contains(files, filepath.Join(dir, describes))
	for _, path := range files {
		name := trimStored(filepath.Base(path))
		ext := filepath.Ext(name)
		switch {
		case slices.Contains(format.Extensions, ext), described && ext == ".mcap":
			parts = append(parts, path)
			names[numbered.ReplaceAllString(strings.TrimSuffix(name, ext), "")] = true
		case described && filepath.Base(path) == describes:
			own = append(own, path)
		default:
			rest = append(rest, path)
		}
	}
	if !described && (len(parts) < 2 || len(names) > 1) {
		return files
	}
	for _, path := range parts {
		own = append(own, withWAL(path)...)
	}
	slices.Sort(own)
	l.inputs = append(l.inputs, group{&Input{Path: dir, Format: format, Files: own}, parts})
	l.whole = true
	return rest
}

// addSegments adds the segments of records, and returns the other files.
func (l *listing) addSegments(f *Finder, files []string) (rest []string) {
	segments := map[string][]string{}
	for _, path := range files {
		if s := path[:len(path)-len(segment.FindString(path))]; s != path && !exists(s) {
			segments[s] = append(segments[s], path)
		}
	}
	for stem, parts := range segments {
		format, err := f.Formats.Detect(stem)
		if err != nil {
			delete(segments, stem)
			continue
		}
		l.inputs = append(l.inputs, group{&Input{Path: stem, Format: format, Files: parts}, parts})
	}
	for _, path := range files {
		if segments[path[:len(path)-len(segment.FindString(path))]] == nil {
			rest = append(rest, path)
		}
	}
	return rest
}

// addFile adds a file that is a recording, or has the name of one.
func (l *listing) addFile(f *Finder, path string) {
	format, err := f.Formats.Detect(path)
	looks := f.looksLike(filepath.Base(path))
	if err != nil && looks {
		format, err = f.Detect(path) // the line may tell the format
	}
	switch {
	case err == nil:
		l.inputs = append(l.inputs, group{&Input{Path: path, Format: format, Files: withWAL(path)}, []string{path}})
	case !looks:
		l.others++
	default:
		l.inputs = append(l.inputs, group{&Input{Path: path, Err: err, Files: []string{path}}, []string{path}})
	}
}
