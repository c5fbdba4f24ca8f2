package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// A scripted line is one that a script in testdata runs.
type scripted struct {
	where  string // the script
	status string // what it must exit with
	line   line
}

// TestScripted: the scripts run every command and every flag of every command,
// successfully, and every exit status that the help of a command has.
func TestScripted(t *testing.T) {
	e, _, _ := testEnv()
	commands := e.commands()
	lines := scriptedLines(t, commands)
	used := map[string]bool{} // "convert --force", "convert 0"
	for _, l := range lines {
		used[l.line.verb+" "+l.status] = true
		c := commands[slices.IndexFunc(commands, func(c *cli.Command) bool { return c.Name == l.line.verb })]
		if l.status == "2" {
			continue // what is refused is no use of a flag
		}
		for _, arg := range l.line.args {
			if arg == "--" {
				break
			}
			name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
			for _, f := range c.Flags {
				if dashed(name) == strings.Split(arg, "=")[0] && slices.Contains(f.Names(), name) {
					used[c.Name+" "+dashed(f.Names()[0])] = true
				}
			}
		}
	}
	status := regexp.MustCompile(`(?m)^  (\d+) `)
	statuses := 0
	for _, c := range commands {
		for _, f := range c.Flags {
			if name := dashed(f.Names()[0]); !used[c.Name+" "+name] {
				t.Errorf("no script uses %s %s", c.Name, name)
			}
		}
		_, text, _ := strings.Cut(helpTexts[c.Name], "EXIT STATUS\n")
		for _, m := range status.FindAllStringSubmatch(text, -1) {
			if statuses++; !used[c.Name+" "+m[1]] {
				t.Errorf("no script has %s exit with %s", c.Name, m[1])
			}
		}
	}
	if len(lines) < 500 || statuses < 60 {
		t.Errorf("only %d lines, and %d exit statuses in the help", len(lines), statuses)
	}
}

// scriptedLines reads the scripts: lines that run bagconv, exits STATUS, or
// interrupted.
func scriptedLines(t *testing.T, commands []*cli.Command) (lines []scripted) {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) < 20 {
		t.Fatal(paths, err)
	}
	run := regexp.MustCompile(`^(?:\[.*\] )?exec (bagconv|exits (\d+)|interrupted)(?: |$)(.*)`)
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
			case "bagconv":
				s.status = "0"
			case "interrupted":
				s.status = "130"
			}
			args := word.FindAllString(m[3], -1)
			for i, a := range args {
				args[i] = strings.ReplaceAll(a, "'", "")
			}
			args, err := new(env).takeColor(args)
			if err == nil {
				s.line, err = arrange(args, commands)
			}
			switch {
			case err != nil && s.status != "2":
				t.Errorf("%s: %s: %v", s.where, l, err)
			case s.line.help: // bagconv info --help is the same as bagconv help info
				s.line = line{verb: "help"}
			}
			if s.line.verb != "" {
				lines = append(lines, s)
			}
		}
	}
	return lines
}
