package selection

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/storage"
)

// An Edit is what to change about the messages that are taken. The zero value
// changes nothing, and repeats latched state at a cut.
type Edit struct {
	Remap  []Rename // the first that matches a topic counts
	Prefix string   // in front of all names, after Remap

	Rates []Rate // throttle and every; the first that matches a topic counts

	Restamp Restamp
	Offset  int64 // ns, added to the log and publish times

	Latch Latch

	QoS []Profile // all that match a topic count, in their order

	Fields Fields
}

// Restamp describes which of a message's two times becomes the other's.
type Restamp uint8

const (
	RestampNone   Restamp = iota
	RestampHeader         // the log time becomes the stamp of the message's header
	RestampLog            // the stamp of the message's header becomes the log time
)

// A Rename is another name for topics.
type Rename struct {
	old    Pattern
	groups *regexp.Regexp // old with a group for each *; nil: no glob
	parts  []string       // of the new name, between what the groups matched
}

// ParseRename reads OLD:=NEW. OLD may be a glob; the first * of NEW is then what
// the first * of OLD matched, and so on.
func ParseRename(s string) (Rename, error) {
	old, name, ok := strings.Cut(s, ":=")
	if !ok || old == "" || name == "" {
		return Rename{}, fmt.Errorf("%q: write OLD:=NEW, such as /imu:=/imu/data", s)
	}
	if strings.HasPrefix(old, "re:") {
		return Rename{}, fmt.Errorf("%q: the old name is a name or a glob, such as /camera/*:=/cam/*", s)
	}
	r := Rename{parts: strings.Split(name, "*")}
	var err error
	if r.old, err = ParsePattern(old); err != nil {
		return r, err
	}
	stars := strings.Count(old, "*")
	if len(r.parts)-1 > stars {
		return r, fmt.Errorf("%q: the new name has more * than the old one", s)
	}
	if isGlob(old) {
		r.groups, err = globExpr(old, true)
	}
	return r, err
}

// String returns the rename as it was written.
func (r *Rename) String() string { return r.old.String() + ":=" + strings.Join(r.parts, "*") }

// apply returns the new name, ok when the rename is about it.
func (r *Rename) apply(name string) (string, bool) {
	if r.groups == nil {
		return r.parts[0], r.old.Match(name)
	}
	m := r.groups.FindStringSubmatch(name)
	if m == nil {
		return "", false
	}
	var b strings.Builder
	for i, p := range r.parts {
		if i > 0 {
			b.WriteString(m[i])
		}
		b.WriteString(p)
	}
	return b.String(), true
}

// Name returns the name that a topic has in the output.
func (e *Edit) Name(name string) string {
	for i := range e.Remap {
		if n, ok := e.Remap[i].apply(name); ok {
			name = n
			break
		}
	}
	prefix := strings.TrimRight(e.Prefix, "/")
	if prefix == "" {
		return name
	}
	if strings.HasPrefix(name, "/") && !strings.HasPrefix(prefix, "/") {
		prefix = "/" + prefix
	}
	return prefix + "/" + strings.TrimLeft(name, "/")
}

// Check compares the patterns of the edit with the topics of a recording that the
// choice takes. A pattern that matches no topic is an *UnknownError.
func (e *Edit) Check(info *storage.Info, c *Choice) error {
	check := func(flag string, p Pattern) error { return checkTopic(flag, p, info, c) }
	for i := range e.Remap {
		if err := check("--remap", e.Remap[i].old); err != nil {
			return err
		}
	}
	for i := range e.Rates {
		if err := check(e.Rates[i].flag(), e.Rates[i].topic); err != nil {
			return err
		}
	}
	for i := range e.QoS {
		if err := check("--qos", e.QoS[i].topic); err != nil {
			return err
		}
	}
	for _, p := range e.Latch.topics {
		if err := check("--latch", p); err != nil {
			return err
		}
	}
	if err := e.checkStatic(info, c); err != nil {
		return err
	}
	return e.Fields.check(info, c)
}

