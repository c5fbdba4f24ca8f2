package rosbag1

import "github.com/bagconv/bagconv/internal/warnings"

// hints are what to do about warnings, by their codes.
var hints = warnings.Hints{
	"unindexed":    "bagconv recover IN OUT writes a copy with an index",
	"encrypted":    "type --bag-key @FILE with a file that has its key, or make the secret key known to gpg",
	"unclosed":     "bagconv recover IN OUT writes a copy that is closed",
	"redefined":    "messages under this id may be of the other type; look at those topics",
	"index":        warnings.SoundCopy,
	"version-line": warnings.SoundCopy,
	"index-data":   warnings.SoundCopy,
	"record":       warnings.SoundCopy,
	"junk":         warnings.SoundCopy,
	"op":           warnings.SoundCopy,
	"gap":          warnings.SoundCopy,
	"chunk-header": warnings.SoundCopy,
	"compression":  warnings.SoundCopy,
	"connection":   warnings.SoundCopy,
	"count":        warnings.SoundCopy,
}
