package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/live"
)

// TestPosition: the position has the place in the recording, the rate, what the keys do, and no more than one row.
func TestPosition(t *testing.T) {
	const start = 1_700_000_000_000_000_000
	clock := live.NewClock(0.5, true)
	var out bytes.Buffer
	p := &playPosition{clock: clock, start: start, end: start + 65e9, bar: barProgress{out: &out},
		ended: make(chan struct{})}
	show := func() string {
		out.Reset()
		p.draw()
		return strings.Trim(out.String(), "\r ")
	}
	if got := show(); got != "[>                     ] 0s of 1m5s, rate 0.5, paused" {
		t.Errorf("%q", got)
	}
	p.keys = true
	if got := show(); !strings.HasSuffix(p.text(start), "rate 0.5, paused; space plays, s sends one message") ||
		len(got) > 79 || !strings.Contains(got, "space plays") {
		t.Errorf("%q", got)
	}
	clock.Restart(start + 32e9)
	p.loop = true
	p.nextPass()
	p.nextPass()
	clock.Set(true, 2)
	if got := p.text(start + 32_440_000_000); !strings.HasPrefix(got, "32.4s of 1m5s, rate 2, pass 2, paused; ") {
		t.Errorf("%q", got)
	}
	clock.Set(false, 2)
	if got := p.text(start); got != "0s of 1m5s, rate 2, pass 2; space pauses, up and down change the rate" {
		t.Errorf("%q", got)
	}
	if got := show(); !strings.HasPrefix(got, "[==========>") && !strings.HasPrefix(got, "32s of 1m5s") {
		t.Errorf("%q", got)
	}
	p.begin()
	p.stop()
	if got := out.String(); !strings.HasSuffix(got, " \r") {
		t.Errorf("%q stays", got)
	}
	var none *playPosition // no terminal
	none.begin()
	none.nextPass()
	none.stop()
}
