package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/live"
)

// A keyboard returns what is typed at once with each Read, as a terminal does.
type keyboard []string

func (k *keyboard) Read(b []byte) (int, error) {
	if len(*k) == 0 {
		return 0, fmt.Errorf("no more keys")
	}
	n := copy(b, (*k)[0])
	*k = (*k)[1:]
	return n, nil
}

// TestKeys: what the keys do while a recording plays.
func TestKeys(t *testing.T) {
	clock := live.NewClock(1, false)
	var printed []string
	say := func(format string, a ...any) { printed = append(printed, fmt.Sprintf(format, a...)) }
	readKeys(&keyboard{"\x1b[A\x1b[B\x1b", "OB", " s", "\x1b[", "C", "x", "\x1b", "x"}, clock, say)
	if want := []string{"rate 1.1", "rate 1", "rate 0.909", "paused"}; !slices.Equal(printed, want) {
		t.Errorf("%q", strings.Join(printed, "|"))
	}
	for range 2 { // messages, one for each step
		if err := clock.Wait(t.Context(), "/a", 1e18); err != nil {
			t.Fatal(err)
		}
	}
	readKeys(&keyboard{" "}, clock, say)
	if printed[len(printed)-1] != "playing" {
		t.Errorf("%q", printed)
	}
}
