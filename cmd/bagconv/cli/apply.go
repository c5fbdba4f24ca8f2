package cli

import (
	"context"
	"slices"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/internal/convert/recipe"
	"github.com/bagconv/bagconv/internal/remote"
)

// applyFlags applies the flags of the command, and reads the definitions that they and the environment name.
func (e *env) applyFlags(ctx context.Context, words []string) error {
	c := e.command
	for _, f := range c.Flags {
		if err := f.Apply(); err != nil {
			return err
		}
	}
	e.set.remote.Memory = e.set.job.MaxMemory / 4
	e.sayLocal(c, words)
	if err := e.setOtherKey(c); err != nil {
		return err
	}
	if c.Flag("defs") != nil {
		if err := e.readDefinitions(ctx); err != nil {
			return err
		}
	}
	if c.Flag("types-to") != nil {
		return e.readTarget(ctx)
	}
	return nil
}

// follow sets the flags of a command as a recipe has them, and applies them.
func (e *env) follow(ctx context.Context, command string, r *recipe.Recipe) error {
	e.command = flags.Named(e.commands(), command)
	for _, s := range slices.Concat(r.Settings, r.Run) {
		f := e.command.Flag(s.Name)
		if f == nil || partOf(f) == inNothing {
			return flags.Usage("make a new plan with this bagconv", "%s is no flag of a recipe",
				phrase.Clean(flags.Dashed(s.Name)))
		}
		text, err := remote.Name(s.Text())
		if err != nil {
			return err
		}
		if !f.Takes(text) {
			return flags.Usage("", "invalid value %q for --%s", phrase.Clean(text), f.Name)
		}
		f.Add(text)
	}
	return e.applyFlags(ctx, nil)
}
