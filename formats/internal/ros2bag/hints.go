package ros2bag

import "github.com/bagconv/bagconv/internal/warnings"

// Hints are what to do about the warnings of a folder, and of its parts in any storage.
var Hints = warnings.Hints{
	"no-metadata":  "bagconv recover IN OUT writes a folder with metadata.yaml",
	"missing-part": "copy the missing file to where the others are",
	"part":         "copy the file again from where it was recorded",
	"journal":      "bagconv recover IN OUT writes a copy, with what was not committed as far as it is whole",
	"mcap":         "read them by themselves",
	"sqlite3":      "read them by themselves",
	"index":        warnings.SoundCopy,
	"version":      "a newer bagconv may know more of it",
	"compression":  warnings.SoundCopy,
	"count":        warnings.SoundCopy,
}