// checkTopic returns an *UnknownError unless the choice takes a topic that a pattern matches, or the topic may be
// missing.
func checkTopic(flag string, p Pattern, info *storage.Info, c *Choice) error {
	there := false
	for i := range info.Topics {
		if p.Match(info.Topics[i].Name) {
			if c.Topics[i] {
				return nil
			}
			there = true
		}
	}
	if c.missingOK && !there {
		return nil
	}
	err := unknown(flag, p, info, false)
	err.LeftOut = there
	return err
}

// Of returns the edit with only the rules that match topic, for a job that takes no
// other topic: Check would reject the other rules.
func (e *Edit) Of(topic string) Edit {
	only := *e
	other := func(p Pattern) bool { return !p.Match(topic) }
	only.Remap = slices.DeleteFunc(slices.Clone(e.Remap), func(r Rename) bool { return other(r.old) })
	only.Rates = slices.DeleteFunc(slices.Clone(e.Rates), func(r Rate) bool { return other(r.topic) })
	only.QoS = slices.DeleteFunc(slices.Clone(e.QoS), func(p Profile) bool { return other(p.topic) })
	only.Fields = e.Fields.only(topic)
	only.Latch.topics = slices.DeleteFunc(slices.Clone(e.Latch.topics), other)
	return only
}

// A Rate thins out topics: to a number of messages per second, or to every n-th.
type Rate struct {
	topic  Pattern
	period int64 // ns; 0: every
	every  int64
}

func (r *Rate) flag() string {
	if r.period > 0 {
		return "--throttle"
	}
	return "--every"
}

// ParseThrottle reads TOPIC=HZ.
func ParseThrottle(s string) (Rate, error) {
	p, value, err := assignment(s, "/imu=10")
	if err != nil {
		return Rate{}, err
	}
	hz, err := strconv.ParseFloat(value, 64)
	if err != nil || !(hz >= 1e-9 && hz <= 1e9) {
		return Rate{}, fmt.Errorf("%q: %q is not a rate in Hz, such as 10 or 0.5", s, value)
	}
	return Rate{topic: p, period: int64(math.Round(1e9 / hz))}, nil
}

// ParseEvery reads TOPIC=N.
func ParseEvery(s string) (Rate, error) {
	p, value, err := assignment(s, "/camera=3")
	if err != nil {
		return Rate{}, err
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 1 {
		return Rate{}, fmt.Errorf("%q: %q is not a number from 1 on", s, value)
	}
	return Rate{topic: p, every: n}, nil
}

func assignment(s, example string) (Pattern, string, error) {
	i := strings.LastIndexByte(s, '=')
	if i < 1 {
		return Pattern{}, "", fmt.Errorf("%q: write TOPIC=NUMBER, such as %s", s, example)
	}
	p, err := ParsePattern(s[:i])
	return p, s[i+1:], err
}

// A Thin follows the messages of one topic name and decides which stay.
type Thin struct {
	period, next int64
	every, seen  int64
	began        bool
}

// Thin returns a new counter for the topics of that name, nil when all their
// messages stay.
func (e *Edit) Thin(name string) *Thin {
	for _, r := range e.Rates {
		if r.topic.Match(name) {
			return &Thin{period: r.period, every: r.every}
		}
	}
	return nil
}

// A ThinState is what a Thin remembers of the messages so far.
type ThinState struct {
	Next, Seen int64
	Began      bool
}

// State returns what t remembers.
func (t *Thin) State() ThinState { return ThinState{t.next, t.seen, t.began} }

// SetState makes t go on after other messages.
func (t *Thin) SetState(s ThinState) { t.next, t.seen, t.began = s.Next, s.Seen, s.Began }

// Keep reports whether the next message stays. For a rate, the first message of
// each tick of a clock with that rate stays. A message belongs to a tick from a
// tenth of a period before it on, so that jitter does not lower the rate of a
// topic that has just that rate. A gap of more than a period, and a jump back in
// time, start the clock again.
func (t *Thin) Keep(at int64) bool {
	if t.period == 0 {
		t.seen++
		return (t.seen-1)%t.every == 0
	}
	switch back := add(t.next, -2*t.period); {
	case !t.began || at < back:
	case at < add(t.next, -t.period/10):
		return false
	case at-t.next < t.period:
		t.next = add(t.next, t.period)
		return true
	}
	t.began, t.next = true, add(at, t.period)
	return true
}
