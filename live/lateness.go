package live

import (
	"math/bits"
	"time"
)

// A Lateness is by how much messages were sent after they were due. It counts them in steps of at
// most a sixteenth of the value. The zero value has no messages.
type Lateness struct {
	Messages int64
	Most     time.Duration

	counts [lateSteps]int64
}

// lateSteps is the number of steps up to the greatest duration: 32 of a nanosecond, then 16 for each
// doubling.
const lateSteps = 16 * (63 - 5 + 2)

// add counts a message that was sent d after it was due, d not below 0.
func (l *Lateness) add(d time.Duration) {
	shift := max(bits.Len64(uint64(d))-5, 0)
	l.counts[16*shift+int(d>>shift)]++
	l.Messages++
	l.Most = max(l.Most, d)
}

// P99 returns the time within which 99 of 100 messages were sent, rounded up to the end of a step.
func (l *Lateness) P99() time.Duration {
	left := l.Messages - l.Messages/100
	for i, n := range l.counts {
		if left -= n; left <= 0 && l.Messages > 0 {
			shift := max(i/16-1, 0)
			return min(time.Duration(i-16*shift+1)<<shift-1, l.Most)
		}
	}
	return 0
}
