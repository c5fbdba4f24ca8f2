package live

import (
	"syscall"
	"time"
)

// briefly sleeps for a time of less than maxBrief, more exactly than a timer of the runtime, which waits
// for whole milliseconds.
func briefly(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&t, nil) // who wakes up too early sleeps again
}
