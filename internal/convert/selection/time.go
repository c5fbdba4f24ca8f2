package selection

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/bagconv/bagconv/storage"
)

// A Time is a point in a recording as people write it: see ParseTime. The
// zero value is not set.
type Time struct {
	from anchor
	ns   int64
}

type anchor uint8

const (
	unset anchor = iota
	fromStart
	fromEnd
	absolute
	clockFromStart // as fromStart, or if that is after the recording, a time of day in it
	ofDay          // after midnight UTC
	percent        // of the length, in units of 1e-9
)

// Set reports whether there is a time.
func (t Time) Set() bool { return t.from != unset }

// at returns the time in a recording, ns since 1970. The end of a recording, as
// the end of a selection, lies after its last message.
func (t Time) at(info *storage.Info, asEnd bool) (int64, error) {
	switch {
	case t.from == fromStart:
		return add(info.Start, t.ns), nil
	case t.from == clockFromStart:
		return t.clockAt(info), nil
	case t.from == ofDay:
		return t.dayAt(info)
	case t.from == percent && t.ns < wholePercent:
		hi, lo := bits.Mul64(uint64(info.End)-uint64(info.Start), uint64(t.ns))
		part, _ := bits.Div64(hi, lo, wholePercent)
		return info.Start + int64(part), nil
	case (t.from == fromEnd && t.ns == 0 || t.from == percent) && asEnd:
		return add(info.End, 1), nil
	case t.from == percent:
		return info.End, nil
	case t.from == fromEnd:
		return add(info.End, t.ns), nil
	}
	return t.ns, nil
}

// wholePercent is 100 % of a recording, and day is the length of one, in ns.
const wholePercent, day = 100 * nsPerSec, 24 * 3600 * nsPerSec

// midnight returns the start of the day of a time, UTC.
func midnight(ns int64) int64 { return add(ns, -((ns%day + day) % day)) }

// clockAt returns the time after the start of a recording, or if that is after its end, the time of day within it.
func (t Time) clockAt(info *storage.Info) int64 {
	at := add(info.Start, t.ns)
	if at <= info.End || t.ns >= day {
		return at
	}
	for _, m := range []int64{midnight(info.Start), midnight(info.End)} { // it is shorter than a day
		if ofDay := add(m, t.ns); ofDay >= info.Start && ofDay <= info.End {
			return ofDay
		}
	}
	return at
}

// dayAt returns the time of day in a recording. If that lies in days after each other, the time of day must be within
// it
// once.
func (t Time) dayAt(info *storage.Info) (int64, error) {
	first, last := midnight(info.Start), midnight(info.End)
	if first == last {
		return add(first, t.ns), nil
	}
	var within []int64
	for m := first; m <= last && len(within) < 2; m = add(m, day) {
		if at := add(m, t.ns); at >= info.Start && at <= info.End {
			within = append(within, at)
		}
		if m > math.MaxInt64-day {
			break
		}
	}
	if len(within) == 1 {
		return within[0], nil
	}
	what := "is not within the recording, which lasts"
	if len(within) > 1 {
		what = "is on several days of the recording, which lasts"
	}
	of := time.Unix(0, t.ns).UTC().Format("15:04:05.999999999Z")
	return 0, &TimeError{fmt.Sprintf("%s %s from %s to %s; write the date, too: %s", of, what, stamp(info.Start),
		stamp(info.End), stamp(add(first, t.ns)))}
}

// A TimeError is a time of day that does not name one time of a recording.
type TimeError struct{ What string }

func (e *TimeError) Error() string { return e.What }

// At returns an absolute time, ns since 1970.
func At(ns int64) Time { return Time{absolute, ns} }

const (
	leastNs   = 1_000_000_000_000_000 // integers from here on are ns since 1970
	leastOdd  = 100_000_000           // seconds from the start of a recording: three years
	nsPerSec  = 1_000_000_000
	maxSecond = math.MaxInt64/nsPerSec - 1
)

