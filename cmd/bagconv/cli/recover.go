package cli

import (
	"slices"

	"github.com/urfave/cli/v2"
)

// recoverCommand writes a clean recording from a damaged one. It is a conversion
// that says what was saved and what is lost; readers salvage anyway.
func (e *env) recoverCommand() *cli.Command {
	var flags []cli.Flag
	for _, f := range slices.Concat(selectFlags(), editFlags(), e.outputFlags(), extraFlags(), e.runFlags()) {
		if f.Names()[0] != "strict" { // strict and recover contradict each other
			flags = append(flags, f)
		}
	}
	return &cli.Command{
		Name: "recover", Flags: flags,
		Action: func(c *cli.Context) error { return e.convert(c, conversion{salvage: true}) },
	}
}
