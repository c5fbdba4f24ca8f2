//go:build !linux

package guard

// isMount reports whether something is mounted at a folder. That is not known on
// this system; moving such a folder then fails.
func isMount(string) bool { return false }