// ParseTime reads a time:
//
//	10  10.5  10s  1m30s  00:01:30  +10s   after the recording's first message
//	-30s  end-30s  -00:00:30  end          before its last message
//	22:13:20.5Z  22:13Z  22:13:20+02:00    at that time of day of the recording
//	22:13:20.5                             the same in UTC, if the recording is too short for 22 hours from the start
//	25%  12.5%                             after that part of its length
//	2024-05-01T12:00:00Z  ...+02:00        RFC 3339
//	@1676549454.5                          seconds since 1970
//	1676549454500000000                    ns since 1970, from 10^15 on
func ParseTime(s string) (Time, error) {
	rest := strings.TrimSpace(s)
	if epoch, ok := strings.CutPrefix(rest, "@"); ok {
		ns, ok := decimal(strings.TrimPrefix(epoch, "-"))
		if !ok {
			return Time{}, fmt.Errorf("%q: write seconds since 1970 after @, such as @1676549454.5", s)
		}
		if strings.HasPrefix(epoch, "-") {
			ns = -ns
		}
		return Time{absolute, ns}, nil
	}
	if len(rest) > 10 && rest[4] == '-' && (rest[10] == 'T' || rest[10] == 't' || rest[10] == ' ') {
		return parseDate(s, rest)
	}
	if n, err := strconv.ParseInt(rest, 10, 64); err == nil && n >= leastNs {
		return Time{absolute, n}, nil
	}
	if ns, ok := decimal(rest); ok && ns/nsPerSec >= leastOdd {
		return Time{}, fmt.Errorf("%q is %d years after the recording's start; for seconds since 1970 write @%s", s,
			ns/nsPerSec/(365*86400), rest)
	}
	if part, ok := strings.CutSuffix(rest, "%"); ok {
		if ns, ok := decimal(part); ok && ns <= wholePercent {
			return Time{percent, ns}, nil
		}
		return Time{}, fmt.Errorf("%q is not a part of a recording: write a number from 0%% to 100%%", s)
	}
	if ns, ok := timeOfDay(rest); ok {
		return Time{ofDay, ns}, nil
	}
	t := Time{from: fromStart}
	if strings.Count(rest, ":") == 2 {
		t.from = clockFromStart
	}
	sign := int64(1)
	switch {
	case rest == "start":
		return t, nil
	case rest == "end":
		return Time{from: fromEnd}, nil
	case strings.HasPrefix(rest, "end-"):
		t.from, sign, rest = fromEnd, -1, rest[len("end-"):]
	case strings.HasPrefix(rest, "-"):
		t.from, sign, rest = fromEnd, -1, rest[1:]
	case strings.HasPrefix(rest, "start+"):
		t.from = fromStart
		rest = rest[len("start+"):]
	case strings.HasPrefix(rest, "+"):
		t.from = fromStart
		rest = rest[1:]
	}
	ns, ok := span(rest)
	if !ok {
		return Time{}, fmt.Errorf("%q is not a time: write 10, 10s, 1m30s or 00:01:30 from the start, 25%%, -30s or end-30s "+
			"from the end, 22:13:20Z of the day, 2024-05-01T12:00:00Z, or @1676549454.5", s)
	}
	t.ns = sign * ns
	return t, nil
}

// timeOfDay reads a time with a zone and without a date, in ns after midnight UTC.
func timeOfDay(s string) (int64, bool) {
	for _, layout := range []string{"15:04:05Z07:00", "15:04Z07:00"} {
		if t, err := time.Parse(layout, strings.ToUpper(s)); err == nil {
			t = t.UTC()
			return int64(t.Sub(t.Truncate(day * time.Nanosecond))), true
		}
	}
	return 0, false
}

