package cli

import (
	"bytes"
	"context"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/storage"
)

func testEnv() (*env, *bytes.Buffer, *bytes.Buffer) {
	var out, errOut bytes.Buffer
	return &env{Stdio: Stdio{Out: &out, Err: &errOut}, formats: storage.NewRegistry(fake)}, &out, &errOut
}

func TestArrange(t *testing.T) {
	e, _, _ := testEnv()
	for in, want := range map[string]string{
		"in out":                            "convert -- in out",
		"convert in out":                    "convert -- in out",
		"in -q out":                         "convert -q -- in out",
		"in out --to bag -f":                "convert --to bag -f -- in out",
		"--to bag convert in out":           "convert --to bag -- in out",
		"-q --to=bag in out":                "convert -q --to=bag -- in out",
		"in -o out":                         "convert -o out -- in",
		"info in":                           "info -- in",
		"--json info in":                    "info --json -- in",
		"./info out":                        "convert -- ./info out",
		"-- info out":                       "convert -- info out",
		"in -- -out --to":                   "convert -- in -out --to",
		"in - ":                             "convert -- in -",
		"--level -3 in out":                 "convert --level -3 -- in out",
		"topics --json=false in":            "topics --json=false -- in",
		"":                                  "",
		"--version":                         "version --",
		"convert --output=out -v in":        "convert --output=out -v -- in",
		"in --header-seq zero out --strict": "convert --header-seq zero --strict -- in out",
	} {
		l, err := arrange(strings.Fields(in), e.commands())
		got := strings.TrimSpace(l.verb + " " + strings.Join(l.args, " "))
		if in == "" {
			got = l.verb
		}
		if err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", in, got, err, want)
		}
	}
	for in, want := range map[string]string{
		"in out --forse":      "unknown flag --forse; did you mean --force?",
		"in out -to bag":      "unknown flag -to; did you mean --to?",
		"in out --f":          "unknown flag --f; did you mean -f?",
		"in out --xyzzyplugh": "unknown flag --xyzzyplugh; see: bagconv help; a file of that name is ./--xyzzyplugh",
		"in out --to":         "--to needs a value: the output format: fake; see: bagconv help",
		"in out --to --force": "--to needs a value: the output format: fake; see: bagconv help",
		"info --to bag in":    "--to is no flag of info; see: bagconv help info",
		"version -q":          "-q is no flag of version; see: bagconv help version",
	} {
		if _, err := arrange(strings.Fields(in), e.commands()); err == nil || err.Error() != want {
			t.Errorf("%q: %v; want %q", in, err, want)
		}
	}
}

// TestFlagKinds: the line is sorted before the command is known, so a flag must
// take a value in all commands or in none.
func TestFlagKinds(t *testing.T) {
	e, _, _ := testEnv()
	kinds := map[string]bool{}
	for _, c := range e.commands() {
		for _, f := range c.Flags {
			_, isBool := f.(*cli.BoolFlag)
			for _, name := range f.Names() {
				if before, ok := kinds[name]; ok && before != isBool {
					t.Errorf("%s: --%s takes a value in one command and none in another", c.Name, name)
				}
				kinds[name] = isBool
			}
		}
	}
}

