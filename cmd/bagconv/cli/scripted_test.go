package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
)

// A scripted line is one that a script in testdata runs.
type scripted struct {
	where  string // the script
	status string // what it must exit with
	line   flags.Line
}

// TestScripted: the scripts and the rows of flags run every command and every flag of every
// command, successfully, and every exit status that the help of a command has.
func TestScripted(t *testing.T) {
	e, _, _ := testEnv()
	lines := scriptedLines(t, e)
	used := map[string]bool{} // "convert --force", "convert 0"
	for _, l := range lines {
		name := l.line.Command.Name
		used[name+" "+l.status] = true
		for _, f := range l.line.Settings {
			if l.status != "2" { // what is refused is no use of a flag
				used[name+" "+flags.Dashed(f.Flag.Name)] = true
			}
		}
	}
	for _, r := range FlagRows {
		for _, name := range r.Commands() {
			used[name+" "+flags.Dashed(r.Flag)] = true
			used[name+" "+strconv.Itoa(r.ExitStatus(name))] = true
		}
	}
	statuses := 0
	for _, c := range e.commands() {
		for _, f := range c.Flags {
			if name := flags.Dashed(f.Name); f.Group != nil && !used[c.Name+" "+name] {
				t.Errorf("no script and no row uses %s %s", c.Name, name)
			}
		}
		for x := range c.Exits {
			if statuses++; !used[c.Name+" "+strconv.Itoa(x)] {
				t.Errorf("no script has %s exit with %d", c.Name, x)
			}
		}
	}
	if len(lines) < 500 || statuses < 60 {
		t.Errorf("only %d lines, and %d exit statuses in the help", len(lines), statuses)
	}
}

// scriptedLines reads the scripts: lines that run bagconv, exits STATUS, or
// interrupted.
func scriptedLines(t *testing.T, e *env) (lines []scripted) {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) < 20 {
		t.Fatal(paths, err)
	}
	run := regexp.MustCompile(`^(?:\[.*\] )?exec (bagconv|exits (\d+)|interrupted|served)(?: |$)(.*)`)
	word := regexp.MustCompile(`(?:'[^']*'|[^\s'])+`)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		script, _, _ := strings.Cut(string(text), "\n-- ") // the rest are files
		for l := range strings.Lines(script) {
			m := run.FindStringSubmatch(strings.TrimSpace(l))
			if m == nil {
				continue
			}
			s := scripted{where: filepath.Base(path), status: m[2]}
			switch m[1] {
			case "bagconv", "served":
				s.status = "0"
			case "interrupted":
				s.status = "130"
			}
			args := word.FindAllString(m[3], -1)
			for i, a := range args {
				args[i] = strings.ReplaceAll(a, "'", "")
			}
			s.line, err = flags.Parse(e.commands(), args)
			if err != nil && s.status != "2" {
				t.Errorf("%s: %s: %v", s.where, l, err)
			}
			if s.line.Help != "" { // bagconv info --help is the same as bagconv help info
				s.line = flags.Line{Command: flags.Named(e.commands(), "help")}
			}
			if s.line.Command != nil {
				lines = append(lines, s)
			}
		}
	}
	return lines
}
