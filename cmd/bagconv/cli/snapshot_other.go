//go:build !unix

package cli

import "os"

// notifySnapshot reports that the system has no signal for it.
func notifySnapshot(chan<- os.Signal) error {
	return usage("omit --snapshot", "this system has no signal USR1")
}
