package iox

import (
	"os"
	"path/filepath"
	"testing"
)

// TestUnfinished: an output that is aborted, or whose process is gone, stays; one that gets its
// name leaves nothing, also if it replaces another.
func TestUnfinished(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	start := func() (*Output, *Unfinished) {
		u := KeepUnfinished(nil)
		o, err := NewOutput(u, path, true, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(o.Temp(), []byte("messages"), 0o666); err != nil {
			t.Fatal(err)
		}
		return o, u
	}
	for range 2 {
		o, u := start()
		if u.Left() != o.Temp() {
			t.Errorf("%q is left, not %q", u.Left(), o.Temp())
		}
		if err := o.Commit(); err != nil {
			t.Fatal(err)
		}
		if entries, _ := os.ReadDir(dir); len(entries) != 1 || u.Left() != "" {
			t.Errorf("%v after the output has its name, %q is left", entries, u.Left())
		}
	}
	o, u := start()
	if err := o.Abort(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		found, err := CleanUp(nil, path)
		if err != nil || len(found) != 1 || found[0].Kept != o.Temp() || found[0].Err != nil {
			t.Fatalf("%+v, %v", found, err)
		}
	}
	if b, err := os.ReadFile(u.Left()); string(b) != "messages" {
		t.Errorf("%q, %v", b, err)
	}
	for _, suffix := range []string{".00000", ".00001"} { // segments
		if err := os.Rename(o.Temp(), o.Temp()+suffix); err != nil {
			err = os.WriteFile(o.Temp()+suffix, nil, 0o666)
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if u.Left() != o.Temp() {
		t.Errorf("%q is left of segments", u.Left())
	}
}
