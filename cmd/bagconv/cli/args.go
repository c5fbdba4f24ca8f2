package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// A line is a command line in the order that urfave/cli takes: it stops reading
// flags at the first file name, but people write them anywhere.
type line struct {
	verb string   // "" when there is nothing on the line
	word string   // the first one that is no flag, where no command is named; "" otherwise
	help bool     // -h or --help was given: show the help of verb
	args []string // flags, then "--", then everything else
}

const defaultVerb = "convert"

// arrange finds the verb and sorts the arguments: flags first. The verb is the
// first argument that is no flag, when it is a command's name; otherwise the
// line is a conversion. "--" ends the flags. Errors are usage errors.
func arrange(args []string, commands []*cli.Command) (line, error) {
	var l line
	var flags []string // as they go to the parser
	var names []string // of the flags, as given
	var rest []string  // arguments that are no flags
	known := map[string]cli.Flag{colorFlag.Name: colorFlag}
	for _, c := range commands {
		for _, f := range c.Flags {
			for _, name := range f.Names() {
				known[name] = f
			}
		}
	}
	ended, verbEnded := false, false
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if ended || len(arg) < 2 || arg[0] != '-' {
			rest = append(rest, arg)
			continue
		}
		if arg == "--" {
			ended, verbEnded = true, len(rest) == 0
			continue
		}
		if short := splitShort(arg, known); short != nil {
			args = slices.Concat(args[:i], short, args[i+1:])
			arg = args[i]
		}
		name, _, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		switch arg {
		case "-h", "--help":
			l.help = true
			continue
		case "-V", "--version":
			l.verb = "version"
			continue
		}
		f := known[name]
		if f == nil || strings.HasPrefix(arg, "--") != (len(name) > 1) {
			return l, unknownFlag(arg, name, known)
		}
		names = append(names, name)
		if _, several := f.(*cli.StringSliceFlag); several { // the parser wants one spelling
			arg = dashed(f.Names()[0]) + strings.TrimPrefix(arg, dashed(name))
		}
		flags = append(flags, arg)
		if _, isBool := f.(*cli.BoolFlag); isBool || hasValue {
			continue
		}
		if i++; i == len(args) || isKnown(args[i], known) {
			return l, usage("see: bagconv help", "%s needs a value: %s", arg, f.(cli.DocGenerationFlag).GetUsage())
		}
		flags = append(flags, args[i])
	}

	isVerb := func(c *cli.Command) bool { return len(rest) > 0 && c.HasName(rest[0]) }
	switch {
	case l.verb == "version":
	case !verbEnded && slices.ContainsFunc(commands, isVerb):
		at := slices.IndexFunc(commands, isVerb)
		l.verb, rest = commands[at].Name, rest[1:] // an alias stands for its command
	case len(rest) > 0 || len(flags) > 0 && !l.help:
		l.verb = defaultVerb
		if len(rest) > 0 && !verbEnded {
			l.word = rest[0]
		}
	}
	for _, c := range commands {
		if c.Name != l.verb || l.help {
			continue
		}
		for _, name := range names {
			if !slices.ContainsFunc(c.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) }) {
				return l, usage("see: bagconv help "+l.verb, "%s is no flag of %s", dashed(name), l.verb)
			}
		}
	}
	l.args = append(append(flags, "--"), rest...)
	return l, nil
}

// splitShort takes apart short flags that are written as one word, as -qv, and a
// value behind the last of them, as -t/imu. It returns nil for everything else.
func splitShort(arg string, known map[string]cli.Flag) (words []string) {
	if len(arg) < 3 || arg[1] == '-' || arg[2] == '=' || known[strings.TrimLeft(arg, "-")] != nil {
		return nil
	}
	for i := 1; i < len(arg); i++ {
		f := known[arg[i:i+1]]
		if f == nil {
			return nil
		}
		words = append(words, "-"+arg[i:i+1])
		if _, isBool := f.(*cli.BoolFlag); !isBool {
			if rest := arg[i+1:]; rest != "" {
				words[len(words)-1] += "=" + strings.TrimPrefix(rest, "=")
			}
			break
		}
	}
	return words
}

// isKnown tells whether an argument is one of our flags, so that it is no value.
func isKnown(arg string, known map[string]cli.Flag) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	return strings.HasPrefix(arg, "-") && known[name] != nil && arg == dashed(name)
}

func unknownFlag(arg, name string, known map[string]cli.Flag) error {
	given, _, _ := strings.Cut(arg, "=")
	if known[name] != nil {
		return usage("did you mean "+dashed(name)+"?", "unknown flag %s", given)
	}
	names := []string{"help", "version"}
	for n := range known {
		if len(n) > 1 {
			names = append(names, n)
		}
	}
	if near := suggest(name, names); near != "" && len(name) > 1 {
		return usage("did you mean --"+near+"?", "unknown flag %s", given)
	}
	return usage("see: bagconv help; a file of that name is ./"+given, "unknown flag %s", given)
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// nearest returns the word that is closest to a mistyped one, "" when none is
// close. Equally close ones are taken in alphabetical order.
func nearest(typed string, words []string) string {
	const longest = 200 // longer ones are no typos, and slow to compare
	best, bestDistance := "", max(len(typed)/3, 1)+1
	for _, w := range slices.Sorted(slices.Values(words)) {
		if len(typed) > longest || len(w) > longest {
			continue
		}
		if d := distance(typed, w); d < bestDistance {
			best, bestDistance = w, d
		}
	}
	return best
}

// suggest returns the word that somebody may have meant: the nearest one, else the
// shortest that has what was typed in it, whatever its case; "" when there is none.
func suggest(typed string, words []string) string {
	if near := nearest(typed, words); near != "" {
		return near
	}
	if typed = strings.Trim(typed, "/"); len(typed) < 2 {
		return ""
	}
	best := ""
	for _, w := range slices.Sorted(slices.Values(words)) {
		if strings.Contains(strings.ToLower(w), strings.ToLower(typed)) && (best == "" || len(w) < len(best)) {
			best = w
		}
	}
	return best
}

// distance counts the characters to insert, delete, replace or swap with their
// neighbour to get from a to b.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}

// count returns "1 topic" or "2 topics", with separators in large numbers.
func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%s %ss", grouped(n), what)
}
