package cli

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestMan: the manual page has every flag and every word of the help texts, and
// groff, where it is installed, accepts it without a warning.
func TestMan(t *testing.T) {
	e, out, _ := testEnv()
	if err := e.man(); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	for _, c := range e.commands() {
		at := strings.Index(page, "\n.SH BAGCONV "+strings.ToUpper(c.name)+"\n")
		if at < 0 {
			t.Errorf("no section on %s", c.name)
			continue
		}
		section := page[at+1:]
		section = section[:max(strings.Index(section[1:], "\n.SH "), 0)+1]
		if c.name == "help" { // the last one
			section = page[at:]
		}
		for _, f := range c.flags {
			if f.group != nil && !strings.Contains(section, "\n.TP\n.B "+roff(f.spellings())) {
				t.Errorf("%s: no %s", c.name, f.spellings())
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
		words[w] = true
	}
	for _, c := range append(e.commands(), &command{}) {
		for _, w := range strings.Fields(e.helpText(c.name)) {
			if !words[w] && !words[w+":"] {
				t.Errorf("the page does not have the word %q of the help of %s", w, c.name)
			}
		}
	}
}
