// Package files is what the author of a format needs to read and write files as the built-in formats do.
//
//	out, err := files.NewOutput(o.FS, path, o.Overwrite, !o.NoSync) // storage.WriteOptions
//	f, err := files.FS(o.FS).OpenFile(out.Temp(), ...)              // what is made there
//	err = out.Commit()                                              // has the name path; or out.Abort()
//
// An output does not exist under its name until it is whole, also if the process is killed: what is left then is
// removed by the next run (convert.CleanUp). docs/adding-a-format.md has the rules. Functions may be called
// concurrently; an Output belongs to one goroutine.
package files

import (
	"io"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// An Output is a file or folder in the making. Temp is where it is made, Commit gives it its name, and Abort removes it
// if that was not done.
type Output = iox.Output

// NewOutput begins an output that will stand at path, which the caller makes as a file or a folder at Temp. The error
// wraps fs.ErrExist if something stands there, unless overwrite is set. sync waits for the disk.
func NewOutput(fsys storage.FS, path string, overwrite, sync bool) (*Output, error) {
	return iox.NewOutput(fsys, path, overwrite, sync)
}

// FS returns fsys, or the operating system's file system for nil, as in ReadOptions and WriteOptions.
func FS(fsys storage.FS) storage.FS { return iox.FS(fsys) }

// Sync is f.Sync, but that a file system which does not sync is no error.
func Sync(f storage.File) error { return iox.Sync(f) }

// ReadFull reads exactly len(p) bytes at an offset. If the file ends before them, the error wraps storage.ErrTruncated.
func ReadFull(r io.ReaderAt, p []byte, offset int64) error { return iox.ReadFull(r, p, offset) }
