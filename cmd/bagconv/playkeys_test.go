package main

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bagconv/bagconv/internal/testing/rostest"
)

// press types keys in a terminal.
func (term *terminal) press(keys ...string) {
	term.t.Helper()
	if out, err := exec.Command("tmux", append([]string{"-S", term.socket, "send-keys"},
		keys...)...).CombinedOutput(); err != nil {
		term.t.Fatalf("%v: %s", err, out)
	}
}

// untilRow waits until a row has a text.
func (term *terminal) untilRow(text string) {
	term.t.Helper()
	has := func(row string) bool { return strings.Contains(row, text) }
	for end := time.Now().Add(time.Minute); !slices.ContainsFunc(term.screen(), has); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			term.t.Fatalf("no %q: %q", text, term.screen())
		}
	}
}

// played is a recording that is played in a terminal, and a subscriber of /pose, which has 20 messages.
func played(t *testing.T, script string) (*terminal, *rostest.Subscriber) {
	if testing.Short() {
		t.Skip("a terminal of tmux")
	}
	m, err := rostest.NewMaster("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	play := fmt.Sprintf("$B play ../../testdata/recordings/ros1/rosbag/none.bag -t /pose --wait-for-subscribers --to %s",
		m.Address)
	term := newTerminal(t, 100, 40, strings.ReplaceAll(script, "PLAY", play))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := m.Subscribe(ctx, "/pose")
	if err != nil {
		t.Fatalf("%v: %q", err, term.screen())
	}
	t.Cleanup(func() { _ = s.Conn.Close() })
	return term, s
}

// TestPlayKeys: the keys of a terminal pause, continue, step and change the rate, and the terminal is
// afterwards as it was.
func TestPlayKeys(t *testing.T) {
	term, s := played(t, "PLAY --paused --rate 0.1; stty -a | grep -o -w icanon; stty -a | grep -o -w echo; echo through")
	term.untilRow("paused; space plays")
	for _, key := range []string{"s", "Right"} {
		term.press(key)
		if list := s.Take(1, time.Minute); len(list) != 1 {
			t.Fatalf("nothing comes after %s", key)
		}
		if list := s.Take(1, 300*time.Millisecond); len(list) > 0 {
			t.Errorf("more than one message after %s", key)
		}
	}
	term.press("Up")
	term.untilRow("rate 0.11")
	term.press("Down", "Down")
	term.untilRow("rate 0.0909")
	term.press("Space")
	term.untilRow("space pauses")
	term.press("Space")
	term.untilRow("paused")
	for range 40 {
		term.press("Up") // 4.1 times as fast
	}
	term.untilRow("rate 4.1")
	term.press("Space")
	if n := 2 + len(s.Take(100, time.Minute)); n != 20 {
		t.Errorf("%d of 20 messages", n)
	}
	if rows := term.until("through", nil); !slices.Equal(rows[len(rows)-3:], []string{"icanon", "echo", "through"}) {
		t.Errorf("%q", rows)
	}
}

// TestPlayInBackground: a job in the background leaves the keys to the shell, and is not stopped.
func TestPlayInBackground(t *testing.T) {
	term, s := played(t, "set -m; PLAY --rate 10 & wait $!; echo status $?")
	if n := len(s.Take(100, 30*time.Second)); n != 20 {
		t.Errorf("%d of 20 messages", n)
	}
	term.until("status 0", nil)
}
