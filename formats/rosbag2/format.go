package rosbag2

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

const (
	formatName = "db3"
	encoding   = "cdr"
)

// maxRow is SQLite's limit for a row in a file that any reader can open
// (SQLITE_MAX_LENGTH as it is built everywhere).
const maxRow = 1000000000

// Format is the rosbag2 recording with SQLite storage.
var Format = &storage.Format{
	Name:         formatName,
	Help:         "rosbag2 folder or file, SQLite storage",
	Aliases:      []string{"rosbag2", "ros2", "sqlite3"},
	Metadata:     []string{"*"},
	Folder:       true,
	Extensions:   []string{extDB},
	Accepts:      []string{encoding},
	Compressions: []string{"none"},
	Profiles:     profileNames(),
	SegmentNames: segmentNames,
	MaxMessage:   maxRow - rowOverhead,
	Sniff:        sniff,
	Open:         Open,
	Files:        files,
	Whole:        wholeOf,
	Create:       Create,
}

// sniff knows a folder by its metadata.yaml or the databases in it, and a file
// by SQLite's first line, also within zstd. A rosbag2 folder with MCAP storage
// is ours too, so that it is refused by name.
func sniff(path string, head []byte) bool {
	if head != nil {
		return isSQLite(head, func() (io.ReadCloser, error) { return os.Open(path) })
	}
	if f, err := iox.OS.Open(filepath.Join(path, metadataName)); err == nil {
		defer f.Close()
		b, err := io.ReadAll(io.LimitReader(f, 64<<10))
		if err == nil && strings.Contains(string(b), metadataKey) {
			return true
		}
	}
	entries, err := os.ReadDir(path)
	return err == nil && len(listParts(iox.OS, path, entries)) > 0
}

func base(path string) string { return filepath.Base(path) }
