package flags

import (
	"errors"
	std "flag"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/internal/nearest"
)

// A Line is a command line that has been read.
type Line struct {
	Command  *Command  // nil: there is nothing on the line
	Named    bool      // the line names the command
	Settings []Setting // in their order
	Words    []string  // what is not a flag, without the command
	Open     *Flag     // whose value should follow at the end
	Ended    bool      // by --
	Bare     bool      // the first word stands after --
	AfterF   string    // the word behind a -f; "": there is no -f, or a flag is behind it
	Help     string    // how the line asks for help: "-h", "--help"; "": it does not
}

// A Setting is a flag with a value. Name is the spelling on the line.
type Setting struct {
	Flag       *Flag
	Name, Text string
}

// Text returns the last value that the line has for a flag; "" if the line does not have the flag.
func (l *Line) Text(name string) (text string) {
	for _, s := range l.Settings {
		if s.Flag.Name == name {
			text = s.Text
		}
	}
	return text
}

// A parser reads one line with urfave/cli: it has the commands and flags, and finds the command and the values. Two
// things are added to it. Flags may stand anywhere, so its set goes on after each word. And a flag may stand before
// the command, so all commands know all flags, and what a command does not take is found at the end.
type parser struct {
	commands []*Command
	known    map[string]*Flag // the flags of all commands, by all their names
	line     Line
	set      *std.FlagSet // of the command, once it is found
	err      error        // the first one
}

// Parse reads a line. "--" ends the flags. The command is the first word that is not a flag, when it is the name of
// one; otherwise the line is a conversion. It may stand behind flags, and so a flag takes a value in all commands or
// in none.
//
// Errors are usage errors, and then the line has what is right of it.
func Parse(commands []*Command, args []string) (Line, error) {
	p := &parser{commands: commands, known: knownFlags(commands)}
	words, ended := args, slices.Index(args, "--")
	var behind []string
	if ended >= 0 {
		words, behind = args[:ended], args[ended+1:]
	}
	p.line.Ended = ended >= 0
	words = p.spelled(words)
	for p.read(words); p.set == nil; p.read(words) { // an unknown flag ends it: it goes on without the flag
		words = p.without(words)
	}
	p.line.Bare = p.line.Ended && len(p.line.Words) == 0 && len(behind) > 0 && !p.line.Named
	p.line.Words = append(p.line.Words, behind...)
	p.finish()
	return p.line, p.err
}

// read runs urfave/cli over the words. At an unknown flag it leaves no set.
func (p *parser) read(words []string) {
	p.line.Settings, p.line.Words, p.line.Named, p.line.Command, p.set = nil, nil, false, nil, nil
	var set *std.FlagSet
	failed := func(_ *cli.Context, err error, _ bool) error { return err }
	list := p.urfave(words, &set)
	app := &cli.App{
		Name: "bagconv", HideHelp: true, HideVersion: true, Writer: io.Discard, ErrWriter: io.Discard,
		Flags: list, OnUsageError: failed,
		Action: func(*cli.Context) error { return p.goOn(set) },
	}
	for _, c := range p.commands {
		app.Commands = append(app.Commands, &cli.Command{
			Name: c.Name, Aliases: c.Aliases, HideHelp: true, Flags: list, OnUsageError: failed,
			Action: func(*cli.Context) error {
				p.line.Command, p.line.Named = c, true
				return p.goOn(set)
			}})
	}
	if err := app.Run(append([]string{"bagconv"}, words...)); err != nil {
		p.refuse(err, words)
		return
	}
	p.set = set
}

// goOn reads what follows the first word.
func (p *parser) goOn(set *std.FlagSet) error {
	for set.NArg() > 0 {
		rest := set.Args()
		p.line.Words = append(p.line.Words, rest[0])
		if err := set.Parse(rest[1:]); err != nil {
			return err
		}
	}
	return nil
}

// The beginnings of errors of the package flag of the standard library, which have no type.
const unknownText, missingText = "flag provided but not defined: -", "flag needs an argument: -"

// refuse keeps an error of urfave/cli about words.
func (p *parser) refuse(err error, words []string) {
	text := err.Error()
	if name, ok := strings.CutPrefix(text, missingText); ok {
		f := p.known[name]
		p.wrong(missingValue(Dashed(name), f))
		p.line.Open = f
	} else if name, ok := strings.CutPrefix(text, unknownText); ok {
		at := max(slices.IndexFunc(words, func(w string) bool { return flagName(w) == name }), 0)
		p.wrong(&unknownFlag{words[at], name})
	} else {
		p.wrong(Usage("see: bagconv help", "%s", phrase.Clean(text)))
	}
}

func (p *parser) wrong(err error) {
	if p.err == nil {
		p.err = err
	}
}

// without returns the words without the first one that urfave/cli refuses: a flag that is not known, or the last word,
// whose value is missing.
func (p *parser) without(words []string) []string {
	for i, w := range words {
		if name := flagName(w); len(w) > 1 && w[0] == '-' && p.known[name] == nil {
			return slices.Delete(slices.Clone(words), i, i+1)
		}
	}
	return words[:max(len(words)-1, 0)]
}

