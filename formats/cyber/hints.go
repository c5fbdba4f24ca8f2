package cyber

import "github.com/bagconv/bagconv/internal/warnings"

// hints are what to do about warnings, by their codes.
var hints = warnings.Hints{
	"no-index":     "bagconv recover IN OUT writes a copy with an index",
	"index-wrong":  "bagconv recover IN OUT writes a copy with a correct index",
	"header-wrong": "bagconv recover IN OUT writes a copy with a correct header",
	"incomplete":   "bagconv recover IN OUT writes a complete copy; messages that never reached the file are lost",
	"early-index":  "bagconv append finishes what was interrupted; bagconv recover IN OUT writes a copy",
	"contested":    "bagconv recover IN OUT writes a copy in which both agree",
	"overlap":      "bagconv recover IN OUT writes a copy in time order",
	"missing-part": "copy the missing file to the others",
	"part":         "copy the file again from where it was recorded",
	"count":        warnings.SoundCopy,
}
