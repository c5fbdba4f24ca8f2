//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// notifySnapshot has the signal that asks for a snapshot sent to a channel.
func notifySnapshot(c chan<- os.Signal) error {
	signal.Notify(c, syscall.SIGUSR1)
	return nil
}
