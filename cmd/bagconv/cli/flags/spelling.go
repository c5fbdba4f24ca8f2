package flags

import (
	"cmp"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/internal/nearest"
)

// spelled returns the words of a line as urfave/cli reads them: short flags in one word, as -qv, and a value behind
// the last of them, as -t/imu, come apart, and a flag whose value may be left out gets it. A known name with too few
// or too many dashes is wrong.
func (p *parser) spelled(args []string) (words []string) {
	var first *Flag // a flag of two values whose first value was read
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if len(arg) < 2 || arg[0] != '-' {
			words = append(words, arg)
			continue
		}
		short := p.split(arg)
		for _, arg := range short {
			name := flagName(arg)
			f := p.known[name]
			next := ""
			if i+1 < len(args) {
				next = args[i+1]
			}
			lacksValue := f != nil && f.NoValue != "" && !strings.Contains(arg, "=")
			switch {
			case f != nil && !strings.HasPrefix(arg, Dashed(name)):
				p.wrong(&unknownFlag{arg, name})
				continue
			case lacksValue && f.Takes(next):
				arg += "=" + next
				i++
			case lacksValue:
				arg += "=" + f.NoValue
			case arg == "-f" && next != "" && next[0] != '-':
				p.line.AfterF = next
			}
			words = append(words, arg)
		}
		// The value of a flag stays as it is, whatever it looks like.
		last := short[len(short)-1]
		f := p.known[flagName(last)]
		_, value, whole := strings.Cut(last, "=")
		if f == nil || f.Kind == OnOff || f.NoValue != "" {
			continue
		}
		if !whole && i+1 < len(args) {
			i++
			value, whole = args[i], true
			words = append(words, value)
		}
		switch {
		case !whole || !f.hasSecond(value) || f == first:
			first = nil
		case i+1 < len(args) && flagName(args[i+1]) == f.Name:
			first = f // and --flag=SECOND follows
		default:
			words = append(words, Dashed(f.Name))
			if i+1 < len(args) {
				i++
				words = append(words, args[i])
			}
		}
	}
	return words
}

// split takes apart short flags that are written as one word, with a value behind the last of them. It returns every
// other word as it is.
func (p *parser) split(arg string) (words []string) {
	if len(arg) < 3 || arg[1] == '-' || arg[2] == '=' || p.known[flagName(arg)] != nil {
		return []string{arg}
	}
	for i := 1; i < len(arg); i++ {
		f := p.known[arg[i:i+1]]
		if f == nil {
			return []string{arg}
		}
		words = append(words, "-"+arg[i:i+1])
		if f.Kind != OnOff {
			if rest := arg[i+1:]; rest != "" {
				words[len(words)-1] += "=" + strings.TrimPrefix(rest, "=")
			}
			break
		}
	}
	return words
}

// knownFlags returns the flags of all commands, by their names.
func knownFlags(commands []*Command) map[string]*Flag {
	known := map[string]*Flag{}
	for _, c := range commands {
		for _, f := range c.Flags {
			for _, name := range f.names() {
				known[name] = f
			}
		}
	}
	return known
}

// flagName returns the name of a flag as it stands on the line.
func flagName(arg string) string {
	if !strings.HasPrefix(arg, "-") {
		return ""
	}
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	return name
}

// Dashed returns a name as it stands on the line.
func Dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

func missingValue(arg string, f *Flag) error {
	what := f.Summary()
	if f.Kind == OneWord {
		what = phrase.OrList(f.ValueWords())
	}
	return Usage("see: bagconv help", "%s needs a value: %s", arg, what)
}

// An unknownFlag is a word that is no flag of any command. finish puts the error for the command in its place.
type unknownFlag struct{ word, name string }

func (e *unknownFlag) Error() string { return "unknown flag " + e.word }

// unknown returns the error of a flag that no command takes.
func (p *parser) unknown(c *Command, arg, name string) error {
	word, _, _ := strings.Cut(arg, "=")
	if p.known[name] != nil {
		return Usage("did you mean "+Dashed(name)+"?", "unknown flag %s", word)
	}
	if instead := gone[name]; instead != "" {
		return Usage(instead, "there is no flag %s any more", word)
	}
	if instead := p.meant(c, name); instead != "" {
		return Usage(instead, "unknown flag %s", word)
	}
	if hint := near(c.FlagNames(), name); hint != "" {
		return Usage(hint, "unknown flag %s", word)
	}
	var names []string
	for n := range p.known {
		if len(n) > 1 {
			names = append(names, n)
		}
	}
	hint := cmp.Or(p.fromOthers(name), near(names, name), "see: bagconv help "+c.Name)
	if strings.Contains(word, ".") {
		hint += "; for a file of that name, type ./" + word
	}
	return Usage(hint, "unknown flag %s", word)
}

// near asks for a long name of a flag that is spelled like an unknown one; "" if no name is.
func near(names []string, name string) string {
	if len(name) < 2 {
		return ""
	}
	found := nearest.Suggest(name, names)
	if found != "" {
		found = "--" + found
	}
	return nearest.Meant(found, "")
}
