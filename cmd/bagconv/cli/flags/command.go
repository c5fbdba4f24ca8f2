package flags

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// A Command is an entry of the table of commands: its usage line, its help texts and its function.
type Command struct {
	Name     string
	Aliases  []string
	Old      map[string]string // words that stood in the place of the command, with what follows it now: "du": "--sizes"
	Part     string            // of the list of commands, under which it stands; "": it stands in no list
	Call     string            // words after "bagconv", as the list of commands has them
	Summary  string            // what it does, in the list of commands
	About    string            // paragraphs; indented lines stay as they are
	Note     string            // the same, after the flags
	Examples []string          // lines
	Exits    Exits             // Assemble adds the status of a wrong line
	Operands []Flag            // what its words are, for completion; the last one stands for all after it; nil: files
	Run      func(context.Context) error

	Flags []*Flag // that it takes, in the order of the help
}

// Exits are the exit statuses of a command, and when it ends so.
type Exits map[int]string

// UsageStatus is the exit status of all commands for a line that is wrong.
const UsageStatus = 2

// DefaultCommand is what a line without a command means.
const DefaultCommand = "convert"

// Assemble gives the commands of a list their flags, with the flags of a group beside each other, and what all commands
// have.
func Assemble(list []Command, table []*Flag) []*Command {
	commands := make([]*Command, len(list))
	byName := map[string]*grouped{}
	for i := range list {
		commands[i] = &list[i]
		byName[list[i].Name] = &grouped{}
	}
	for _, f := range table {
		for _, name := range f.Commands() {
			if g := byName[name]; g != nil {
				g.add(f)
			}
		}
		if f.On == "" {
			for _, g := range byName {
				g.add(f)
			}
		}
	}
	for _, c := range commands {
		c.Flags = slices.Concat(append([][]*Flag{c.Flags}, byName[c.Name].flags...)...)
		if c.Operands == nil {
			c.Operands = []Flag{{Kind: File}}
		}
		if c.Exits = maps.Clone(c.Exits); c.Exits[UsageStatus] == "" {
			c.Exits[UsageStatus] = "the command line is wrong"
		}
	}
	return commands
}

// grouped has flags by their groups, in the order of the first flag of each group.
type grouped struct {
	groups []*Group
	flags  [][]*Flag // of each of groups
}

// add adds a flag, once.
func (g *grouped) add(f *Flag) {
	i := slices.Index(g.groups, f.Group)
	if i < 0 {
		i = len(g.groups)
		g.groups, g.flags = append(g.groups, f.Group), append(g.flags, nil)
	}
	if !slices.Contains(g.flags[i], f) {
		g.flags[i] = append(g.flags[i], f)
	}
}

// Named returns the command of a name, an alias or an old word; nil if no command has it.
func Named(commands []*Command, name string) *Command {
	for _, c := range commands {
		if _, old := c.Old[name]; name != "" && (c.Name == name || slices.Contains(c.Aliases, name) || old) {
			return c
		}
	}
	return nil
}

// Flag returns a flag that the command takes, by any of its names; nil if it does not take it.
func (c *Command) Flag(name string) *Flag {
	for _, f := range c.Flags {
		if name != "" && slices.Contains(f.names(), name) {
			return f
		}
	}
	return nil
}

// IsSet reports whether the line, a file or a recipe has a flag of the command.
func (c *Command) IsSet(name string) bool { f := c.Flag(name); return f != nil && f.IsSet() }

// Text returns the last value of a flag, or its default; "" if the command does not take the flag.
func (c *Command) Text(name string) string {
	if f := c.Flag(name); f != nil {
		return f.String()
	}
	return ""
}

// FlagNames lists the names of the flags.
func (c *Command) FlagNames() (names []string) {
	for _, f := range c.Flags {
		names = append(names, f.Name)
	}
	return names
}

// Usage returns how the command is called.
func (c *Command) Usage() string {
	first, rest, _ := strings.Cut(c.Call, " ")
	if slices.ContainsFunc(c.Flags, func(f *Flag) bool { return f.Group != nil }) {
		first += " [FLAGS]"
	}
	return strings.TrimSpace("bagconv " + first + " " + rest)
}