// TestHelp: every help text names its flags, ends with the exit statuses, has
// examples, and fits 80 columns.
func TestHelp(t *testing.T) {
	e, out, _ := testEnv()
	var names []string
	for _, c := range e.commands() {
		names = append(names, c.Name)
		text := e.helpText(c.Name)
		for _, f := range c.Flags {
			for _, name := range f.Names() {
				if !strings.Contains(text, dashed(name)) {
					t.Errorf("help %s does not name %s", c.Name, dashed(name))
				}
			}
		}
		out.Reset()
		if err := e.run(context.Background(), []string{"bagconv", c.Name, "--help"}); err != nil || out.String() != text {
			t.Errorf("%s --help: %v, %q", c.Name, err, out)
		}
		out.Reset()
		if err := e.run(context.Background(), []string{"bagconv", "help", c.Name}); err != nil || out.String() != text {
			t.Errorf("help %s: %v", c.Name, err)
		}
	}
	if !slices.Equal(names, verbs) {
		t.Errorf("commands %v, verbs %v", names, verbs)
	}
	real := &env{formats: all.Registry()}
	for name := range helpTexts {
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

func TestUnits(t *testing.T) {
	for in, want := range map[string]int64{
		"1": 1, "1000": 1000, "768K": 768 << 10, "4M": 4 << 20, "1.5M": 3 << 19, "4MB": 4_000_000, "4MiB": 4 << 20, "2g": 2 << 30, "10b": 10, "4 M": 4 << 20,
	} {
		if got, err := storage.ParseSize(in); err != nil || got != want {
			t.Errorf("%s: %d, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "0", "-1", "x", "4X", "M", "1e30", "nan", "inf", "0.1"} {
		if got, err := storage.ParseSize(in); err == nil {
			t.Errorf("%q: %d", in, got)
		}
	}
	for in, want := range map[int64]string{
		0: "0 bytes", 999: "999 bytes", 1000: "1.0 kB", 91_800_123: "91.8 MB", 999_960: "1.0 MB", 1_500_000_000: "1.5 GB",
	} {
		if got := sizeText(in); got != want {
			t.Errorf("%d: %s", in, got)
		}
	}
	for in, want := range map[int64]string{
		0: "0s", 1500: "2µs", 45_550_000_000: "45.55s", 59_999_900_000: "60s", 185_200_000_000: "3m05.2s", 3_723_000_000_000: "1h02m03s", -5: "-5ns",
	} {
		if got := durationText(in); got != want {
			t.Errorf("%d: %s, want %s", in, got, want)
		}
	}
	for in, want := range map[int64]string{
		1_700_000_000_500_000_000: "2023-11-14T22:13:20.5Z (1700000000.500000000)",
		-1:                        "1969-12-31T23:59:59.999999999Z (-0.000000001)",
	} {
		if got := timeAndEpoch(in); got != want {
			t.Errorf("%d: %s", in, got)
		}
	}
	for in, want := range map[int64]string{1: "1", 999: "999", 1000: "1,000", 1234567: "1,234,567", -123456: "-123,456"} {
		if got := grouped(in); got != want {
			t.Errorf("%d: %s", in, got)
		}
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"/imu": "/imu", "/gr\u00fc\u00df": "/gr\u00fc\u00df", "a\x1b[31mb": `a\x1b[31mb`, "a\nb": `a\x0ab`, "\u009b": `\x9b`, "a\xffb": `a\xffb`, "\ufffd": "\ufffd",
		"/a\u202eb": `/a\u202eb`, "\u2066": `\u2066`, "\u2028": `\u2028`, "\ufeff": `\ufeff`, "\u00ad": `\xad`, "\U000e0001": `\ue0001`,
	} {
		if got := clean(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestForReader(t *testing.T) {
	const text = "# \x1b[31m\a\n\tint32 a\n\nlast"
	if got := (&env{}).forReader(text); got != text {
		t.Errorf("%q in a pipe", got)
	}
	e := &env{Stdio: Stdio{OutTerminal: true}}
	if got, want := e.forReader(text), "# \\x1b[31m\\x07\n\tint32 a\n\nlast"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestNearest(t *testing.T) {
	words := []string{"convert", "info", "topics", "schema"}
	for in, want := range map[string]string{"inof": "info", "topic": "topics", "convrt": "convert", "zzzzzz": "", strings.Repeat("x", 1000): ""} {
		if got := nearest(in, words); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

func FuzzArrange(f *testing.F) {
	f.Add("in out --to bag -f")
	f.Add("-- --help -o=")
	e, _, _ := testEnv()
	commands := e.commands()
	f.Fuzz(func(t *testing.T, in string) {
		args := strings.Split(in, " ")
		l, err := arrange(args, commands)
		if err == nil && !l.help && l.verb != "version" && len(l.args) > len(args)+1 {
			t.Errorf("%q became longer: %q", args, l.args)
		}
	})
}

// TestSpan: the longest span of all is one, and not -1 ns.
func TestSpan(t *testing.T) {
	for s, want := range map[span][2]string{
		{0, 45_550_000_000}:                {"45550000000", "45.55s"},
		{math.MinInt64, math.MaxInt64}:     {"18446744073709551615", "5124095h34m33s"},
		{-1, math.MaxInt64}:                {"9223372036854775808", "2562047h47m16s"},
		{math.MaxInt64, math.MaxInt64}:     {"0", "0s"},
		{2_000_000_000, 1_000_000_000}:     {"-1000000000", "-1s"},
		{math.MinInt64, math.MinInt64 + 1}: {"1", "0s"},
	} {
		if s.ns() != want[0] || s.text() != want[1] {
			t.Errorf("%v: %s, %s; want %v", s, s.ns(), s.text(), want)
		}
	}
}
