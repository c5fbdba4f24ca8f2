package rosbag2

import (
	"context"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// partNumber is what tells the parts of one recording apart: <folder>_<n>.db3, and
// since Lyrical <n>_<folder>.db3.
var partNumber = regexp.MustCompile(`^[0-9]+_|_[0-9]+$`)

// files lists metadata.yaml and the parts that it lists, or all databases of a folder
// without one, each with the log or journal beside it. See storage.Format.
func files(fsys storage.FS, path string) (f storage.Files, err error) {
	fsys = iox.FS(fsys)
	l, err := findParts(context.Background(), fsys, path, func(string, bool, string, ...any) error { return nil })
	if err != nil {
		f.Beside = beside(fsys, path) // of a database that is gone
		return f, err
	}
	f.Messages = l.parts
	if l.folder {
		f.Folders = []string{path}
	}
	if l.meta != nil {
		f.Beside = append(f.Beside, filepath.Join(path, metadataName))
	}
	names := map[string]bool{}
	for _, p := range l.parts {
		f.Beside = append(f.Beside, beside(fsys, p)...)
		name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(p), extZstd), extDB)
		names[partNumber.ReplaceAllString(name, "")] = true
	}
	f.Guessed = len(names) > 1 && (l.meta == nil || len(l.meta.Paths) == 0)
	return f, nil
}

// beside lists the files that SQLite keeps beside a database.
func beside(fsys storage.FS, path string) (list []string) {
	for _, suffix := range []string{"-wal", "-journal"} {
		if regular(fsys, path+suffix) {
			list = append(list, path+suffix)
		}
	}
	return list
}
