package cli

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/help"
	"github.com/bagconv/bagconv/formats/all"
)

// shown returns a line as one that has its flags first.
func shown(l *flags.Line) string {
	if l.Command == nil {
		return ""
	}
	return strings.Join(lineArgs(l), " ")
}

func lineArgs(l *flags.Line) []string {
	list := []string{l.Command.Name}
	for _, s := range l.Settings {
		list = append(list, flags.Dashed(s.Flag.Name)+"="+s.Text)
	}
	return append(append(list, "--"), l.Words...)
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
		"topics --json=false in":            "info --json=false --topics=true -- in",
		"doctor in":                         "check -- in",
		"":                                  "",
		"--version":                         "version --",
		"convert --output=out -v in":        "convert --output=out --verbose=true -- in",
		"-qvt/imu in":                       "convert --quiet=true --verbose=true --topic=/imu -- in",
		"play in --to x --clock":            "play --address=x --clock=100 -- in",
		"play --clock in --to x":            "play --clock=100 --address=x -- in",
		"play --clock 50 in --to x":         "play --clock=50 --address=x -- in",
		"play --clock=5 in":                 "play --clock=5 -- in",
		"in --header-seq zero out --strict": "convert --header-seq=zero --strict=true -- in out",
	} {
		if l, err := flags.Parse(e.commands(), strings.Fields(in)); err != nil || shown(&l) != want {
			t.Errorf("%q: %q, %v; want %q", in, shown(&l), err, want)
		}
	}
	for in, want := range map[string]string{
		"in out --forse":      "unknown flag --forse; did you mean --force?",
		"in out -to bag":      "unknown flag -to; did you mean --to?",
		"in out --f":          "unknown flag --f; did you mean -f?",
		"in out --xyzzyplugh": "unknown flag --xyzzyplugh; see: bagconv help convert",
		"in out --to":         "--to needs a value: fake, parquet, arrow, csv, npy, lerobot or episodes; see: bagconv help",
		"in out --to --force": "--to needs a value: fake, parquet, arrow, csv, npy, lerobot or episodes; see: bagconv help",
		"info --to bag in": "--to is not a flag of info; bagconv convert, filter, import and 7 more take it; see: " +
			"bagconv help info",
		"version -q": "-q is not a flag of version; bagconv convert, filter, export and 15 more take it; see: " +
			"bagconv help version",
		"info --json=maybe x": "invalid value \"maybe\" for --json; see: bagconv help info",
		"in out --level high": "invalid value \"high\" for --level; see: bagconv help convert",
	} {
		if _, err := flags.Parse(e.commands(), strings.Fields(in)); err == nil || err.Error() != want {
			t.Errorf("%q: %v; want %q", in, err, want)
		}
	}
}

// TestFlagKinds: the command of a line is known at its end, so flags of one name take a
// value, and have one short name, in all commands or in none.
func TestFlagKinds(t *testing.T) {
	e, _, _ := testEnv()
	first := map[string]*flags.Flag{}
	for _, f := range e.flagTable() {
		before := first[f.Name]
		if before == nil {
			first[f.Name] = f
			continue
		}
		if (f.Kind == flags.OnOff) != (before.Kind == flags.OnOff) || f.Short != before.Short || f.On == "" {
			t.Errorf("--%s is not the same in %v and %v", f.Name, f.On, before.On)
		}
		for _, c := range f.Commands() {
			if before.TakenBy(c) {
				t.Errorf("%s has --%s twice", c, f.Name)
			}
		}
	}
}

// TestHelp: every page of a command has its flags, and with --help all of them with the exit statuses; pages have
// examples, and fit 80 columns.
func TestHelp(t *testing.T) {
	e, out, _ := testEnv()
	for _, c := range e.commands() {
		brief, whole := e.helpText(c.Name, help.Brief), e.helpText(c.Name, help.All)
		for _, f := range c.Flags {
			if f.Group != nil && (!strings.Contains(whole, "  "+f.Spellings()) || f.Help == "") {
				t.Errorf("%s --help does not explain %s", c.Name, f.Spellings())
			}
			if f.Group != nil && f.Group.Topic == "" && !strings.Contains(brief, "  "+f.Spellings()) {
				t.Errorf("%s -h does not have %s", c.Name, f.Spellings())
			}
		}
		for text, args := range map[string][]string{whole: {c.Name, "--help"}, brief: {"help", c.Name},
			brief + "": {c.Name, "-h"}} {
			out.Reset()
			e, out, _ := testEnv()
			if err := e.run(context.Background(), append([]string{"bagconv"}, args...)); err != nil || out.String() != text {
				t.Errorf("%v: %v, %q", args, err, out)
			}
		}
	}
	real := &env{formats: withExports(all.Registry())}
	for _, name := range append(real.book().Names(), "") {
		for _, depth := range []help.Depth{help.Brief, help.All} {
			text := real.helpText(name, depth)
			if at := regexp.MustCompile(`\{[a-z]+\}`).FindString(text); at != "" {
				t.Errorf("help %s: %s is not filled in", name, at)
			}
			for _, line := range strings.Split(text, "\n") {
				if len(line) > 80 {
					t.Errorf("help %s: %d columns: %s", name, len(line), line)
				}
			}
			if !strings.HasSuffix(text, "\n") {
				t.Errorf("help %s ends with %q", name, text[max(len(text)-20, 0):])
			}
			if flags.Named(real.commands(), name) == nil {
				continue
			}
			examples, status := strings.Index(text, "\nEXAMPLES\n"), strings.Index(text, "\nEXIT STATUS\n")
			if examples < 0 || (status > examples) != (depth == help.All) {
				t.Errorf("help %s: examples at %d, exit status at %d", name, examples, status)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("in out --to bag -f")
	f.Add("-- --help -o=")
	e, _, _ := testEnv()
	f.Fuzz(func(t *testing.T, in string) {
		args := strings.Split(in, " ")
		l, err := flags.Parse(e.commands(), args)
		if err != nil || l.Help != "" || l.Command == nil || l.Command.Name == "version" {
			return
		}
		again, err := flags.Parse(e.commands(), lineArgs(&l))
		if err != nil || shown(&again) != shown(&l) {
			t.Errorf("%q is %q, and that %q, %v", in, shown(&l), shown(&again), err)
		}
	})
}
