// Package all is the one list of the built-in formats, and opens a recording of
// any of them:
//
//	r, err := all.Open(ctx, "drive.bag", storage.ReadOptions{}) // or a rosbag2 folder, or a record
//
// The examples show what to do with it; docs/library.md explains more. A program that wants fewer
// formats, or more, makes its own list with storage.NewRegistry; a program that does not import
// this package has no SQLite and no stores in it.
//
// All functions may be called concurrently.
package all

import (
	"context"

	"github.com/bagconv/bagconv/formats/cyber"
	"github.com/bagconv/bagconv/formats/mcap"
	"github.com/bagconv/bagconv/formats/rosbag1"
	"github.com/bagconv/bagconv/formats/rosbag2"
	"github.com/bagconv/bagconv/formats/ulog"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/urls"
)

// Registry returns the built-in formats, in the order in which a recording is
// shown to them, for names that are paths or URLs. Each call returns a new list of the same formats.
func Registry() *storage.Registry {
	return storage.NewRegistry(rosbag1.Format, cyber.Format, rosbag2.Format, mcap.Format, mcap.Folder,
		ulog.Format).With(urls.Locate)
}

// Open opens the recording at a path or URL for reading, whatever its format: a file, a rosbag2
// folder, or the folder or common stem of the segments of a record. The format is found by content,
// never by the name. If no format claims it, the error wraps storage.ErrUnknownFormat. For URLs see
// package urls, and docs/remote.md.
func Open(ctx context.Context, path string, o storage.ReadOptions) (*storage.Recording, error) {
	return Registry().Open(ctx, path, o)
}
