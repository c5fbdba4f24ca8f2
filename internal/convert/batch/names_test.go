package batch

import (
	"path/filepath"
	"testing"
)

// TestHarmless: names from a store have no characters on this machine that a terminal obeys or hides; on a store, and
// from this machine, they stay.
func TestHarmless(t *testing.T) {
	for name, want := range map[string]string{
		"a b/ü%20.x": "a b/ü%20.x", "a\x1b]0;x\x07/b\n": "a_]0;x_/b_", "\u202egab.exe": "_gab.exe", "a\xffb": "a_b",
		"\u0085\u2028": "__", "日本": "日本",
	} {
		if got := Harmless(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	const odd = "d\x1b/a\n"
	for _, c := range []struct{ path, out, want string }{
		{"s3:/b/x", "/out", "/out/d_/a_.mcap"}, {"s3:/b/x", "s3:/b/out", "s3:/b/out/" + odd + ".mcap"}, {"/in/x", "/out",
			"/out/" + odd + ".mcap"},
	} {
		got := Place([]*Input{{Path: c.path, Name: odd}}, c.out, ".mcap", nil)
		if filepath.ToSlash(got[0]) != c.want {
			t.Errorf("%s to %s: %q", c.path, c.out, got)
		}
	}
	same := Place([]*Input{{Path: "s3:/b/1", Name: "a\x01"}, {Path: "s3:/b/2", Name: "a\x02"}}, "/out", ".mcap", nil)
	if same[0] == same[1] {
		t.Errorf("two inputs have the output %q", same[0])
	}
}
