// Package all is the one list of the built-in formats. A program that wants
// fewer makes its own with storage.NewRegistry.
package all

import (
	"github.com/bagconv/bagconv/formats/cyber"
	"github.com/bagconv/bagconv/formats/rosbag1"
	"github.com/bagconv/bagconv/formats/rosbag2"
	"github.com/bagconv/bagconv/storage"
)

// Registry returns the built-in formats, in the order in which a recording is
// shown to them. Each call returns a new list of the same formats.
func Registry() *storage.Registry {
	return storage.NewRegistry(rosbag1.Format, cyber.Format, rosbag2.Format)
}
