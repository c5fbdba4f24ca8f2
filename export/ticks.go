package export

import (
	"math"

	"github.com/bagconv/bagconv/internal/export/align"
)

// ticks are times at equal distances, which become rows.
type ticks struct {
	at     int64 // the first
	period int64 // ns
	n      uint64
}

// tick adds the ticks of a rate before a time.
func (j *joiner) tick(now int64) {
	period := j.set.period
	if period == 0 || j.next >= now {
		return
	}
	if last := min(now-1, plus(j.last, uint64(max(align.Idle, j.set.maxGap)))); j.next <= last {
		n := (uint64(last)-uint64(j.next))/uint64(period) + 1
		j.ticks = append(j.ticks, ticks{j.next, period, n})
		j.next = plus(j.next+int64((n-1)*uint64(period)), uint64(period))
	}
	if j.next < now { // nothing came for long
		j.next = now
		if rest := (uint64(now) - uint64(j.ticksFrom)) % uint64(period); rest > 0 {
			j.next = plus(now, uint64(period)-rest)
		}
	}
}

// plus adds, up to the last time that there is.
func plus(t int64, d uint64) int64 {
	if d > uint64(math.MaxInt64)-uint64(t) {
		return math.MaxInt64
	}
	return int64(uint64(t) + d)
}

// ready makes rows of the ticks that no message from now on can change; all of them at the end, and the first ones if
// the messages that are kept for them are too many.
func (j *joiner) ready(now int64, end bool) error {
	for len(j.ticks) > 0 {
		t := &j.ticks[0]
		if !end && !j.settled(t.at, now) {
			if now <= t.at || j.keptBytes() < j.limit {
				break
			}
			j.early++
		}
		j.row(t.at)
		t.at += t.period
		if t.n--; t.n == 0 {
			j.ticks = j.ticks[1:]
		}
		if err := j.give(); err != nil {
			return err
		}
	}
	for _, x := range j.topics {
		x.forget()
	}
	return nil
}

// keptBytes returns how long the kept messages are, without the messages of rows that are made.
func (j *joiner) keptBytes() (n int) {
	for _, x := range j.topics {
		n += x.bytes
	}
	return n
}

// give hands out the rows when they are enough for a part of the table.
func (j *joiner) give() error {
	if j.w == nil || j.batch.Len() < maxRows && j.size < j.w.blockBytes {
		return nil
	}
	return j.w.handTo(j.take())
}
