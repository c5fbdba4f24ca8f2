package cli

import (
	"slices"

	"github.com/urfave/cli/v2"
)

// readsNothing are the commands that have no recording as an input.
var readsNothing = []string{"formats", "completion", "version", "help"}

// readable gives a command that reads recordings the flag --from, and makes it heed
// it before it runs: detect takes that format for what no format claims.
func (e *env) readable(c *cli.Command) {
	if slices.Contains(readsNothing, c.Name) {
		return
	}
	var names []string
	for _, f := range e.formats.Formats() {
		names = append(names, f.Name)
	}
	c.Flags = append(c.Flags, &cli.StringFlag{Name: "from", Usage: "the format of an input whose content does not tell it: " + orList(names)})
	action := c.Action
	c.Action = func(ctx *cli.Context) error {
		if ctx.IsSet("from") {
			if err := oneOf("--from", ctx.String("from"), names...); err != nil {
				return err
			}
			e.from = e.formats.Lookup(ctx.String("from"))
		}
		return action(ctx)
	}
}
