package ros2bag

import (
	"strings"

	"github.com/bagconv/bagconv/storage"
)

// The names of the formats of recordings with these storages.
const (
	FormatSQLite = "db3"      // a folder, or a single file
	FormatMCAP   = "ros2mcap" // a folder
	FormatFile   = "mcap"     // a file of MCAP by itself
)

// Choose returns the name of the format that writes an output. To users a rosbag2 folder is one
// thing, whose storage an option chooses, or the distribution that it is made for; and MCAP is one
// thing, in a file or in a folder. See storage.Format.
func Choose(format, name, path string, option func(name string) string) string {
	file := func(ext string) bool { return !storage.NamesFolder(path) && strings.HasSuffix(path, ext) }
	asked := option(storage.NameStorage)
	id := asked
	if id == "" && name != FormatSQLite && name != SQLite {
		if profile, known := FindProfile(option(storage.NameProfile)); known {
			id = profile.Storage
		}
	}
	if format == FormatFile && storage.NamesFolder(path) ||
		format == FormatSQLite && id == MCAP && !file(storages[SQLite]) {
		format = FormatMCAP
	}
	switch {
	case format != FormatMCAP:
	case asked == SQLite:
		return FormatSQLite
	case file(storages[MCAP]):
		return FormatFile
	}
	return format
}
