package cli

import (
	"context"
	"slices"

	"github.com/urfave/cli/v2"
)

// A command is an entry of the table of commands: its line, the parts of its help besides
// the flags, and what it does.
type command struct {
	name, alias string
	call        string   // words after "bagconv", as the list of commands has them
	summary     string   // what it does, in the list of commands
	about       string   // paragraphs; see page.text
	note        string   // the same, after the flags
	examples    []string // lines
	exits       []exit   // usageStatus is added
	operands    []flag   // what its words are, for completion; the last one stands for those after it; nil: files
	run         func(*cli.Context) error

	flags []*flag // that it takes, in the order of the help
}

// An exit is an exit status of a command, and when it ends so.
type exit struct {
	status int
	when   string
}

// usageStatus is an exit status of all commands.
var usageStatus = exit{2, "the command line is wrong"}

// defaultCommand is what a line without a command means.
const defaultCommand = "convert"

// commands returns the commands, in the order of the help.
func (e *env) commands() []*command {
	list := slices.Concat(e.conversions(), e.rearrangements(), e.additions(), e.recordings(), e.players(), e.repairs(), e.listings(), e.contents(), e.readings(), e.defsCommands(), e.generators(), e.comparisons(), e.migrations(), e.batches(), e.taskCommands(), e.servers(), e.descriptions())
	table := e.flagTable()
	commands := make([]*command, len(list))
	for i := range list {
		c := &list[i]
		c.take(table)
		if c.operands == nil {
			c.operands = []flag{{kind: aFile}}
		}
		if !slices.ContainsFunc(c.exits, func(x exit) bool { return x.status == usageStatus.status }) {
			c.exits = append(slices.Clone(c.exits), usageStatus)
			slices.SortFunc(c.exits, func(a, b exit) int { return a.status - b.status })
		}
		commands[i] = c
	}
	return commands
}

// take gives the command its flags, those of one group beside each other.
func (c *command) take(table []*flag) {
	first := map[*group]int{}
	for i, f := range table {
		if _, seen := first[f.group]; f.takenBy(c.name) {
			if c.flags = append(c.flags, f); !seen {
				first[f.group] = i
			}
		}
	}
	slices.SortStableFunc(c.flags, func(a, b *flag) int { return first[a.group] - first[b.group] })
}

// commandNamed returns the command of a name or an alias, nil if there is none.
func commandNamed(commands []*command, name string) *command {
	for _, c := range commands {
		if name != "" && (c.name == name || c.alias == name) {
			return c
		}
	}
	return nil
}

// flag returns a flag that the command takes, by its name, long or short; nil if it does
// not take it.
func (c *command) flag(name string) *flag {
	for _, f := range c.flags {
		if name != "" && (f.name == name || f.short == name) {
			return f
		}
	}
	return nil
}

// isSet reports whether the line, a file or a recipe has a flag of the command.
func (c *command) isSet(name string) bool { f := c.flag(name); return f != nil && f.IsSet() }

// text returns the last value of a flag, or its default; "" if the command does not take the flag.
func (c *command) text(name string) string {
	if f := c.flag(name); f != nil {
		return f.String()
	}
	return ""
}

// urfave returns the command as urfave/cli runs it.
func (e *env) urfave(c *command) *cli.Command {
	out := &cli.Command{Name: c.name, HideHelp: true, Action: func(ctx *cli.Context) error {
		e.command = c
		if done, err := e.settle(ctx, c); done || err != nil {
			return err
		}
		return c.run(ctx)
	}}
	for _, f := range c.flags {
		out.Flags = append(out.Flags, f)
	}
	return out
}

// settle reads the file of --config, then applies all flags. done means that the line asks
// for nothing but the flags in force (--print-config).
func (e *env) settle(ctx *cli.Context, c *command) (done bool, err error) {
	if f := c.flag("config"); f != nil && f.IsSet() {
		if err := c.applyConfig(ctx, e.fs, f.String()); err != nil {
			return false, usage("see: bagconv help "+c.name, "--config %s: %v", clean(f.String()), err)
		}
	}
	if f := c.flag("print-config"); f != nil && f.String() == "true" {
		return true, c.writeConfig(e.Out)
	}
	if f := c.flag("report"); f != nil {
		e.report.path, e.report.json = f.String(), c.flag("json").String() == "true"
	}
	return false, e.applyFlags(ctx.Context, ctx.Args().Slice())
}

// applyFlags applies the flags of the command, and reads the definitions that they and the environment name.
func (e *env) applyFlags(ctx context.Context, words []string) error {
	c := e.command
	for _, f := range c.flags {
		if err := f.apply(); err != nil {
			return err
		}
	}
	e.set.remote.Memory = e.set.job.MaxMemory / 4
	e.sayLocal(c, words)
	if err := e.setOtherKey(c); err != nil {
		return err
	}
	if c.flag("defs") != nil {
		if err := e.readDefinitions(ctx); err != nil {
			return err
		}
	}
	if c.flag("types-to") != nil {
		return e.readTarget(ctx)
	}
	return nil
}
