package nearest

import (
	"strings"
	"testing"
)

func TestWord(t *testing.T) {
	words := []string{"convert", "info", "topics", "schema"}
	for in, want := range map[string]string{"inof": "info", "topic": "topics", "convrt": "convert", "zzzzzz": "",
		strings.Repeat("x", 1000): ""} {
		if got := Word(in, words); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

func TestSuggest(t *testing.T) {
	words := []string{"/camera/left/image", "/camera/left", "/imu"}
	for in, want := range map[string]string{"LEFT": "/camera/left", "/imo": "/imu", "x": "", "/gps": ""} {
		if got := Suggest(in, words); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
	if got := Some(words, 2); got != "/camera/left/image, /camera/left and 1 more" {
		t.Error(got)
	}
}
