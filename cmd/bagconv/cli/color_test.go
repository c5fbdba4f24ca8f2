package cli

import (
	"runtime"
	"testing"
)

// TestColor: a terminal gets colours unless somebody wants none.
func TestColor(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	for _, c := range []struct {
		terminal bool
		noColor  string
		args     []string
		want     bool
	}{
		{true, "", nil, runtime.GOOS != "windows"},
		{true, "1", nil, false},
		{false, "", nil, false},
		{false, "1", []string{"--color", "always"}, true},
		{true, "", []string{"--color=never"}, false},
	} {
		t.Setenv("NO_COLOR", c.noColor)
		e, _, _ := testEnv()
		e.Terminal = c.terminal
		rest, err := e.takeColor(append([]string{"in"}, c.args...))
		if err != nil || len(rest) != 1 || e.color != c.want {
			t.Errorf("%+v: %v, %v, %v", c, e.color, rest, err)
		}
	}
}
