package selection

import (
	"errors"

	"github.com/bagconv/bagconv/internal/convert/where"
	"github.com/bagconv/bagconv/storage"
)

// Where selects messages by their values. The zero value is no condition.
type Where struct {
	Conditions []*where.Condition // all of them apply
	Flag       string             // by which the line has them; "": --where

	// of all topics that are selected, messages are taken that are near to a match, or between two: see Stretched
	Within int64 // ns; only if Near
	Near   bool  // a message is taken if a message for which the conditions hold is no further away than Within
	While  bool  // a message is taken from where the conditions hold to where they hold no more

	part   bool       // the selection has no more than a part of the topics that the conditions are about
	around *Selection // whose times have the matches; nil: the times of the selection
}

// Part returns the conditions for a selection that need not have all topics that they are about.
func (w Where) Part() Where {
	w.part = true
	return w
}

// Stretched reports whether the conditions choose stretches of time, and not messages.
func (w *Where) Stretched() bool { return w.Near || w.While }

func (w *Where) flag() string {
	if w.Flag == "" {
		return "--where"
	}
	return w.Flag
}

// A Subject is a topic of conditions as it is written, and the topics of a recording that it stands for.
type Subject struct {
	Condition *where.Condition
	Flag      string // by which the line has it
	Name      string
	Topics    []bool // index = storage.TopicID
}

// Subjects lists the topics of the conditions.
func (w *Where) Subjects(info *storage.Info) (list []Subject) {
	for _, c := range w.Conditions {
		for _, name := range c.Topics() {
			p, err := ParsePattern(name)
			if err != nil {
				continue // check has refused it
			}
			s := Subject{c, w.flag(), name, make([]bool, len(info.Topics))}
			for i := range info.Topics {
				s.Topics[i] = p.Match(info.Topics[i].Name)
			}
			list = append(list, s)
		}
	}
	return list
}

// Matches returns the selection of the messages that the conditions are about, without the conditions.
func (s *Selection) Matches(info *storage.Info) Selection {
	from := s
	if s.Where.around != nil {
		from = s.Where.around
	}
	out := Selection{Start: from.Start, End: from.End, Duration: from.Duration}
	for _, subject := range s.Where.Subjects(info) {
		for i, matches := range subject.Topics {
			if matches {
				out.Topics = append(out.Topics, Exactly(info.Topics[i].Name))
			}
		}
	}
	return out
}

// check compares the topics of the conditions with the topics of a recording.
func (w *Where) check(info *storage.Info, c *Choice) error {
	for _, condition := range w.Conditions {
		for _, name := range condition.Topics() {
			p, err := ParsePattern(name)
			if err != nil {
				return err
			}
			var no *UnknownError
			if err := checkTopic(w.flag(), p, info, c); errors.As(err, &no) && (!no.LeftOut || !w.part && !w.Stretched()) {
				return no
			}
		}
	}
	return nil
}
