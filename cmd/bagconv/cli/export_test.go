package cli

import (
	"context"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/storage"
)

// oneMore is a flag that the table does not have. What it sets is painted.
func oneMore(painted *string) []flags.Flag {
	return []flags.Flag{{
		Name: "paint", Short: "P", Kind: flags.OneWord, Values: flags.Words("red", "blue"), Default: "red", Group: runGroup,
		On: writes + " import", Set: flags.Put(painted),
		Help: "colour of the chunks; red is the default",
	}}
}

// RunWithOneMore is Run with a flag more.
func RunWithOneMore(ctx context.Context, args []string, stdio Stdio, formats *storage.Registry) int {
	e := &env{Stdio: stdio, formats: formats, moreFlags: oneMore(new(string))}
	return e.main(ctx, args)
}
