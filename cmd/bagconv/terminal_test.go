package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A terminal is a pseudo-terminal that tmux draws, so that a test sees what a
// person would see.
type terminal struct {
	t      *testing.T
	socket string
}

// newTerminal runs a script of the shell in a terminal of that size. The script
// finds bagconv as $B; the terminal stays when it is through.
func newTerminal(t *testing.T, columns, rows int, script string, environ ...string) *terminal {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("tmux is missing")
		}
		t.Skip("there is no tmux")
	}
	dir, err := os.MkdirTemp("", "tmux") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{t, filepath.Join(dir, "s")}
	t.Cleanup(func() {
		_ = exec.Command("tmux", "-S", term.socket, "kill-server").Run()
		os.RemoveAll(dir)
	})
	cmd := exec.Command("tmux", "-S", term.socket, "-u", "-f", os.DevNull, "new-session", "-d",
		"-x", fmt.Sprint(columns), "-y", fmt.Sprint(rows), script+"; sleep 600")
	cmd.Env = append(os.Environ(), append(environ, "B="+binary, "SHELL=/bin/sh")...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("tmux: %v: %s", err, out)
	}
	return term
}

// screen returns the rows that are not empty. With -J rows that belong to one
// line are joined, with -e there are the escape sequences of colours.
func (term *terminal) screen(flags ...string) []string {
	term.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", term.socket, "capture-pane", "-p"}, flags...)...).Output()
	if err != nil {
		term.t.Fatal(err)
	}
	rows := strings.Split(strings.TrimRight(string(out), "\n"), "\n")
	for i := range rows {
		rows[i] = strings.TrimRight(rows[i], " ")
	}
	return rows
}

// until waits until the last row is the text, and shows each screen before.
func (term *terminal) until(text string, show func(rows []string)) []string {
	term.t.Helper()
	for began := time.Now(); time.Since(began) < 2*time.Minute; time.Sleep(20 * time.Millisecond) {
		rows := term.screen()
		if rows[len(rows)-1] == text {
			return rows
		}
		if show != nil {
			show(rows)
		}
	}
	term.t.Fatalf("no %q: %q", text, term.screen())
	return nil
}

// TestHelpInTerminal: on a terminal of 80 columns each help text stands as it
// is: no line is wrapped, none is cut.
func TestHelpInTerminal(t *testing.T) {
	text, err := exec.Command(binary, "help").Output()
	if err != nil {
		t.Fatal(err)
	}
	verbs := []string{""}
	for _, m := range regexp.MustCompile(`(?m)^  (\w+) `).FindAllStringSubmatch(string(text), -1) {
		if !strings.Contains(m[1], "drive") && m[1] != verbs[len(verbs)-1] {
			verbs = append(verbs, m[1])
		}
	}
	seen := map[string]bool{}
	for _, verb := range verbs {
		if seen[verb] {
			continue
		}
		seen[verb] = true
		args := strings.Fields("help " + verb)
		text, err := exec.Command(binary, args...).Output()
		if err != nil {
			t.Fatalf("help %s: %v", verb, err)
		}
		want := append(strings.Split(strings.TrimRight(string(text), "\n"), "\n"), "through")
		term := newTerminal(t, 80, len(want)+20, "$B "+strings.Join(args, " ")+"; echo through")
		rows := term.until("through", nil)
		joined := term.screen("-J")
		if strings.Join(rows, "\n") != strings.Join(joined, "\n") {
			t.Errorf("help %s is wrapped at 80 columns", verb)
		}
		if strings.Join(rows, "\n") != strings.Join(want, "\n") {
			t.Errorf("help %s: on the terminal:\n%s", verb, strings.Join(rows, "\n"))
		}
	}
	if len(seen) < 16 {
		t.Errorf("only %d texts", len(seen))
	}
}

// TestBarInTerminal: the bar is one row, whatever the width, and nothing of it
// remains: not at the end, not after ^C.
func TestBarInTerminal(t *testing.T) {
	if testing.Short() {
		t.Skip("runs that last long enough to be seen")
	}
	bag := generated(t, "-profile", "small", "-mb", "20")
	dir := filepath.Dir(bag)
	for _, columns := range []int{80, 40, 20} {
		bars, wide := 0, 0
		show := func(rows []string) {
			t.Helper()
			text := strings.Join(rows, "\n")
			if rows[0] == "" || text == "begin" || strings.Contains(text, "->") || strings.Contains(text, "bagconv:") {
				return // before, or after
			}
			if len(rows) != 2 || !regexp.MustCompile(`^(\[=*> *\] |\^C[=>]* *\] )?[\d^]`).MatchString(rows[1]) {
				t.Errorf("%d columns: %q", columns, rows)
			} else {
				bars, wide = bars+1, max(wide, len(rows[1]))
			}
		}
		out := filepath.Join(dir, fmt.Sprintf("%d.bag", columns))
		run := fmt.Sprintf("trap : INT; cd %s; echo begin; $B in.bag %s --compression bz2 --threads 1; echo status $?", dir,
			filepath.Base(out))
		term := newTerminal(t, columns, 20, run)
		term.until("status 0", show)
		if rows := term.screen("-J"); !regexp.MustCompile(
			`^begin in.bag -> \d+.bag: [\d,]+ messages, .* MB/s\) status 0$`).MatchString(unfolded(rows)) {
			t.Errorf("%d columns: what remains is %q", columns, rows)
		}
		if bars < 3 || wide >= columns || columns == 80 && wide < 60 {
			t.Errorf("%d columns: the bar was seen %d times, up to %d columns wide", columns, bars, wide)
		}
		if err := os.Remove(out); err != nil {
			t.Fatal(err)
		}

		term, bars = newTerminal(t, columns, 20, run), 0
		term.until("status 130", func(rows []string) {
			before := bars
			if show(rows); before < 2 && bars == 2 {
				if err := exec.Command("tmux", "-S", term.socket, "send-keys", "C-c").Run(); err != nil {
					t.Fatal(err)
				}
			}
		})
		if rows := term.screen("-J"); !strings.HasSuffix(unfolded(rows),
			fmt.Sprintf(" bagconv: %d.bag: interrupted; nothing was written status 130", columns)) {
			t.Errorf("%d columns: what remains after ^C is %q", columns, rows)
		}
	}
}

// unfolded joins rows, of which long ones are folded in narrow terminals.
func unfolded(rows []string) string {
	return strings.Join(strings.Fields(strings.Join(rows, " ")), " ")
}

// TestColorInTerminal: an error is red on a terminal, unless NO_COLOR or the
// line asks for it; standard output has no colour.
func TestColorInTerminal(t *testing.T) {
	const red = "\x1b[31mbagconv:"
	for _, c := range []struct {
		flag, environ string
		want          bool
	}{{"", "", true}, {"--color=auto", "", true}, {"--color=never", "", false}, {"", "NO_COLOR=1", false},
		{"--color=always", "NO_COLOR=1", true}, {"", "TERM=dumb", false}} {
		// tmux gives its sessions a TERM of its own.
		term := newTerminal(t, 80, 100, c.environ+" $B none.bag out/ "+c.flag+"; $B formats "+c.flag+"; echo through",
			"NO_COLOR=")
		term.until("through", nil)
		rows := term.screen("-e")
		colored := strings.Contains(rows[0], red)
		if !strings.Contains(rows[0], "no such file or folder") || colored != c.want ||
			strings.Contains(strings.Join(rows[1:], ""), "\x1b[3") && !c.want {
			t.Errorf("%+v: %q", c, rows)
		}
	}
}
