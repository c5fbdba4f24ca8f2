package cli

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/formats/all"
)

// shown returns a line as urfave/cli gets it, without the name of the program.
func (l *line) shown() string {
	if l.command == nil {
		return ""
	}
	return strings.Join(l.args()[1:], " ")
}

func TestParse(t *testing.T) {
	e, _, _ := testEnv()
	for in, want := range map[string]string{
		"in out":                            "convert -- in out",
		"convert in out":                    "convert -- in out",
		"in -q out":                         "convert --quiet=true -- in out",
		"in out --to bag -f":                "convert --to=bag --force=true -- in out",
		"--to bag convert in out":           "convert --to=bag -- in out",
		"-q --to=bag in out":                "convert --quiet=true --to=bag -- in out",
		"in -o out":                         "convert --output=out -- in",
		"info in":                           "info -- in",
		"--json info in":                    "info --json=true -- in",
		"./info out":                        "convert -- ./info out",
		"-- info out":                       "convert -- info out",
		"in -- -out --to":                   "convert -- in -out --to",
		"in - ":                             "convert -- in -",
		"--level -3 in out":                 "convert --level=-3 -- in out",
		"topics --json=false in":            "topics --json=false -- in",
		"doctor in":                         "check -- in",
		"":                                  "",
		"--version":                         "version --",
		"convert --output=out -v in":        "convert --output=out --verbose=true -- in",
		"-qvt/imu in":                       "convert --quiet=true --verbose=true --topic=/imu -- in",
		"play in --to x --clock":            "play --to=x --clock=100 -- in",
		"play --clock in --to x":            "play --clock=100 --to=x -- in",
		"play --clock 50 in --to x":         "play --clock=50 --to=x -- in",
		"play --clock=5 in":                 "play --clock=5 -- in",
		"in --header-seq zero out --strict": "convert --header-seq=zero --strict=true -- in out",
	} {
		if l, err := e.parse(strings.Fields(in)); err != nil || l.shown() != want {
			t.Errorf("%q: %q, %v; want %q", in, l.shown(), err, want)
		}
	}
	for in, want := range map[string]string{
		"in out --forse":      "unknown flag --forse; did you mean --force?",
		"in out -to bag":      "unknown flag -to; did you mean --to?",
		"in out --f":          "unknown flag --f; did you mean -f?",
		"in out --xyzzyplugh": "unknown flag --xyzzyplugh; see: bagconv help; for a file of that name, type ./--xyzzyplugh",
		"in out --to":         "--to needs a value: fake; see: bagconv help",
		"in out --to --force": "--to needs a value: fake; see: bagconv help",
		"info --to bag in":    "--to is not a flag of info; bagconv convert, filter, merge and 6 more take it; see: bagconv help info",
		"version -q":          "-q is not a flag of version; bagconv convert, filter, merge and 11 more take it; see: bagconv help version",
		"info --json=maybe x": "invalid value \"maybe\" for --json; see: bagconv help info",
		"in out --level high": "invalid value \"high\" for --level; see: bagconv help convert",
	} {
		if _, err := e.parse(strings.Fields(in)); err == nil || err.Error() != want {
			t.Errorf("%q: %v; want %q", in, err, want)
		}
	}
}

// TestFlagKinds: the command of a line is known at its end, so flags of one name take a
// value, and have one short name, in all commands or in none.
func TestFlagKinds(t *testing.T) {
	e, _, _ := testEnv()
	first := map[string]*flag{}
	for _, f := range e.flagTable() {
		before := first[f.name]
		if before == nil {
			first[f.name] = f
			continue
		}
		if (f.kind == onOff) != (before.kind == onOff) || f.short != before.short || f.on == nil {
			t.Errorf("--%s is not the same in %v and %v", f.name, f.on, before.on)
		}
		for _, c := range f.on {
			if before.takenBy(c) {
				t.Errorf("%s has --%s twice", c, f.name)
			}
		}
	}
}

// TestHelp: every help text has its flags, ends with the exit statuses, has
// examples, and fits 80 columns.
func TestHelp(t *testing.T) {
	e, out, _ := testEnv()
	for _, c := range e.commands() {
		text := e.helpText(c.name)
		for _, f := range c.flags {
			if f.group != nil && (!strings.Contains(text, "  "+f.spellings()) || f.help == "") {
				t.Errorf("help %s does not explain %s", c.name, f.spellings())
			}
		}
		for _, args := range [][]string{{c.name, "--help"}, {"help", c.name}} {
			out.Reset()
			e, out, _ := testEnv()
			if err := e.run(context.Background(), append([]string{"bagconv"}, args...)); err != nil || out.String() != text {
				t.Errorf("%v: %v, %q", args, err, out)
			}
		}
	}
	real := &env{formats: all.Registry()}
	names := []string{""}
	for _, c := range real.commands() {
		names = append(names, c.name)
	}
	for _, name := range names {
		text := real.helpText(name)
		if at := regexp.MustCompile(`\{[a-z]+\}`).FindString(text); at != "" {
			t.Errorf("help %s: %s is not filled in", name, at)
		}
		for _, line := range strings.Split(text, "\n") {
			if len(line) > 80 {
				t.Errorf("help %s: %d columns: %s", name, len(line), line)
			}
		}
		examples, status := strings.Index(text, "\nEXAMPLES\n"), strings.Index(text, "\nEXIT STATUS\n")
		if examples < 0 || status < examples || !strings.HasSuffix(text, "\n") {
			t.Errorf("help %s: examples at %d, exit status at %d", name, examples, status)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("in out --to bag -f")
	f.Add("-- --help -o=")
	e, _, _ := testEnv()
	f.Fuzz(func(t *testing.T, in string) {
		args := strings.Split(in, " ")
		l, err := e.parse(args)
		if err != nil || l.help || l.command == nil || l.command.name == "version" {
			return
		}
		again, err := e.parse(l.args()[1:])
		if err != nil || again.shown() != l.shown() {
			t.Errorf("%q is %q, and that %q, %v", in, l.shown(), again.shown(), err)
		}
	})
}
