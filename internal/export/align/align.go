// Package align decides which messages of a topic belong to a moment: the one before it, the nearest one, or the two
// around it. It has no messages, only their times, which increase.
//
//	messages   a1      a2      a3          of a topic
//	ticks      |   |   |   |   |   |       of a rate, or the messages of a topic
//	last       a1  a1  a2  a2  a3  a3      the last message not later than the tick
//
// A Rule does not change and may be used by any number of goroutines.
package align

// The methods.
const (
	Last    = "last"
	Nearest = "nearest"
	Linear  = "linear"
)

// Idle is how long the next message of a topic is waited for at most, if there is no longer gap, ns.
const Idle = 10_000_000_000

// A Rule is how messages are chosen.
type Rule struct {
	Method string // Last, Nearest or Linear
	MaxGap int64  // between a tick and the messages that belong to it, ns; 0: any
}

// Choose returns between which messages a tick is: i and k, share of the way to k, from 0 to 1; k
// is i where the values are from one message. i is -1 if no message belongs to the tick. before is
// the index of the last message that is not later than the tick, -1 if all are later.
func (r *Rule) Choose(times []int64, before int, tick int64) (i, k int, share float64) {
	near := func(i int) bool {
		return i >= 0 && i < len(times) && (r.MaxGap == 0 || max(tick-times[i], times[i]-tick) <= r.MaxGap)
	}
	after := before + 1
	switch {
	case r.Method == Linear && near(before) && times[before] != tick:
		if !near(after) {
			return -1, -1, 0
		}
		return before, after, float64(tick-times[before]) / float64(times[after]-times[before])
	case r.Method == Nearest && near(after) && (before < 0 || times[after]-tick < tick-times[before]):
		return after, after, 0
	case near(before):
		return before, before, 0
	}
	return -1, -1, 0
}

// Settled reports whether no message from now on can belong to a tick, whatever topic it has.
func (r *Rule) Settled(tick, now int64) bool {
	return now > tick && (r.Method == Last || r.MaxGap > 0 && now-tick > r.MaxGap || now-tick > Idle)
}

// Awaits reports whether the next message of a topic with messages at these times can belong to a tick that is not
// Settled.
func (r *Rule) Awaits(times []int64, tick int64) bool {
	return len(times) == 0 || times[len(times)-1] < tick
}
