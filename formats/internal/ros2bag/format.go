package ros2bag

import (
	"strings"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// The names of the formats of recordings with these storages.
const (
	FormatSQLite = "db3"      // a folder, or a single file
	FormatMCAP   = "ros2mcap" // a folder
	FormatFile   = "mcap"     // a file of MCAP by itself
)

// formatNames are the names of the formats of folders by storage_identifier.
var formatNames = map[string]string{SQLite: FormatSQLite, MCAP: FormatMCAP}

// NewFormat completes the format of recordings with this storage by what all storages have in common.
func (s *Storage) NewFormat(f storage.Format) *storage.Format {
	f.Name = s.Format
	f.Holds.Metadata, f.Holds.QoS, f.Holds.ServiceText, f.Holds.Native = []string{"*"}, true, true, cdr
	f.Layout = storage.Layout{Folder: true, Files: s.Files, RecordingOf: s.Whole, Recordings: s.Recordings,
		Listing: &metadataListing, Stem: s.Stem, Identify: f.Layout.Identify}
	f.Shards, f.Choose = storage.Shards{Join: s.Join}, Choose
	if f.Sniff == nil {
		f.Sniff = s.Sniff
	}
	if f.Holds.TopicMetadata == nil {
		f.Holds.TopicMetadata = func(string) bool { return true }
	}
	return &f
}

// Sniff knows a folder by its metadata.yaml or the parts in it, and a part by how it begins, also
// within zstd. See storage.Format.
func (s *Storage) Sniff(fsys storage.FS, path string, head []byte) bool {
	if head != nil {
		return s.IsPart(iox.FS(fsys), path, head)
	}
	return s.IsFolder(iox.FS(fsys), path)
}

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