// urfave returns a flag of urfave/cli for each name of a flag that words may have, and one more, by which the set is
// found: urfave/cli asks each of its flags about all others.
func (p *parser) urfave(words []string, set **std.FlagSet) (list []cli.Flag) {
	seen := map[string]bool{}
	for _, name := range append([]string{"help"}, words...) {
		if len(seen) > 0 { // it is a word
			name = flagName(name)
		}
		if f := p.known[name]; f != nil && name != "" && !seen[name] {
			list = append(list, &spelling{p, f, name, set})
		}
		seen[name] = true
	}
	return list
}

// A spelling is a name of a flag, as a flag of urfave/cli and a value of its sets.
type spelling struct {
	*parser
	flag *Flag
	name string
	into **std.FlagSet
}

// Names, IsSet, Apply and String, Set, IsBoolFlag are for urfave/cli and its sets.
func (s *spelling) Names() []string { return []string{s.name} }

// IsSet is not asked: the line has what is set.
func (s *spelling) IsSet() bool { return false }

// Apply makes the spelling one of a set.
func (s *spelling) Apply(set *std.FlagSet) error {
	*s.into = set
	set.Var(s, s.name, "")
	return nil
}

func (s *spelling) String() string { return "" }

// IsBoolFlag reports whether the flag may stand without a value.
func (s *spelling) IsBoolFlag() bool { return s.flag.Kind == OnOff }

// Set takes a value of the line.
func (s *spelling) Set(text string) error {
	if name := flagName(text); s.known[name] != nil && text == Dashed(name) {
		s.wrong(missingValue(Dashed(s.name), s.flag))
	}
	if on, err := strconv.ParseBool(text); s.flag.Kind == OnOff && err == nil {
		text = strconv.FormatBool(on)
	}
	s.line.Settings = append(s.line.Settings, Setting{s.flag, s.name, text})
	return nil
}

// finish finds the command, and what is wrong about the flags for it.
func (p *parser) finish() {
	l := &p.line
	version := false
	l.Settings = slices.DeleteFunc(l.Settings, func(s Setting) bool {
		switch s.Flag.Name {
		case "help":
			l.Help = Dashed(s.Name)
		case "version":
			version = true
		}
		return s.Flag.Name == "help" || s.Flag.Name == "version"
	})
	switch {
	case version:
		l.Command, l.Named = Named(p.commands, "version"), true
	case l.Command == nil && !l.Bare && len(l.Words) > 0 && Named(p.commands, l.Words[0]) != nil:
		l.renew(Named(p.commands, l.Words[0]))
	case l.Command == nil && (len(l.Words) > 0 || len(l.Settings) > 0 && l.Help == ""):
		l.Command = Named(p.commands, DefaultCommand)
	}
	var unknown *unknownFlag
	if errors.As(p.err, &unknown) { // the answer depends on the command
		c := l.Command
		if c == nil {
			c = Named(p.commands, DefaultCommand)
		}
		p.err = p.unknown(c, unknown.word, unknown.name)
	}
	if l.Command == nil {
		return
	}
	if l.Open != nil {
		l.Open = l.Command.Flag(l.Open.Name)
	}
	for i, s := range l.Settings { // the entry of the command itself
		if f := l.Command.Flag(s.Name); f != nil {
			l.Settings[i].Flag = f
		} else if l.Help == "" {
			p.wrong(p.misplaced(l.Command, s.Name))
		}
	}
	for _, s := range l.Settings {
		if l.Help == "" && !s.Flag.Takes(s.Text) {
			p.wrong(Usage("see: bagconv help "+l.Command.Name, "invalid value %q for --%s", phrase.Clean(s.Text), s.Flag.Name))
		}
	}
}

// renew puts what stands now for the first words, which are old ones, in their place.
func (l *Line) renew(c *Command) {
	l.Command, l.Named = c, true
	n := 1
	if len(l.Words) > 1 && c.Old[l.Words[0]+" "+l.Words[1]] != "" {
		n = 2
	}
	var words []string
	for _, word := range strings.Fields(c.Old[strings.Join(l.Words[:n], " ")]) {
		if f := c.Flag(flagName(word)); f != nil {
			l.Settings = append(l.Settings, Setting{f, f.Name, "true"})
		} else {
			words = append(words, word)
		}
	}
	l.Words = append(words, l.Words[n:]...)
}

// misplaced returns the error of a flag of other commands.
func (p *parser) misplaced(c *Command, name string) error {
	hint := p.takers(name) + "see: bagconv help " + c.Name
	if instead := p.meant(c, name); instead != "" {
		hint = instead
	} else if near := nearest.Word(name, c.FlagNames()); len(name) > 1 && near != "" && nearest.Distance(near, name) == 1 {
		hint = "did you mean " + Dashed(near) + "?"
	}
	return Usage(hint, "%s is not a flag of %s", Dashed(name), c.Name)
}

// takers names the commands that take a flag, up to four of them.
func (p *parser) takers(name string) string {
	var names []string
	for _, c := range p.commands {
		if c.Flag(name) != nil {
			names = append(names, c.Name)
		}
	}
	switch n := len(names); {
	case n == 1:
		return "bagconv " + names[0] + " takes it; "
	case n > 4:
		return "bagconv " + nearest.Some(names, 3) + " take it; "
	}
	return "bagconv " + strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1] + " take it; "
}
