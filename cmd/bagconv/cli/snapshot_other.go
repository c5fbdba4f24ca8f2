//go:build !unix

package cli

import (
	"os"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
)

// notifySnapshot reports that the system has no signal for it.
func notifySnapshot(chan<- os.Signal) error {
	return flags.Usage("omit --snapshot", "this system has no signal USR1")
}
