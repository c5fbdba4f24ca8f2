package cyber

import "github.com/bagconv/bagconv/internal/warnings"

// hints are what to do about warnings, by their codes.
var hints = warnings.Hints{
	"no-index":     "bagconv recover IN OUT writes a copy with an index",
	"index-wrong":  "bagconv recover IN OUT writes a copy with a right index",
	"header-wrong": "bagconv recover IN OUT writes a copy with a right header",
	"incomplete":   "bagconv recover IN OUT writes a copy that is closed; what never came to the file is lost",
	"overlap":      "bagconv recover IN OUT writes a copy in the order of time",
	"missing-part": "copy the missing file to where the others are",
	"part":         "copy the file again from where it was recorded",
	"count":        warnings.SoundCopy,
}
