package ros2bag

import "github.com/bagconv/bagconv/internal/warnings"

// hintTexts are what to do about the warnings of a folder, and of its parts in any storage.
var hintTexts = warnings.Hints{
	"no-metadata":   "bagconv recover IN OUT writes a folder with metadata.yaml",
	"missing-part":  "copy the missing file to the others",
	"part":          "copy the file again from where it was recorded",
	"append-killed": "the next bagconv append or reindex undoes what it has left",
	"journal":       "bagconv recover IN OUT writes a copy, including complete messages that were not committed",
	"mcap":          "read them separately",
	"sqlite3":       "read them separately",
	"index":         warnings.SoundCopy,
	"version":       "a newer bagconv may read more of it",
	"compression":   warnings.SoundCopy,
	"count":         warnings.SoundCopy,
}
