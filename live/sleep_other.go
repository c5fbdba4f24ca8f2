//go:build !linux

package live

import "time"

// briefly sleeps for a time of less than maxBrief.
func briefly(d time.Duration) { time.Sleep(d) }
