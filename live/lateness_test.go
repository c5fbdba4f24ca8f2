package live

import (
	"math"
	"testing"
	"time"
)

// TestLateness: the percentile is that of the values, but for a sixteenth.
func TestLateness(t *testing.T) {
	var l Lateness
	if l.P99() != 0 {
		t.Errorf("%v of no messages", l.P99())
	}
	for i := range 10_000 {
		l.add(time.Duration(i) * time.Microsecond)
	}
	if p := l.P99(); p < 9899*time.Microsecond || p > 9999*time.Microsecond || l.Most != 9999*time.Microsecond ||
		l.Messages != 10_000 {
		t.Errorf("%v, %v", p, l.Most)
	}
	for _, d := range []time.Duration{0, 1, 31, 32, 33, 1000, 1 << 40, math.MaxInt64} {
		var one Lateness
		if one.add(d); one.P99() != d {
			t.Errorf("%v of %v", one.P99(), d)
		}
		if d == math.MaxInt64 {
			continue
		}
		one.add(math.MaxInt64)
		for range 1000 {
			one.add(d)
		}
		if p := one.P99(); p < d || p > d+d/16 {
			t.Errorf("%v of %v and a greater one", p, d)
		}
	}
}
