package verify

import (
	"cmp"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/convert/content"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
)

// migrate makes a topic of A one with the definition of Job.Target, in the encoding that it has in
// B. Its messages are migrated by content.Migration, which shares no program with a conversion.
func (l *linker) migrate(m *member) {
	t := &m.topic.Topic
	to := l.encodingInB(t)
	if l.job.Target == nil || m.def == nil || t.Encoding != "ros1" && t.Encoding != "cdr" || to != "ros1" && to != "cdr" {
		return
	}
	if l.target == nil {
		o := l.known[0].Options()
		o.Target, o.Distro = l.job.Target, cmp.Or(l.job.A.Distro, mapping.DefaultDistro)
		l.target = mapping.New(o)
	}
	g, err := l.target.Migration(t, to)
	if err != nil || g.Target == nil {
		return // the conversion leaves it as it is
	}
	var head mapping.Program
	if !g.Same() {
		var steps []content.Version
		for _, s := range g.Steps {
			steps = append(steps, content.Version{Source: s.Source, Target: s.Target, Rule: ruleOf(s)})
		}
		if head, err = content.NewMigration(steps, serial.Of(t.Encoding), serial.Of(to)); err != nil {
			return
		}
	}
	if m.def.either != nil {
		d, err := l.definer[0].Define(t)
		if err != nil {
			return
		}
		if head = (inTurn{d.Head, head}); g.Same() {
			head = d.Head
		}
	}
	old := t.Encoding == "ros1" && to == "ros1" && (beginsWithCounter(g.Source) || !beginsWithCounter(g.Target))
	topic := *m.topic
	topic.Type, topic.Encoding = g.Target.Name, to
	m.topic, m.head, m.uncounted = &topic, head, !old
	m.def = &topicDefinition{msg: g.Target, wire: serial.Of(to)}
}

// encodingInB returns the encoding that a topic of A has in B; if that has no topic of the name, the
// native one.
func (l *linker) encodingInB(t *storage.Topic) string {
	for i := range l.info[1].Topics {
		if b := &l.info[1].Topics[i]; l.chosen[1][i] && b.Name == t.Name {
			return b.Encoding
		}
	}
	return cmp.Or(l.job.B.Format.Holds.Native, t.Encoding)
}

// ruleOf returns the rules of a step as package content has them.
func ruleOf(s mapping.Step) func(src, dst *schema.Message) *content.Rule {
	return func(src, dst *schema.Message) *content.Rule {
		rule := s.Rule(src, dst)
		if rule == nil {
			return nil
		}
		out := &content.Rule{Fields: map[string]content.Origin{}}
		for path, from := range rule.Fields {
			out.Fields[path] = content.Origin(from)
		}
		for path := range rule.Drop {
			out.Drop = append(out.Drop, path)
		}
		return out
	}
}

// beginsWithCounter reports whether messages of ROS 1 begin with the counter of a Header, which a
// conversion keeps; otherwise it counts.
func beginsWithCounter(m *schema.Message) bool {
	return len(m.Fields) > 0 && m.Fields[0].Type.Kind == schema.Struct && m.Fields[0].Type.Array == schema.Single &&
		content.HasCounter(content.Canonical(m.Fields[0].Type.Message, true))
}

// inTurn is two programs, one after the other.
type inTurn [2]mapping.Program

// Append implements mapping.Program.
func (p inTurn) Append(dst, src []byte) ([]byte, error) {
	between, err := p[0].Append(nil, src)
	if err != nil {
		return dst, err
	}
	return p[1].Append(dst, between)
}

// SizeHint implements mapping.Program.
func (p inTurn) SizeHint(n int) int { return p[1].SizeHint(p[0].SizeHint(n)) }
