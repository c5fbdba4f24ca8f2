package check

import (
	"fmt"
	"time"

	"github.com/bagconv/bagconv/storage"
)

// Severity describes how bad a finding is.
type Severity uint8

// The severities, the least first.
const (
	Note    Severity = iota // worth knowing
	Warning                 // odd: the recording can be used, but something is not as it should be
	Error                   // something is or may be missing or unreadable, or a contract is broken
)

var severityNames = [...]string{Note: "note", Warning: "warning", Error: "error"}

// Severities lists the names of the severities, the least first.
func Severities() []string { return severityNames[:] }

// String returns the name.
func (s Severity) String() string { return severityNames[s] }

// MarshalText returns the name.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// ParseSeverity returns the severity of a name.
func ParseSeverity(name string) (Severity, bool) {
	for i, n := range severityNames {
		if n == name {
			return Severity(i), true
		}
	}
	return 0, false
}

// A Finding is something that is wrong or odd.
type Finding struct {
	Number   int      `json:"number"` // from 1, in the order of Result.Findings
	Severity Severity `json:"severity"`
	// stable and short; docs/check.md lists the codes of this package, docs/formats the codes of
	// the readers
	Code    string `json:"code"`
	Topic   string `json:"topic"`   // "" unless it is about one topic
	Count   int64  `json:"count"`   // number of occurrences
	Message string `json:"message"` // lower case, with numbers
	Hint    string `json:"hint"`    // what to do; "" for no hint

	// Offset is the byte in the file (for messages, of the block with the first of them), or -1 for
	// no place in a file.
	Offset storage.Known `json:"offset"`
	// Time is the log time of the first message concerned (ns since 1970); nil if it is about no
	// message.
	Time *int64 `json:"time_ns,string"`
}

// add adds a finding that is about no message.
func (c *checker) add(s Severity, code, topic, hint, format string, a ...any) {
	c.findings = append(c.findings, Finding{Severity: s, Code: code, Topic: topic, Count: 1, Offset: -1,
		Message: fmt.Sprintf(format, a...), Hint: hint})
}

// addAt adds a finding about messages, the first of them at p.
func (c *checker) addAt(s Severity, code, topic string, n int64, p messagePlace, hint, format string, a ...any) {
	c.add(s, code, topic, hint, format, a...)
	f := &c.findings[len(c.findings)-1]
	f.Count, f.Offset, f.Time = n, storage.Known(p.offset), &p.time
}

// readerFindings makes findings of the reader's warnings.
func (c *checker) readerFindings() {
	for _, w := range c.info.Warnings {
		f := Finding{Severity: Warning, Code: w.Code, Count: 1, Message: w.Message, Hint: w.Hint, Offset: w.Offset}
		switch {
		case w.Code == storage.CodeOnePart: // as it was asked for
			f.Severity = Note
		case w.Damage:
			f.Severity = Error
		}
		c.findings = append(c.findings, f)
	}
}

// recordingFindings are about all topics together.
func (c *checker) recordingFindings(res *Result) {
	if res.Messages == 0 {
		c.add(Note, "recording-empty", "", "", "there are no messages")
	}
	if b := c.order.back; b.n > 0 {
		c.addAt(Note, "recording-unordered", "", b.n, b.first, "", "%s than the message before",
			times(b.n, "is earlier", "are earlier"))
	}
	if o := c.order.odd; o.n > 0 {
		c.addAt(Warning, "time-odd", "", o.n, o.first, "check the clock of the recording computer",
			"%s an implausible log time, the first %d ns since 1970", times(o.n, "has", "have"), o.first.time)
	}
	types := map[string]*stream{}
	for _, s := range c.streams {
		c.qosFindings(s)
		if first := types[s.name]; first == nil {
			types[s.name] = s
		} else if first.typ != s.typ {
			c.add(Warning, "topic-two-types", s.name,
				"programs that subscribe to it see only one of them; bagconv convert keeps them apart",
				"the topic has two types, %s and %s", first.typ, s.typ)
		}
	}
}

// streamFindings are about the times of one topic.
func (c *checker) streamFindings(s *stream, t *Topic, res *Result) {
	if s.n == 0 {
		c.add(Note, "topic-empty", s.name, "", "there are no messages of %s", s.typ)
		return
	}
	if b := s.back; b.n > 0 {
		what := ""
		if s.torn {
			what = "; its messages are too far out of order to look for gaps"
		}
		c.addAt(Warning, "time-jump", s.name, b.n, b.first, "bagconv convert writes messages in time order",
			"the log time goes back %s, at most by %s%s", often(b.n), span(b.greatest), what)
	}
	if !t.Regular {
		return
	}
	period := *t.Period
	limit := int64(c.o.Gap * float64(period))
	gaps, _ := s.gaps()
	n := 0
	for n < len(gaps) && gaps[n].length() > limit {
		t.Gaps = append(t.Gaps, [2]int64{gaps[n].from, gaps[n].to})
		n++
	}
	if n > 0 {
		g := gaps[0]
		c.addAt(Warning, "time-gap", s.name, int64(n), messagePlace{g.from, g.offset},
			"check the sensor, its driver and the recorder at that time",
			"%s longer than %v times the period of %s; the longest lasts %s", gapCount(n), c.o.Gap, span(period),
			span(g.length()))
	}
	edge := max(limit, 1e9)
	if d := sub(*res.End, s.max); d > edge {
		c.addAt(Warning, "topic-ends-early", s.name, 1, messagePlace{s.max, -1},
			"check the sensor and its driver at that time",
			"its last message is %s before the end of the recording; its period is %s", span(d), span(period))
	}
	if d := sub(s.min, *res.Start); d > edge {
		c.addAt(Note, "topic-starts-late", s.name, 1, messagePlace{s.min, -1}, "",
			"its first message is %s after the start of the recording; its period is %s", span(d), span(period))
	}
}

