package cli

import (
	"bytes"
	"cmp"
	"context"
	std "flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/complete"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/formats/all"
)

// TestOneMoreFlag: an entry in the table is all that a flag needs. It is in the help, on the
// manual page, in what every shell completes (TestShells asks the shells), in files of
// --config and in the table of docs/cli.md, and it sets what
// it sets.
func TestOneMoreFlag(t *testing.T) {
	config := filepath.Join(t.TempDir(), "job.yaml")
	if err := os.WriteFile(config, []byte("paint: blue\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (painted, out, errOut string, status int) {
		var o, eo bytes.Buffer
		e := &env{Stdio: Stdio{Out: &o, Err: &eo}, formats: withExports(all.Registry()), moreFlags: oneMore(&painted)}
		status = e.main(context.Background(), append([]string{"bagconv"}, args...))
		return painted, o.String(), eo.String(), status
	}
	for _, c := range []struct {
		args    []string
		status  int
		painted string
		has     string // of what is printed
	}{
		{[]string{"help", "convert"}, 0, "", "\n  -P, --paint red|blue  colour of the chunks\n"},
		{[]string{"filter", "--help"}, 0, "", "\n  -P, --paint red|blue  colour of the chunks; red is the default\n"},
		{[]string{"batch", "--help"}, 0, "", "\n  -P, --paint red|blue  colour of the chunks; red is the default\n"},
		{[]string{"man"}, 0, "",
			"\n.IP \"\\fB\\-P, \\-\\-paint red|blue\\fR\" 4\ncolour of the chunks; red is the default\n"},
		{[]string{"__complete", "--", "in", ".--pai"}, 0, "", "--paint\tcolour of the chunks\n:\n"},
		{[]string{"__complete", "--", "merge", "--paint", "."}, 0, "", "red\nblue\n:\n"},
		{[]string{"__complete", "--", "-P", "."}, 0, "", "red\nblue\n:\n"},
		{[]string{"no such file", "out.bag"}, 1, "red", "no such file"},
		{[]string{"no such file", "out.bag", "--paint=blue"}, 1, "blue", "no such file"},
		{[]string{"no such file", "out.bag", "--config", config}, 1, "blue", "no such file"},
		{[]string{"no such file", "out.bag", "--config", config, "-Pred"}, 1, "red", "no such file"},
		{[]string{"in.bag", "out.bag", "--paint"}, 2, "", "--paint needs a value: red or blue"},
		{[]string{"in.bag", "out.bag", "--piant", "red"}, 2, "", "did you mean --paint?"},
		{[]string{"in.bag", "out.bag", "--paint", "blu"}, 2, "",
			"--paint: unknown value \"blu\"; it is one of: red, blue; did you mean blue?"},
		{[]string{"info", "in.bag", "--paint", "red"}, 2, "", "--paint is not a flag of info"},
	} {
		if painted, out, errOut, status := run(c.args...); status != c.status || painted != c.painted ||
			!strings.Contains(out+errOut, c.has) {
			t.Errorf("%v: status %d, %q is set\n%s%s\nwant %d, %q, %q", c.args, status, painted, out, errOut, c.status,
				c.painted, c.has)
		}
	}
	if _, out, _, _ := run("help", "info"); strings.Contains(out, "paint") {
		t.Error("info has --paint")
	}
	for _, shell := range complete.Shells {
		if _, out, _, _ := run("completion", shell); !strings.Contains(out, "__complete") {
			t.Errorf("the script for %s does not ask bagconv", shell)
		}
	}
	e := &env{formats: withExports(all.Registry()), moreFlags: oneMore(new(string))}
	if rows := pageRows(e); !strings.Contains(rows, "`-P, --paint`") || strings.Count(rows, "--paint") != 1 {
		t.Errorf("--paint is not once in\n%s", rows)
	}
}

// TestOneMoreCommand: an entry in the list is all that a command needs. The line finds it and its flag, and it is in
// the list of commands, has a page of help, is on the manual page, in completion and in the table of docs/cli.md.
func TestOneMoreCommand(t *testing.T) {
	var polished string
	newEnv := func(out *bytes.Buffer) *env {
		e := &env{Stdio: Stdio{Out: out, Err: out}, formats: withExports(all.Registry())}
		coats := flags.Flag{Name: "coats", Short: "C", Arg: "N", Kind: flags.Number, Default: "1", Group: readGroup,
			On: "polish", Help: "how often; 1 is the default"}
		e.moreFlags = []flags.Flag{coats}
		e.moreCommands = []flags.Command{{
			Name: "polish", Part: repairPart, Call: "polish IN", Summary: "make a recording shine",
			About: "Makes a recording shine.", Examples: []string{"bagconv polish drive.bag"},
			Exits: flags.Exits{0: "it shines"},
			Run:   func(context.Context) error { polished = e.wordAt(0) + " " + e.command.Text("coats"); return nil },
		}}
		return e
	}
	for line, has := range map[string]string{
		"help": "\nREPAIR\n", "help polish": "bagconv polish [FLAGS] IN\n\nMakes a recording shine.\n\nEXAMPLES\n  bagconv " +
			"polish drive.bag\n\nFLAGS\n  -C, --coats N         how often\n",
		"polish --help": "\nEXIT STATUS\n  0    it shines\n  2    the command line is wrong\n", "man": ".SH BAGCONV POLISH\n",
		"__complete -- .pol":         "polish\tmake a recording shine\n",
		"__complete -- polish .--co": "--coats\thow often\n", "polish x.bag": "", "polish -C 3 x.bag": "",
		"polihs": "did you mean polish?",
	} {
		polished = ""
		var out bytes.Buffer
		status := newEnv(&out).main(context.Background(), strings.Fields("bagconv "+line))
		if want := map[string]string{"polish x.bag": "x.bag 1", "polish -C 3 x.bag": "x.bag 3"}[line]; polished != want ||
			(status != 0) != (line == "polihs") {
			t.Errorf("%s: status %d, %q is polished, want %q", line, status, polished, want)
		}
		if !strings.Contains(out.String(), has) || line == "help" && !strings.Contains(out.String(),
			"\n  polish     make a recording shine\n") {
			t.Errorf("%s: %s\nwant %q", line, &out, has)
		}
	}
	if rows, row := pageRows(newEnv(nil)), "| `polish` | make a recording shine | `-C, --coats` |\n"; !strings.Contains(
		rows, row) {
		t.Errorf("%s is not in\n%s", row, rows)
	}
}

var update = std.Bool("update", false, "write the table of docs/cli.md")

// pageRows returns the table of docs/cli.md: the pages of help, and the flags that each explains.
func pageRows(e *env) string {
	var b strings.Builder
	b.WriteString("| `bagconv help` ... | what it is about | flags |\n|---|---|---|\n")
	about, named := map[string]string{}, map[string][]string{}
	book := e.book()
	for _, t := range book.Topics {
		about[t.Name] = t.Summary
	}
	for _, c := range book.Commands {
		about[c.Name] = c.Summary
		for _, f := range c.Flags {
			if f.Group == nil {
				continue
			}
			page, name := cmp.Or(f.Group.Topic, c.Name), "`"+f.Spellings()+"`"
			if !slices.Contains(named[page], name) {
				named[page] = append(named[page], name)
			}
		}
	}
	for _, page := range book.Names() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", page, about[page], strings.Join(named[page], ", "))
	}
	return strings.ReplaceAll(b.String(), "|  |", "| |")
}

// TestFlagDocs: the table of docs/cli.md is that of the program. With -update it is written.
func TestFlagDocs(t *testing.T) {
	const path, begin, end = "../../../docs/cli.md", "<!-- flags: go test ./cmd/bagconv/cli -run FlagDocs -update -->\n\n",
		"\n<!-- end of flags -->\n"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	got, after, ends := strings.Cut(rest, end)
	want := pageRows(&env{formats: withExports(all.Registry())})
	if !ok || !ends {
		t.Fatal("docs/cli.md has no place for the table")
	}
	if *update {
		if err := os.WriteFile(path, []byte(before+begin+want+end+after), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	have := strings.Split(got, "\n")
	for row := range strings.Lines(want) {
		if row = strings.TrimSuffix(row, "\n"); !slices.Contains(have, row) {
			t.Errorf("docs/cli.md does not have the row\n%s", row)
		}
	}
	if got != want && !t.Failed() {
		t.Error("the table of docs/cli.md has other rows, or another order; -update writes it")
	}
}
