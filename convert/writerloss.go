package convert

import (
	"errors"

	"github.com/bagconv/bagconv/storage"
)

// takeLosses takes what the writer has found itself into the counts and the report. Messages that
// it left out count like messages that a worker could not re-encode.
func (o *output) takeLosses() {
	if o.caps.Losses == nil || o.writer == nil {
		return
	}
	o.plan.writerLosses, o.plan.writerNotes = nil, nil // of an attempt before
	for _, l := range o.caps.Losses.Losses() {
		if l.Note {
			o.plan.writerNotes = append(o.plan.writerNotes, Note{Code: l.Code, Topic: o.plan.nameOf(l.Topic), Message: l.Message,
				Count: l.Messages})
			continue
		}
		unreadable := l.LeftOut && l.Code == unreadableCode
		if !unreadable {
			o.plan.writerLosses = append(o.plan.writerLosses, Loss{Code: l.Code, Topic: o.plan.nameOf(l.Topic),
				Count: l.Messages, Message: l.Message, ByDesign: l.ByDesign})
		}
		if l.LeftOut {
			o.leaveOut(&l, unreadable)
		}
	}
}

// unreadableCode is the code of messages that do not fit their definition.
const unreadableCode = "messages-unreadable"

// leaveOut takes messages of a topic of the sink out of the messages that are written; unreadable
// ones are counted as such. If several topics of the source became that topic, nobody knows whose
// they are: the first ones take them.
func (o *output) leaveOut(l *storage.WriterLoss, unreadable bool) {
	n := l.Messages
	for i := range o.Counts {
		c := &o.Counts[i]
		if o.Routes[i].Drop || o.Routes[i].Sink != l.Topic || n == 0 {
			continue
		}
		k := min(n, c.Written)
		c.Written, n = c.Written-k, n-k
		if !unreadable {
			continue
		}
		c.Bad += k
		if c.FirstBad == nil && k > 0 {
			c.FirstBad = errors.New(l.Message)
		}
	}
}

// nameOf returns the name of a topic of the sink.
func (p *topicPlan) nameOf(id storage.TopicID) string {
	for i := range p.sinks {
		if s := &p.sinks[i]; s.refused == nil && s.id == id {
			return s.topic.Name
		}
	}
	return ""
}
