package batch

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
)

// RemoveLeftovers removes what a killed run left of an output: the names that
// iox.Output works under, .NAME.XXXXXXXX.part beside it. It may be called only
// while the manifest is locked, for outputs that this batch alone writes.
func RemoveLeftovers(output string) error {
	dir, base := filepath.Split(output)
	if len(base) > 200 {
		base = base[:200]
	}
	pattern := regexp.MustCompile(`^\.` + regexp.QuoteMeta(base) + `\.[0-9a-f]{8}\.part(\..*|-.*)?$`)
	entries, err := os.ReadDir(filepath.Clean(dir))
	if os.IsNotExist(err) {
		return nil
	}
	for _, e := range entries {
		if pattern.MatchString(e.Name()) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return err
}
