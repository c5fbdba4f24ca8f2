package phrase

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestShorten: names keep what tells them apart.
func TestShorten(t *testing.T) {
	names := []string{"/sensors/camera_front/image_raw", "/sensors/camera_rear/image_raw", "/tf",
		"/a/name/that/resembles/no/other/one"}
	for room, want := range map[int][]string{
		14:  {"...front/im...", "...rear/ima...", "/tf", "...o/other/one"},
		20:  {"...camera_front/i...", "...camera_rear/im...", "/tf", "...bles/no/other/one"},
		100: names,
	} {
		got := Shorten(names, room)
		for i := range got {
			if got[i] != want[i] || Columns(got[i]) > room {
				t.Errorf("%d columns: %q, want %q", room, got[i], want[i])
			}
		}
	}
}

// TestShortenKeepsApart: different names stay different and equal names equal, in any room, of any script.
func TestShortenKeepsApart(t *testing.T) {
	var names []string
	for i := range 600 {
		names = append(names, fmt.Sprintf("/a/%d/%s/%d", i%3, strings.Repeat("x/", i%40), i/40),
			fmt.Sprintf("/\u753b\u50cf%s/%d", strings.Repeat("\u30ed", i%50), i/50), strings.Repeat("y", i), "/same/name/twice/here")
	}
	for room := LeastRoom; room < 60; room += 7 {
		of, is := map[string]string{}, map[string]string{}
		for i, short := range Shorten(names, room) {
			if Columns(short) > room || of[short] != "" && of[short] != names[i] || is[names[i]] != "" && is[names[i]] != short {
				t.Fatalf("%d columns: %q for %q and %q", room, short, names[i], of[short])
			}
			of[short], is[names[i]] = names[i], short
		}
	}
	if got := Shorten([]string{strings.Repeat("z", 1<<20), strings.Repeat("z", 1<<20) + "y"}, 20); got[0] == got[1] {
		t.Errorf("two long names are %q", got)
	}
	if got := Shorten([]string{"/a"}, 0); !slices.Equal(got, []string{"/a"}) {
		t.Errorf("%q", got)
	}
}

// TestFold: lines break at blanks, and nothing but blanks is lost.
func TestFold(t *testing.T) {
	for line, want := range map[string]string{
		"  a   bb 12,345 c": "  a   bb\n    12,345\n    c",
		"short":             "short", "": "", "  averylongword x": "  averylongword\n    x",
	} {
		if got := Fold(line, 4, 10); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func FuzzShorten(f *testing.F) {
	f.Add("/a/b\n/a/c\n\u753b\u753b", 12)
	f.Fuzz(func(t *testing.T, text string, room int) {
		room = max(LeastRoom, room%200)
		names := strings.Split(Clean(text), `\x0a`)
		of := map[string]string{}
		for i, short := range Shorten(names, room) {
			if Columns(short) > room || of[short] != "" && of[short] != names[i] {
				t.Fatalf("%d columns: %q for %q and %q", room, short, names[i], of[short])
			}
			of[short] = names[i]
		}
		columns := room
		for line := range strings.Lines(Fold(text, 4, columns)) {
			if line = strings.TrimRight(line, "\n"); Columns(line) > columns && strings.Contains(strings.Trim(line, " "), " ") &&
				!strings.Contains(text, "\n") {
				t.Fatalf("%d columns: %q", columns, line)
			}
		}
	})
}
