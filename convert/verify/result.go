package verify

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/storage"
)

// result makes the result of a comparison that is over.
func (c *comparison) result() *Result {
	r := NewResult(c.job)
	r.Equal = true
	for i, end := range []*End{&r.A, &r.B} {
		info := c.info[i]
		*end = End{Path: c.side(i).Path, Format: info.Format, Version: info.Version, Size: info.Size,
			Selection: c.selected(i), Warnings: append(append([]storage.Warning{}, info.Warnings...), c.doubts(i)...),
			Damaged: damaged(info)}
	}
	for _, p := range c.pairs {
		t := c.topic(r, p)
		for i, end := range []*TopicEnd{t.A, t.B} {
			if end != nil {
				[]*End{&r.A, &r.B}[i].Messages += end.Messages
			}
		}
		r.Equal = r.Equal && t.Equal
		r.Topics = append(r.Topics, t)
	}
	c.judgeExtras(r)
	slices.SortStableFunc(r.Exceptions, func(x, y Exception) int {
		return cmp.Or(cmp.Compare(x.Topic, y.Topic), cmp.Compare(x.Code, y.Code))
	})
	return r
}

// topic judges one pair.
func (c *comparison) topic(r *Result, p *pair) Topic {
	t := Topic{Name: p.name(), Demanded: []Code{}}
	messages := int64(0) // of the side with more
	for i, end := range []**TopicEnd{&t.A, &t.B} {
		g, s := p.groups[i], &p.sides[i]
		if g == nil {
			continue
		}
		*end = &TopicEnd{Name: g.name, Type: g.typ, Encoding: g.encoding, Messages: s.messages + s.refused.Messages +
			s.refused.Times}
		if c.job.Level != Counts {
			(*end).Hash, (*end).Sum = s.sum(), s.parts.String()
		}
		messages = max(messages, (*end).Messages)
	}
	except := func(code Code, n int64, format string, a ...any) {
		e := Exception{Code: code, Topic: t.Name, Count: n, Message: fmt.Sprintf(format, a...)}
		if p.link != nil {
			e.Fields = p.link.fields[e.Message]
		}
		if c.job.exact(code) || code == Unconvertible && !c.job.ignores(code) {
			t.Demanded = append(t.Demanded, code)
			switch f := p.first; {
			case f == nil:
				p.first = &Difference{Kind: KindException, Index: -1, Path: string(code), A: e.Message}
			case f.Kind == KindException:
				f.Path, f.A = f.Path+", "+string(code), f.A+"; "+e.Message
			}
			return
		}
		r.Exceptions = append(r.Exceptions, e)
	}
	total := func(kind Kind, a, b string) {
		p.first = &Difference{Kind: kind, Index: -1, A: a, B: b}
		p.differ = messages
	}
	switch {
	case p.groups[0] == nil || p.groups[1] == nil:
		c.oneSided(p, &t, except, total)
	case c.job.Level == Bytes && t.A.Encoding != t.B.Encoding:
		total(KindEncoding, t.A.Encoding, t.B.Encoding)
	case p.link == nil:
		total(KindType, p.why[0], p.why[1])
	default:
		c.compared(p, &t, except)
	}
	c.flaws(p, &t, except)
	t.First, t.Different = p.first, p.differ
	t.Equal = p.first == nil
	return t
}

// flaws judges what is wrong with a topic for other readers. In B that is a
// difference, unless A has it too.
func (c *comparison) flaws(p *pair, t *Topic, except exceptFunc) {
	var texts [2][]string
	for i, g := range p.groups {
		if g != nil {
			for _, m := range g.members {
				texts[i] = append(texts[i], m.flaws...)
			}
		}
	}
	for i := range texts {
		both := map[string]bool{}
		for _, s := range texts[1-i] {
			both[s] = true
		}
		new := slices.DeleteFunc(slices.Clone(texts[i]), func(s string) bool { return both[s] })
		if len(new) == 0 || p.groups[1-i] == nil {
			continue
		}
		if i == 0 {
			except(Flaws, 1, "%s", new[0])
		} else if p.first == nil {
			p.first = &Difference{Kind: KindFlaw, Index: -1, Path: "definition", B: new[0]}
		}
	}
	if p.groups[0] == nil || p.groups[1] == nil || t.A.Encoding != t.B.Encoding {
		return
	}
	for i, g := range p.groups {
		if o := p.groups[1-i]; g.members[0].bare() && !o.members[0].bare() && t.A.Messages+t.B.Messages > 0 {
			except(Definitions, 1, "%s does not have the type of the messages of %s", c.side(i).Path, g.typ)
		}
	}
}

type exceptFunc func(code Code, n int64, format string, a ...any)

// oneSided judges a topic that one side does not have.
func (c *comparison) oneSided(p *pair, t *Topic, except exceptFunc, total func(Kind, string, string)) {
	side, end, kind := 0, t.A, KindMissingTopic
	if p.groups[0] == nil {
		side, end, kind = 1, t.B, KindExtraTopic
	}
	if end.Messages == 0 {
		except(EmptyTopics, 1, "%s has no messages, and the other recording does not have it", end.Name)
		return
	}
	if c.job.Level != Bytes {
		if err := c.link.crosses(side, p.groups[side].members[0]); err != nil {
			p.differ = end.Messages
			except(Unconvertible, end.Messages, "%s", err)
			return
		}
	}
	text := fmt.Sprintf("%d messages of %s", end.Messages, end.Type)
	if end.Messages == 1 {
		text = "1 message of " + end.Type
	}
	if other := c.sameMessages(p, side); other != "" {
		text += ", the same as on " + other
	}
	if side == 0 {
		total(kind, text, "")
	} else {
		total(kind, "", text)
	}
}

