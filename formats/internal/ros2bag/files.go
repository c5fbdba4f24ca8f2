package ros2bag

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// partNumber is what tells the parts of one recording apart: <folder>_<n>.db3.
var partNumber = regexp.MustCompile(`^[0-9]+_|_[0-9]+$`)

// timedPart is the name of a part since Lyrical: number, name, and the time at which the part begins.
// Source: ros2/rosbag2 rosbag2_cpp/src/rosbag2_cpp/writers/sequential_writer.cpp.
var timedPart = regexp.MustCompile(`^[0-9]+_(.*)_[0-9]{4}_[0-9]{2}_[0-9]{2}-[0-9]{2}_[0-9]{2}_[0-9]{2}$`)

// stemOf returns what the names of all parts of a recording share. name has no ending.
func stemOf(name string) string {
	if m := timedPart.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return partNumber.ReplaceAllString(name, "")
}

// Files lists metadata.yaml and the parts that it lists, or all parts in a folder without
// metadata.yaml, each with what is beside it. See storage.Format.
func (s *Storage) Files(fsys storage.FS, path string) (f storage.Files, err error) {
	fsys = iox.FS(fsys)
	l, err := s.Find(context.Background(), fsys, path, func(string, bool, string, ...any) error { return nil })
	if err != nil {
		f.Beside = s.beside(fsys, path) // of a part that is gone
		return f, err
	}
	f.Messages = l.Parts
	if l.Folder {
		f.Folders = []string{path}
	}
	if l.Meta != nil {
		f.Beside = append(f.Beside, filepath.Join(path, MetadataName))
	}
	names := map[string]bool{}
	for _, p := range l.Parts {
		f.Beside = append(f.Beside, s.beside(fsys, p)...)
		names[s.partStem(filepath.Base(p))] = true
	}
	f.Guessed = (len(names) > 1 || s.Alone && l.Folder && !names[baseOf(path)]) &&
		(l.Meta == nil || len(l.Meta.Paths) == 0)
	return f, nil
}

// beside lists the files that are beside a part.
func (s *Storage) beside(fsys storage.FS, path string) (list []string) {
	for _, suffix := range s.Beside {
		if regular(fsys, path+suffix) {
			list = append(list, path+suffix)
		}
	}
	return list
}

// Whole returns the folder that a part belongs to with others, and its parts; "" if there is no
// such folder. See storage.Format. It believes metadata.yaml. Without metadata.yaml the parts in a
// folder are one recording if their names differ in the number of the part alone.
func (s *Storage) Whole(fsys storage.FS, path string) (name string, parts []string) {
	path, fsys = filepath.Clean(path), iox.FS(fsys)
	dir := filepath.Dir(path)
	if s.Alone && s.partStem(filepath.Base(path)) != baseOf(dir) && !regular(fsys, filepath.Join(dir, MetadataName)) {
		return "", nil // without a look at all files of the folder
	}
	f, err := s.Files(fsys, dir)
	if err != nil || f.Guessed || len(f.Messages) < 2 || !slices.Contains(f.Messages, path) {
		return "", nil
	}
	return dir, f.Messages
}
