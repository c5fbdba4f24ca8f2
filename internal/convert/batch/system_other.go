//go:build !linux && !darwin

package batch

// removeLast: an open file cannot be removed.
const removeLast = true

// FreeSpace is not asked for on this system.
func FreeSpace(string) (bytes int64, known bool) { return 0, false }