// sameMessages finds the topic of the other side that has the same messages under
// another name.
func (c *comparison) sameMessages(p *pair, side int) string {
	if c.job.Level == Counts {
		return ""
	}
	if c.alones[side] == nil {
		c.alones[side] = map[sum]string{}
		for _, o := range c.pairs {
			if o.groups[side] != nil {
				continue
			}
			if k := o.sides[1-side].key(); c.alones[side][k] == "" {
				c.alones[side][k] = o.name()
			}
		}
	}
	return c.alones[side][p.sides[side].key()]
}

// A sum is equal for the messages of topics that are the same.
type sum struct {
	messages int64
	hash     string
}

func (s *sideCount) key() sum { return sum{s.messages, s.sum()} }

// compared judges a topic that both sides have.
func (c *comparison) compared(p *pair, t *Topic, except exceptFunc) {
	t.Basis = c.job.Level.String()
	a, b := &p.sides[0], &p.sides[1]
	if c.job.Level == Counts {
		switch {
		case a.messages != b.messages:
			p.first = &Difference{Kind: KindCount, Index: -1, Path: "messages", A: fmt.Sprint(a.messages),
				B: fmt.Sprint(b.messages)}
			p.differ = max(a.messages-b.messages, b.messages-a.messages)
		case a.least != b.least:
			p.first = &Difference{Kind: KindTime, Index: 0, Time: &a.least, Path: "first log time", A: nsText(a.least),
				B: nsText(b.least)}
		case a.greatest != b.greatest:
			p.first = &Difference{Kind: KindTime, Index: storage.Known(a.messages - 1), Time: &a.greatest, Path: "last log time",
				A: nsText(a.greatest), B: nsText(b.greatest)}
		}
	} else if p.link.typ == nil {
		t.Basis = Bytes.String()
	}
	messages := max(a.messages, b.messages)
	for i, s := range []*sideCount{a, b} {
		if n := s.refused.Messages; n > 0 {
			except(Unconvertible, n, "messages of %s do not fit their definition, and are not compared", c.side(i).Path)
		}
		if n := s.unknown; n > 0 && [2]string{t.A.Encoding, t.B.Encoding}[i] == "json" {
			except(Unconvertible, n, "messages of %s have values that do not fit their schema, or properties that it does not "+
				"have, which are not compared", c.side(i).Path)
		} else if n > 0 {
			except(Unconvertible, n, "messages of %s have bytes after their last field, which are not compared", c.side(i).Path)
		}
		if n := s.refused.Times; n > 0 {
			except(Unconvertible, n, "messages of %s have times that a %s cannot store, and are not compared", c.side(i).Path,
				c.side(1-i).Format.Name)
		}
	}
	if p.wrapped > 0 {
		except(Unconvertible, p.wrapped,
			"messages have times that the other encoding cannot store, and that are other times there")
	}
	if p.reworded > 0 {
		except(Times, p.reworded, "messages have times in other seconds and nanoseconds that mean the same, as 2 s, "+
			"500,000,000 ns do for 1 s, 1,500,000,000 ns")
	}
	if p.replaced > 0 {
		except(Unconvertible, p.replaced,
			"messages have wide strings that are not Unicode, which the other encoding replaces by U+FFFD")
	}
	for _, n := range p.notes {
		except(n.code, 1, "%s", n.message)
	}
	if p.link.typ != nil && messages > 0 {
		for _, n := range p.link.notes {
			if c.job.Level == Counts && n.code != Types {
				continue // it is about fields
			}
			except(n.code, messages, "%s", n.message)
		}
	}
	if p.published > 0 {
		except(PublishTime, p.published, "messages have another publish time")
	}
	if p.recoded > 0 && p.link.both {
		code, what := Encoding, "messages have other bytes and the same content"
		if t.A.Encoding == "protobuf" {
			code, what = Presence, "messages have other bytes and the same content: fields that are set to their default, or "+
				"in another order"
			if a.unknown+b.unknown > 0 {
				what = "messages have other bytes and the same content, as far as their descriptor defines it"
			}
		}
		except(code, p.recoded, "%s", what)
	}
}

// A meter adds up the progress of both sides.
type meter struct {
	report func(convert.Progress)
	mu     sync.Mutex
	sides  [2]convert.Progress
}

func newMeter(report func(convert.Progress)) *meter { return &meter{report: report} }

// side returns the callback of a side, nil when nobody listens.
func (m *meter) side(i int) func(convert.Progress) {
	if m.report == nil {
		return nil
	}
	return func(p convert.Progress) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.sides[i] = p
		a, b := m.sides[0], m.sides[1]
		m.report(convert.Progress{Bytes: a.Bytes + b.Bytes, Total: a.Total + b.Total, Messages: a.Messages + b.Messages,
			Elapsed: max(a.Elapsed, b.Elapsed)})
	}
}
