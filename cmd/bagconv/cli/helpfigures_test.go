package cli

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/formats/all"
)

// printed returns what a line prints on a terminal of so many columns.
func printed(t *testing.T, columns int, line string) string {
	t.Helper()
	var out, errOut bytes.Buffer
	status := Run(context.Background(), strings.Fields("bagconv "+line), Stdio{Out: &out, Err: &errOut, OutTerminal: true,
		OutColumns: columns}, all.Registry())
	if status != 0 || errOut.Len() > 0 || out.Len() == 0 {
		t.Fatalf("bagconv %s: status %d: %s", line, status, &errOut)
	}
	return out.String()
}

// TestHelpFits: bagconv help fits on a screen of 40 lines, a page of a command is little more, and all pages are read
// in a sitting. No line is wider than the terminal, but for data and pipes, which no shell and no YAML would read
// folded.
func TestHelpFits(t *testing.T) {
	names := append((&env{formats: withExports(all.Registry())}).book().Names(), "")
	lines := 0
	for _, name := range names {
		n := strings.Count(printed(t, 80, "help "+name), "\n")
		lines += n
		if most := map[string]int{"": 40, "output": 70, "messages": 50, "export": 65}[name]; n > max(most, 45) ||
			most == 40 && n > most {
			t.Errorf("help %s has %d lines", name, n)
		}
	}
	if lines > maxHelp {
		t.Errorf("all help has %d lines", lines)
	}
	if n := strings.Count(printed(t, 80, "man"), "\n"); n > 1595 {
		t.Errorf("the manual page has %d lines", n)
	}
	whole := regexp.MustCompile(`^ +([{/].*|.*[|{].*)$`)
	for _, columns := range []int{40, 80, 200} {
		for _, name := range names {
			for _, line := range []string{"help " + name, name + " --help"} {
				for l := range strings.Lines(printed(t, columns, line)) {
					l = strings.TrimSuffix(l, "\n")
					if n := len([]rune(l)); n > min(columns, 80) && !(columns == 40 && whole.MatchString(l)) {
						t.Errorf("bagconv %s at %d columns has a line of %d: %s", line, columns, n, l)
					}
				}
			}
		}
	}
}

// maxHelp is how many lines all pages of help may have together: 18 of them are for --where, --within and --while, 4
// for times of day, percents and folders of recordings, 26 for index, 3 for --missing-topics, 33 for report.
const maxHelp = 1006