func gapCount(n int) string {
	switch {
	case n == 1:
		return "a gap is"
	case n >= maxGaps:
		return fmt.Sprintf("%d gaps or more are", n)
	}
	return fmt.Sprintf("%d gaps are", n)
}

// trackFindings are about the messages of one publisher.
func (c *checker) trackFindings(s *stream, id storage.TopicID, t *track) {
	name := s.name
	if who := c.info.Topics[id].Metadata[storage.MetaCallerID]; len(s.ids) > 1 && who != "" {
		name = s.name + " of " + who
	}
	say := func(sev Severity, code string, y tally, hint, format string, a ...any) {
		if y.n > 0 {
			c.addAt(sev, code, s.name, y.n, y.first, hint, format, a...)
			if name != s.name {
				f := &c.findings[len(c.findings)-1]
				f.Message = name[len(s.name)+1:] + ": " + f.Message
			}
		}
	}
	if t.bad.n > 0 {
		say(Error, "message-undecodable", t.bad, "the definition in the recording may differ from the publisher's",
			"%d of %d messages do not fit the definition of %s; the first: %v", t.bad.n, t.n, s.typ, t.firstBad)
	}
	say(Warning, "message-trailing", t.rest, "the definition in the recording may be older than the publisher",
		"%s bytes after the last field of %s, up to %d", times(t.rest.n, "has", "have"), s.typ, t.rest.greatest)
	say(Warning, "duplicate", t.duplicate, "two recorders or a merge may have written them twice",
		"%s the log time and the bytes of the one before", times(t.duplicate.n, "has", "have"))
	say(Note, "time-same", t.sameTime, "", "%s the log time of the one before", times(t.sameTime.n, "has", "have"))
	say(Warning, "stamp-same", t.stampSame, "the driver may publish the same data twice",
		"%s the header stamp of the one before", times(t.stampSame.n, "has", "have"))
	say(Warning, "stamp-back", t.stampBack, "check the clock of the sensor",
		"the header stamp goes back %s, at most by %s", often(t.stampBack.n), span(t.stampBack.greatest))
	say(Warning, "stamp-far", t.stampFar, "check the clocks of the sensor and of the recording computer",
		"%s a header stamp far from the log time, %s", times(t.stampFar.n, "has", "have"),
		between(t.stampLeast, t.stampGreatest))
	say(Note, "stamp-zero", t.stampZero, "", "%s a header stamp of zero", times(t.stampZero.n, "has", "have"))
}

// times is "1 message has" or "5 messages have".
func times(n int64, one, many string) string {
	if n == 1 {
		return "1 message " + one
	}
	return fmt.Sprintf("%d messages %s", n, many)
}

func often(n int64) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// span writes a duration in ns with four digits or so.
func span(ns int64) string {
	d := time.Duration(ns)
	for _, unit := range []time.Duration{time.Hour, time.Second, time.Millisecond} {
		if abs(d) < unit {
			continue
		}
		if days := d / (24 * time.Hour); abs(days) >= 10 {
			return fmt.Sprintf("%d days", days)
		}
		if unit == time.Hour {
			return d.Round(time.Second).String()
		}
		return d.Round(unit / 1000).String()
	}
	return d.String()
}

func abs(d time.Duration) time.Duration {
	if d < 0 {
		return -d
	}
	return d
}

// between is "2s before it", "from 2s before to 1s after it".
func between(least, greatest int64) string {
	if a, b := signed(least), signed(greatest); a != b {
		return "from " + a + " to " + b + " it"
	}
	return signed(least) + " it"
}

// signed returns a difference to a time: "1.5s before", "2s after".
func signed(ns int64) string {
	if ns < 0 {
		return span(-max(ns, -1<<62)) + " before"
	}
	return span(ns) + " after"
}

// qosFindings are about profiles that publishers of one topic have not agreed on.
func (c *checker) qosFindings(s *stream) {
	var list []storage.QoS
	for _, id := range s.ids {
		list = append(list, c.info.Topics[id].QoS...)
	}
	if d := qosDifference(list); d != "" {
		c.add(Warning, "topic-qos", s.name, "bagconv convert --qos TOPIC:POLICIES sets one profile for all",
			"its %d QoS profiles differ, so that players offer their default: %s", len(list), d)
		c.findings[len(c.findings)-1].Count = int64(len(list))
	}
}