// parseDate reads RFC 3339. A time without a zone is refused: it means
// something else to everybody.
func parseDate(s, rest string) (Time, error) {
	at, err := time.Parse(time.RFC3339Nano, strings.ToUpper(rest[:10]+"T"+rest[11:]))
	if err != nil {
		if _, bare := time.Parse("2006-01-02T15:04:05", rest[:10]+"T"+rest[11:]); bare == nil {
			return Time{}, fmt.Errorf("%q has no time zone: add Z for UTC, or an offset such as +02:00", s)
		}
		return Time{}, fmt.Errorf("%q is not a time of RFC 3339, such as 2024-05-01T12:00:00Z", s)
	}
	if y := at.Year(); y < 1678 || y > 2261 {
		return Time{}, fmt.Errorf("%q: the year is out of range", s)
	}
	return Time{absolute, at.UnixNano()}, nil
}

// ParseDuration reads a duration above 0, in ns: 10, 10.5, 10s, 1m30s, 00:01:30.
func ParseDuration(s string) (int64, error) {
	ns, ok := span(strings.TrimSpace(s))
	if !ok || ns <= 0 {
		return 0, fmt.Errorf("%q is not a duration above 0: write 10, 10s, 1m30s or 00:01:30", s)
	}
	return ns, nil
}

// ParseOffset reads a duration with a sign, in ns: +0.3s, -1h, 00:00:10.
func ParseOffset(s string) (int64, error) {
	rest := strings.TrimSpace(s)
	sign := int64(1)
	if r, ok := strings.CutPrefix(rest, "-"); ok {
		sign, rest = -1, r
	} else {
		rest = strings.TrimPrefix(rest, "+")
	}
	ns, ok := span(rest)
	if !ok {
		return 0, fmt.Errorf("%q is not a duration: write +0.3s, -1h or 00:00:10", s)
	}
	return sign * ns, nil
}

// span reads a duration without a sign: a number of seconds, numbers with units,
// or a clock.
func span(s string) (int64, bool) {
	if s == "" || s[0] == '-' || s[0] == '+' {
		return 0, false
	}
	if ns, ok := decimal(s); ok {
		return ns, true
	}
	if strings.Contains(s, ":") {
		return clock(s)
	}
	d, err := time.ParseDuration(s)
	return int64(d), err == nil
}

// decimal reads seconds with at most 9 places, exactly.
func decimal(s string) (int64, bool) {
	whole, frac, _ := strings.Cut(s, ".")
	sec, err := strconv.ParseUint("0"+whole, 10, 63)
	if err != nil || sec > maxSecond || len(frac) > 9 || len(whole)+len(frac) == 0 {
		return 0, false
	}
	ns, err := strconv.ParseUint((frac + "000000000")[:9], 10, 63)
	return int64(sec)*nsPerSec + int64(ns), err == nil
}

// clock reads [H:]MM:SS[.frac].
func clock(s string) (int64, bool) {
	parts := strings.Split(s, ":")
	if len(parts) > 3 {
		return 0, false
	}
	total := int64(0)
	for i, part := range parts {
		last := i == len(parts)-1
		if part == "" || !last && strings.Contains(part, ".") {
			return 0, false
		}
		ns, ok := decimal(part)
		if !ok || ns > 1e6*nsPerSec || i > 0 && ns >= 60*nsPerSec {
			return 0, false
		}
		total = total*60 + ns
	}
	return total, true
}

// In returns the time in a recording, ns since 1970. The error is a *TimeError.
func (t Time) In(info *storage.Info) (int64, error) { return t.at(info, false) }

// A Window is a range of log times, ns since 1970; both belong to it.
type Window struct{ First, Last int64 }

// Of returns a selection with the window in place of its own times. A bound that
// is the least or the greatest of int64 is open. Stretches of Where are still looked for in all of the selection.
func (w Window) Of(s Selection) Selection {
	if s.Where.around == nil {
		s.Where.around = &Selection{Start: s.Start, End: s.End, Duration: s.Duration}
	}
	s.Start, s.End, s.Duration = Time{}, Time{}, 0
	if w.First != math.MinInt64 {
		s.Start = Time{absolute, w.First}
	}
	if w.Last != math.MaxInt64 {
		s.End = Time{absolute, w.Last + 1}
	}
	return s
}
