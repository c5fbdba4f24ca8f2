// Command bagconv converts robot recordings. See package cli.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/bagconv/bagconv/cmd/bagconv/cli"
	"github.com/bagconv/bagconv/formats/all"
)

func main() {
	if os.Getenv("GOGC") == "" {
		collectLate()
	}
	log.SetOutput(io.Discard) // net/http has a line of its own for what a server sends unasked
	os.Exit(cli.Run(untilSignal(), os.Args, cli.System(), all.Registry()))
}

// untilSignal returns a context that ends with the first signal that asks the process
// to end. A second one ends the process at once.
func untilSignal() context.Context {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as it is under nohup
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	context.AfterFunc(ctx, stop)
	// Whoever reads our output is gone. More of these signals come while the run cleans
	// up, one for each write.
	ctx, cancel := context.WithCancelCause(ctx)
	closed := make(chan os.Signal, 1)
	signal.Notify(closed, syscall.SIGPIPE)
	go func() {
		<-closed
		cancel(cli.ErrNoReader)
	}()
	return ctx
}
