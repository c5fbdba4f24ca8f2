package cli

import (
	"bytes"
	"context"
	std "flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/formats/all"
)

// TestOneMoreFlag: an entry in the table is all that a flag needs. It is in the help, on the
// manual page, in what every shell completes (TestShells asks the shells), in files of
// --config, in what --print-config prints and in the table of docs/cli.md, and it sets what
// it sets.
func TestOneMoreFlag(t *testing.T) {
	config := filepath.Join(t.TempDir(), "job.yaml")
	if err := os.WriteFile(config, []byte("paint: blue\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (painted, out, errOut string, status int) {
		var o, eo bytes.Buffer
		e := &env{Stdio: Stdio{Out: &o, Err: &eo}, formats: all.Registry(), moreFlags: oneMore(&painted)}
		status = e.main(context.Background(), append([]string{"bagconv"}, args...))
		return painted, o.String(), eo.String(), status
	}
	for _, c := range []struct {
		args    []string
		status  int
		painted string
		has     string // of what is printed
	}{
		{[]string{"help", "convert"}, 0, "", "\n  -P, --paint red|blue  colour of the chunks; red is the default\n"},
		{[]string{"batch", "--help"}, 0, "", "\n  -P, --paint red|blue  colour of the chunks; red is the default\n"},
		{[]string{"man"}, 0, "", "\n.TP\n.B \\-P, \\-\\-paint red|blue\ncolour of the chunks; red is the default\n"},
		{[]string{"__complete", "--", "in", ".--pai"}, 0, "", "--paint\tcolour of the chunks\n:\n"},
		{[]string{"__complete", "--", "merge", "--paint", "."}, 0, "", "red\nblue\n:\n"},
		{[]string{"__complete", "--", "-P", "."}, 0, "", "red\nblue\n:\n"},
		{[]string{"split", "--paint", "blue", "--print-config"}, 0, "", "# bagconv split\npaint: blue\n"},
		{[]string{"split", "--config", config, "--print-config"}, 0, "", "# bagconv split\npaint: blue\n"},
		{[]string{"split", "--print-config"}, 0, "", "\n# paint: red\n"},
		{[]string{"no such file", "out.bag"}, 1, "red", "no such file"},
		{[]string{"no such file", "out.bag", "--paint=blue"}, 1, "blue", "no such file"},
		{[]string{"no such file", "out.bag", "--config", config}, 1, "blue", "no such file"},
		{[]string{"no such file", "out.bag", "--config", config, "-Pred"}, 1, "red", "no such file"},
		{[]string{"in.bag", "out.bag", "--paint"}, 2, "", "--paint needs a value: red or blue"},
		{[]string{"in.bag", "out.bag", "--piant", "red"}, 2, "", "did you mean --paint?"},
		{[]string{"in.bag", "out.bag", "--paint", "blu"}, 2, "", "--paint: unknown value \"blu\"; it is one of: red, blue; did you mean blue?"},
		{[]string{"info", "in.bag", "--paint", "red"}, 2, "", "--paint is not a flag of info"},
	} {
		if painted, out, errOut, status := run(c.args...); status != c.status || painted != c.painted || !strings.Contains(out+errOut, c.has) {
			t.Errorf("%v: status %d, %q is set\n%s%s\nwant %d, %q, %q", c.args, status, painted, out, errOut, c.status, c.painted, c.has)
		}
	}
	if _, out, _, _ := run("help", "info"); strings.Contains(out, "paint") {
		t.Error("info has --paint")
	}
	for _, shell := range shells {
		if _, out, _, _ := run("completion", shell); !strings.Contains(out, "__complete") {
			t.Errorf("the script for %s does not ask bagconv", shell)
		}
	}
	e := &env{formats: all.Registry(), moreFlags: oneMore(new(string))}
	if row := "| `-P, --paint red\\|blue` | `red` | convert, filter, merge, split, recover, batch, plan, append | colour of the chunks; red is the default |\n"; !strings.Contains(flagRows(e), row) {
		t.Errorf("%s\nis not in\n%s", row, flagRows(e))
	}
}

var update = std.Bool("update", false, "write the table of flags into docs/cli.md")

// flagRows returns the table of flags of docs/cli.md.
func flagRows(e *env) string {
	var b strings.Builder
	b.WriteString("| flag | default | commands | |\n|---|---|---|---|\n")
	for _, f := range e.flagTable() {
		commands, init := strings.Join(f.on, ", "), ""
		if f.on == nil {
			commands = "all"
		}
		if f.init != "" {
			init = "`" + f.init + "`"
		}
		help := e.expand(f.help)
		for _, v := range f.values {
			if v.about != "" {
				help += fmt.Sprintf(" `%s` (%s),", v.value, v.about)
			}
		}
		head := strings.TrimSpace(f.spellings() + " " + f.argument())
		cells := []string{"`" + head + "`", init, commands, strings.TrimSuffix(help, ",")}
		for i := range cells {
			cells[i] = strings.ReplaceAll(cells[i], "|", `\|`)
		}
		b.WriteString(strings.Join(strings.Fields("| "+strings.Join(cells, " | ")+" |"), " ") + "\n")
	}
	return b.String()
}

// TestFlagDocs: the table of docs/cli.md is that of the program. With -update it is written.
func TestFlagDocs(t *testing.T) {
	const path, begin, end = "../../../docs/cli.md", "<!-- flags: go test ./cmd/bagconv/cli -run FlagDocs -update -->\n\n", "\n<!-- end of flags -->\n"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	got, after, ends := strings.Cut(rest, end)
	want := flagRows(&env{formats: all.Registry()})
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
