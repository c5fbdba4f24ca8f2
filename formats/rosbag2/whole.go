package rosbag2

import (
	"path/filepath"
	"slices"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// wholeOf tells of which recording a database is a part. See storage.Format: its
// name is that of the folder.
func wholeOf(path string) (name string, parts []string) { return wholeIn(iox.OS, path) }

// wholeIn believes metadata.yaml. Without one the databases of a folder are one
// recording if their names differ in the number of the part alone.
func wholeIn(fsys storage.FS, path string) (name string, parts []string) {
	path = filepath.Clean(path)
	dir := filepath.Dir(path)
	f, err := files(fsys, dir)
	if err != nil || f.Guessed || len(f.Messages) < 2 || !slices.Contains(f.Messages, path) {
		return "", nil
	}
	return dir, f.Messages
}

// checkAlone tells of a database that was named itself that it is one of several.
func (r *Reader) checkAlone() error {
	name, parts := wholeIn(r.fs, r.path)
	if name == "" {
		return nil
	}
	return r.warn("one-part", false, r.path, "this is part %d of %d of one recording; all of it is read by the name %s",
		1+slices.Index(parts, filepath.Clean(r.path)), len(parts), name)
}
