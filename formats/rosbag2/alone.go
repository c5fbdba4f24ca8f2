package rosbag2

import (
	"path/filepath"
	"slices"

	"github.com/bagconv/bagconv/storage"
)

// checkAlone tells of a database that was named itself that it is one of several.
func (r *Reader) checkAlone() error {
	name, parts := db3.Whole(r.fs, r.path)
	if name == "" {
		return nil
	}
	return r.warn(storage.CodeOnePart, false, r.path, "this is part %d of %d of one recording; all of it is read by the name %s",
		1+slices.Index(parts, filepath.Clean(r.path)), len(parts), name)
}
