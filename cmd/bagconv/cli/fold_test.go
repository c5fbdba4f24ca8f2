package cli

import (
	"bytes"
	"testing"
)

// TestFold: a line that does not fit a terminal is broken between its parts and nowhere else;
// elsewhere it is one line.
func TestFold(t *testing.T) {
	path := "/data/2026-11-23/vehicle_0042/recordings of the second run/drive_0042_camera_front.bag"
	for _, c := range []struct {
		terminal   bool
		text, want string
	}{
		{true, "x.bag: it exists already; use --force", "bagconv: x.bag: it exists already; use --force\n"},
		{false, path + ": it exists already; use --force", "bagconv: " + path + ": it exists already; use --force\n"},
		{true, path + ": it exists already; use --force", "bagconv: " + path + ": it exists already;\n  use --force\n"},
		{true, path, "bagconv: " + path + "\n"},
	} {
		var b bytes.Buffer
		e := &env{Stdio: Stdio{Err: &b, Terminal: c.terminal}}
		e.sayError(c.text)
		if b.String() != c.want {
			t.Errorf("%q", b.String())
		}
	}
	e := &env{Stdio: Stdio{Err: &bytes.Buffer{}, Terminal: true}}
	if got, want := e.fold(path+" ->", "out/:", "3 messages"), path+" ->\n  out/: 3 messages"; got != want {
		t.Errorf("%q", got)
	}
}
