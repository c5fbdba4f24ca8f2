package ulog

import "github.com/bagconv/bagconv/internal/warnings"

// hints are what to do about warnings, by their codes.
var hints = warnings.Hints{
	"dropout": "a faster card or fewer topics in the logger's profile (SDLOG_PROFILE) avoid them",
	"unknown": "a newer version of bagconv may know it",
}
