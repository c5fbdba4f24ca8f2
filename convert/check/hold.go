package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/convert/contract"
	"github.com/bagconv/bagconv/internal/convert/selection"
)

// A namedTopic is all topics of one name, whatever their types.
type namedTopic struct {
	name   string
	types  []string
	n      int64
	first  int64
	last   int64
	maxGap int64 // -1: not known
}

// named joins the topics of one name, in alphabetical order.
func (r *Result) named() []*namedTopic {
	var out []*namedTopic
	for i := range r.Topics {
		t := &r.Topics[i]
		if len(out) == 0 || out[len(out)-1].name != t.Name {
			out = append(out, &namedTopic{name: t.Name, maxGap: -1})
		}
		o := out[len(out)-1]
		if !slices.Contains(o.types, t.Type) {
			o.types = append(o.types, t.Type)
		}
		if t.Messages == 0 {
			continue
		}
		if o.n == 0 {
			o.first, o.last = t.First, t.Last
		}
		o.first, o.last = min(o.first, t.First), max(o.last, t.Last)
		o.n += t.Messages
		if t.MaxGap != nil {
			o.maxGap = max(o.maxGap, *t.MaxGap)
		}
	}
	return out
}

func (t *namedTopic) hz() float64 { return hz(t.n, t.first, t.last) }

// edge returns how long the topic is silent at the start and at the end of the
// recording, the longer of both.
func (t *namedTopic) edge(r *Result) int64 {
	if t.n == 0 {
		return 0
	}
	return max(sub(t.first, *r.Start), sub(*r.End, t.last))
}

// breaches returns findings for what breaks the contract.
func breaches(c *Contract, r *Result) []Finding {
	var out []Finding
	broken := func(code, topic, format string, a ...any) {
		out = append(out, Finding{Severity: Error, Code: code, Topic: topic, Count: 1, Offset: -1,
			Message: fmt.Sprintf(format, a...)})
	}
	duration := contract.Duration(0)
	if r.Messages > 0 {
		duration = contract.Duration(sub(*r.End, *r.Start))
	}
	if excess := c.Duration.Outside(duration); excess != "" {
		broken("spec-duration", "", "the recording lasts %s, which is %s", span(int64(duration)), excess)
	}
	if excess := c.Size.Outside(contract.Size(r.Info.Size)); excess != "" {
		broken("spec-size", "", "the recording has %d bytes, which is %s", r.Info.Size, excess)
	}
	if excess := c.Messages.Outside(r.Messages); excess != "" {
		broken("spec-messages", "", "the recording has %d messages, which is %s", r.Messages, excess)
	}
	topics := r.named()
	matched := make([]bool, len(topics))
	for _, name := range c.Names() {
		rule := c.Topics[name]
		if rule == nil {
			rule = &contract.Rule{}
		}
		pattern, err := selection.ParsePattern(name)
		if err != nil {
			continue // validate has refused it
		}
		found := false
		for i, t := range topics {
			if !pattern.Match(t.name) {
				continue
			}
			found, matched[i] = true, true
			if rule.Absent {
				broken("spec-topic-forbidden", t.name, "the topic must not exist, but has %d messages", t.n)
				continue
			}
			breachesOf(rule, t, r, broken)
		}
		if !found && !rule.Absent && !rule.Optional {
			broken("spec-topic-missing", name, "there is no such topic")
		}
	}
	if c.OtherTopics != nil && !*c.OtherTopics {
		for i, t := range topics {
			if !matched[i] {
				broken("spec-topic-other", t.name, "no rule names the topic, and other topics are not allowed")
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Finding) int { return cmp.Compare(a.Topic, b.Topic) })
	return out
}

// breachesOf adds findings for a topic that breaks the rule.
func breachesOf(rule *contract.Rule, t *namedTopic, r *Result, broken func(code, topic, format string, a ...any)) {
	for _, typ := range t.types {
		if len(rule.Type) > 0 && !rule.Type.Allow(typ) {
			broken("spec-type", t.name, "its type is %s, not %s", typ, strings.Join(rule.Type, " or "))
		}
	}
	if excess := rule.Count.Outside(t.n); excess != "" {
		broken("spec-count", t.name, "it has %d messages, which is %s", t.n, excess)
	}
	if rule.Optional && t.n == 0 {
		return // as good as not there
	}
	if rule.Rate != nil {
		if hz := t.hz(); hz == 0 {
			broken("spec-rate", t.name, "it has %d messages, too few for a rate", t.n)
		} else if excess := rule.Rate.Outside(hz); excess != "" {
			broken("spec-rate", t.name, "its rate is %.4g Hz, which is %s", hz, excess)
		}
	}
	if rule.MaxGap > 0 && t.n > 1 {
		switch {
		case t.maxGap < 0:
			broken("spec-gap", t.name, "its messages are too far out of order to look for gaps")
		case t.maxGap > int64(rule.MaxGap):
			broken("spec-gap", t.name, "it has no messages for %s, longer than %s", span(t.maxGap), rule.MaxGap)
		}
	}
	if rule.MaxEdge > 0 {
		switch edge := t.edge(r); {
		case t.n == 0:
			broken("spec-edge", t.name, "it has no messages")
		case edge > int64(rule.MaxEdge):
			broken("spec-edge", t.name, "it has no messages for %s at the start or at the end of the recording, longer than %s",
				span(edge), rule.MaxEdge)
		}
	}
}
