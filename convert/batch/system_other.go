//go:build !linux && !darwin

package batch

import "os"

// removeLast: an open file cannot be removed.
const removeLast = true

// freeSpace is not asked for on this system.
func freeSpace(string) (bytes int64, known bool) { return 0, false }

// lock does nothing on this system: two batches must not share a manifest.
func lock(*os.File) error { return nil }
