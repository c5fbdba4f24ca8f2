package iox

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// schemes are what the names in stores begin with, before a colon and a separator.
var schemes = []string{"http", "https", "s3", "gs", "az"}

// IsURL reports whether a name is a name in a store: "s3://bucket/key", or what filepath.Clean makes
// of it, "s3:/bucket/key". So filepath.Join, Dir and Base work with such names.
func IsURL(name string) bool {
	scheme, rest, ok := strings.Cut(name, ":")
	if !ok || len(rest) < 2 || !os.IsPathSeparator(rest[0]) {
		return false
	}
	for _, s := range schemes {
		if s == scheme {
			return true
		}
	}
	return false
}

// Canonical returns the name that the file system uses for name as people write it: of a URL, with one
// slash after the scheme.
func Canonical(name string) string {
	scheme, rest, ok := strings.Cut(name, "://")
	if !ok || !IsURL(name) {
		return name
	}
	return scheme + ":" + string(filepath.Separator) + rest
}

// Names as the file system has them, in a text: with one slash, or with a mark, which stands for the secret part
// of a URL. See remote.Name.
var (
	cleaned = regexp.MustCompile(`\b(https?|s3|gs|az):[/\\]([^/\\\s])`)
	marks   = regexp.MustCompile(`[/\\]\?[0-9a-f]{16}\b`)
)

// ShowAll returns a text with the URLs in it as people write them, without marks.
func ShowAll(text string) string {
	if !strings.Contains(text, ":/") && !strings.Contains(text, `:\`) {
		return text
	}
	return marks.ReplaceAllString(cleaned.ReplaceAllString(text, "$1://$2"), "")
}
