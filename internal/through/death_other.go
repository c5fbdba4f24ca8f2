//go:build !linux

package through

// ownThread does nothing: only Linux kills a process with the thread that has started it.
func ownThread() func() { return func() {} }
