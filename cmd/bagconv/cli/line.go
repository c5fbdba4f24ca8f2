package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A line is a command line that has been read.
type line struct {
	command *command  // nil: there is nothing on the line
	named   bool      // the line names the command
	flags   []setting // in their order
	words   []string  // what is not a flag, without the command
	open    *flag     // whose value should follow at the end
	ended   bool      // by --
	bare    bool      // the first word stands after --
	afterF  string    // the word behind a -f; "": there is no -f, or a flag is behind it
	help    bool
}

// A setting is a flag with a value.
type setting struct {
	flag *flag
	text string
}

// parse reads a line. Flags may stand anywhere; "--" ends them. The command is the first
// word that is not a flag, when it is the name of one; otherwise the line is a conversion. It
// is known at the end only, and so a flag takes a value in all commands or in none.
//
// Errors are usage errors, and then the line has what is right of it.
func (e *env) parse(args []string) (l line, err error) {
	commands := e.commands()
	known := knownFlags(commands)
	wrong := func(what error) {
		if err == nil {
			err = what
		}
	}
	set := func(f *flag, text string) {
		if on, err := strconv.ParseBool(text); f.kind == onOff && err == nil {
			text = strconv.FormatBool(on)
		}
		l.flags, l.open = append(l.flags, setting{f, text}), nil
	}
	var names []string // names of the flags, as they are written
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if l.open != nil {
			if known[flagName(arg)] == nil || arg != dashed(flagName(arg)) {
				set(l.open, arg)
				continue
			}
			wrong(missingValue(args[i-1], l.open))
			l.open = nil
		}
		if l.ended || len(arg) < 2 || arg[0] != '-' {
			l.bare = l.bare || l.ended && len(l.words) == 0
			l.words = append(l.words, arg)
			continue
		}
		if arg == "--" {
			l.ended = true
			continue
		}
		if short := splitShort(arg, known); short != nil {
			args = slices.Concat(args[:i], short, args[i+1:])
			arg = args[i]
		}
		name := flagName(arg)
		f := known[name]
		if f == nil || !strings.HasPrefix(arg, dashed(name)) {
			wrong(unknownFlag(arg, name, known))
			continue
		}
		names = append(names, name)
		if arg == "-f" && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			l.afterF = args[i+1]
		}
		switch _, text, has := strings.Cut(arg, "="); {
		case has:
			set(f, text)
		case f.kind == onOff:
			set(f, "true")
		case f.noValue != "" && (i+1 == len(args) || !f.takes(args[i+1])):
			set(f, f.noValue)
		default:
			l.open = f
		}
	}
	if l.open != nil {
		wrong(missingValue(args[len(args)-1], l.open))
	}
	l.find(commands)
	if l.command == nil || l.help {
		return l, err
	}
	hint := "see: bagconv help " + l.command.name
	for _, name := range names {
		if l.command.flag(name) == nil {
			wrong(usage(takers(commands, name)+hint, "%s is not a flag of %s", dashed(name), l.command.name))
		}
	}
	for _, s := range l.flags {
		if !s.flag.takes(s.text) {
			wrong(usage(hint, "invalid value %q for --%s", clean(s.text), s.flag.name))
		}
	}
	return l, err
}

// takers names the commands that take a flag, up to four of them.
func takers(commands []*command, name string) string {
	var names []string
	for _, c := range commands {
		if c.flag(name) != nil {
			names = append(names, c.name)
		}
	}
	switch n := len(names); {
	case n == 1:
		return "bagconv " + names[0] + " takes it; "
	case n > 4:
		return fmt.Sprintf("bagconv %s and %d more take it; ", strings.Join(names[:3], ", "), n-3)
	}
	return "bagconv " + strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1] + " take it; "
}

// find finds the command.
func (l *line) find(commands []*command) {
	version := false
	l.flags = slices.DeleteFunc(l.flags, func(s setting) bool {
		l.help = l.help || s.flag.name == "help"
		version = version || s.flag.name == "version"
		return s.flag.name == "help" || s.flag.name == "version"
	})
	word := ""
	if len(l.words) > 0 && !l.bare {
		word = l.words[0]
	}
	c := commandNamed(commands, word)
	switch {
	case version:
		l.command, l.named = commandNamed(commands, "version"), true
	case c != nil:
		l.command, l.named, l.words = c, true, l.words[1:]
	case len(l.words) > 0 || len(l.flags) > 0 && !l.help:
		l.command = commandNamed(commands, defaultCommand)
	}
	if l.command == nil {
		return
	}
	for i, s := range l.flags { // the entry of the command itself
		if f := l.command.flag(s.flag.name); f != nil {
			l.flags[i].flag = f
		}
	}
	if l.open != nil {
		l.open = l.command.flag(l.open.name)
	}
}

// text returns the last value that the line has for a flag; "" if there is none.
func (l *line) text(name string) (text string) {
	for _, s := range l.flags {
		if s.flag.name == name {
			text = s.text
		}
	}
	return text
}

// args returns the line as urfave/cli reads it.
func (l *line) args() []string {
	list := []string{"bagconv", l.command.name}
	for _, s := range l.flags {
		list = append(list, dashed(s.flag.name)+"="+s.text)
	}
	return append(append(list, "--"), l.words...)
}

// knownFlags returns the flags of all commands, by their names.
func knownFlags(commands []*command) map[string]*flag {
	known := map[string]*flag{}
	for _, c := range commands {
		for _, f := range c.flags {
			known[f.name] = f
			if f.short != "" {
				known[f.short] = f
			}
		}
	}
	return known
}

// splitShort takes apart short flags that are written as one word, as -qv, and a
// value after the last of them, as -t/imu. It returns nil for everything else.
func splitShort(arg string, known map[string]*flag) (words []string) {
	if len(arg) < 3 || arg[1] == '-' || arg[2] == '=' || known[strings.TrimLeft(arg, "-")] != nil {
		return nil
	}
	for i := 1; i < len(arg); i++ {
		f := known[arg[i:i+1]]
		if f == nil {
			return nil
		}
		words = append(words, "-"+arg[i:i+1])
		if f.kind != onOff {
			if rest := arg[i+1:]; rest != "" {
				words[len(words)-1] += "=" + strings.TrimPrefix(rest, "=")
			}
			break
		}
	}
	return words
}

// flagName returns the name of a flag as it stands on the line.
func flagName(arg string) string {
	if !strings.HasPrefix(arg, "-") {
		return ""
	}
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	return name
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

func missingValue(arg string, f *flag) error {
	what := f.summary()
	if f.kind == oneWord {
		what = orList(f.words())
	}
	return usage("see: bagconv help", "%s needs a value: %s", arg, what)
}

func unknownFlag(arg, name string, known map[string]*flag) error {
	word, _, _ := strings.Cut(arg, "=")
	if known[name] != nil {
		return usage("did you mean "+dashed(name)+"?", "unknown flag %s", word)
	}
	var names []string
	for n := range known {
		if len(n) > 1 {
			names = append(names, n)
		}
	}
	if near := suggest(name, names); near != "" && len(name) > 1 {
		return usage("did you mean --"+near+"?", "unknown flag %s", word)
	}
	return usage("see: bagconv help; for a file of that name, type ./"+word, "unknown flag %s", word)
}
