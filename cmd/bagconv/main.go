// Command bagconv converts robot recordings. See package cli.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/bagconv/bagconv/cmd/bagconv/cli"
	"github.com/bagconv/bagconv/formats/all"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(cli.Run(ctx, os.Args, cli.System(), all.Registry()))
}
