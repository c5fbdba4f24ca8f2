package cli

import (
	"context"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/help"
)

// TestMan: the manual page has every flag and every word of the help texts, and
// groff, where it is installed, accepts it without a warning.
func TestMan(t *testing.T) {
	e, out, _ := testEnv()
	if err := e.printMan(context.Background()); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	for _, c := range e.commands() {
		at := strings.Index(page, "\n.SH BAGCONV "+strings.ToUpper(c.Name)+"\n")
		if at < 0 {
			t.Errorf("no section on %s", c.Name)
		}
		for _, f := range c.Flags {
			if f.Group != nil && !strings.Contains(page, "\n.IP \"\\fB"+strings.ReplaceAll(f.Spellings(), "-", `\-`)) {
				t.Errorf("%s: no %s", c.Name, f.Spellings())
			}
		}
	}
	for i, r := range page {
		if r >= 0x80 || r < ' ' && r != '\n' {
			t.Fatalf("byte %d is %q", i, r)
		}
	}

	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(groff, "-man", "-ww", "-Tascii", "-P-c", "-P-b", "-P-u", "-rLL=200n", "-rHY=0")
	cmd.Stdin = strings.NewReader(page)
	var text, complaints strings.Builder
	cmd.Stdout, cmd.Stderr = &text, &complaints
	if err := cmd.Run(); err != nil || complaints.Len() > 0 {
		t.Errorf("groff: %v\n%s", err, &complaints)
	}
	space := regexp.MustCompile(`\s+`)
	words := map[string]bool{}
	for _, w := range space.Split(text.String(), -1) {
		words[strings.TrimRight(w, ".,:;")] = true
	}
	for _, name := range append(e.book().Names(), "") {
		for _, w := range strings.Fields(e.helpText(name, help.Brief)) {
			if w = strings.TrimRight(w, ".,:;"); !words[w] {
				t.Errorf("the page does not have the word %q of the help of %s", w, name)
			}
		}
	}
}
