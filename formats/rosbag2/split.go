package rosbag2

import (
	"context"
	"path/filepath"

	"github.com/bagconv/bagconv/storage"
)

// noteWhole says of a single file that it is one part of a recording, when the
// metadata.yaml beside it lists it among others.
func noteWhole(ctx context.Context, fsys storage.FS, path string, warn warner) error {
	dir := filepath.Dir(path)
	var l layout
	quiet := func(string, bool, string, ...any) error { return nil } // it is another recording's
	if err := l.readMetadata(ctx, fsys, dir, quiet); err != nil || l.meta == nil {
		return nil
	}
	for i, p := range l.meta.Paths {
		name := filepath.Base(filepath.FromSlash(p))
		if n := len(l.meta.Paths); n > 1 && (name == base(path) || name+extZstd == base(path)) {
			return warn("one-part", false, "this is part %d of %d of a recording; bagconv %s converts all of it", i+1, n, dir)
		}
	}
	return nil
}
