package cli

import (
	"context"
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
		_ = e.run(context.Background(), append([]string{"bagconv", "info", "no such file"}, c.args...))
		if e.color != c.want {
			t.Errorf("%+v: %v", c, e.color)
		}
	}
}
