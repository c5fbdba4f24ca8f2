package cli

import (
	"context"

	"github.com/bagconv/bagconv/storage"
)

// oneMore is a flag that the table does not have. What it sets is painted.
func oneMore(painted *string) []flag {
	return []flag{{
		name: "paint", short: "P", kind: oneWord, values: words("red", "blue"), init: "red", group: runGroup, on: writeCommands, set: put(painted),
		help: "colour of the chunks; red is the default",
	}}
}

// RunWithOneMore is Run with a flag more.
func RunWithOneMore(ctx context.Context, args []string, stdio Stdio, formats *storage.Registry) int {
	e := &env{Stdio: stdio, formats: formats, moreFlags: oneMore(new(string))}
	return e.main(ctx, args)
}
