package mcap

import "github.com/bagconv/bagconv/internal/warnings"

// hints are what to do about warnings, by their codes.
var hints = warnings.Hints{
	"unclosed":         "bagconv recover IN OUT writes a copy that is closed",
	"redefined":        "messages of this channel may be of the other topic; look at both",
	"magic":            warnings.SoundCopy,
	"summary":          warnings.SoundCopy,
	"statistics":       warnings.SoundCopy,
	"chunk-index":      warnings.SoundCopy,
	"message-index":    warnings.SoundCopy,
	"attachment-index": warnings.SoundCopy,
	"metadata-index":   warnings.SoundCopy,
	"chunk-header":     warnings.SoundCopy,
	"chunk-size":       warnings.SoundCopy,
	"compression":      warnings.SoundCopy,
	"gap":              warnings.SoundCopy,
	"record":           warnings.SoundCopy,
	"nested-chunk":     warnings.SoundCopy,
	"trailing":         warnings.SoundCopy,
	"zero-tail":        warnings.SoundCopy,
	"second-file":      warnings.SoundCopy,
	"schema-missing":   warnings.SoundCopy,
	"utf8":             warnings.SoundCopy,
	"repeated-key":     warnings.SoundCopy,
}
