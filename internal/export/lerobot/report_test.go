package lerobot

import (
	"strings"
	"testing"
)

// TestLongEpisode: what LeRobot's timestamps cannot tell from its neighbours is said.
func TestLongEpisode(t *testing.T) {
	for frames, want := range map[int64]bool{30 * longestEpisode: false, 30 * (longestEpisode + 1): true} {
		notes := strings.Join(summarize([]Episode{{Frames: 5}, {Frames: frames}}, 30), "\n")
		if got := strings.Contains(notes, "lerobot refuses"); got != want {
			t.Errorf("%d frames: %s", frames, notes)
		}
	}
}
