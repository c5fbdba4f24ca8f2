package convert

import (
	"errors"
	"slices"

	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/convert/selection"
	"github.com/bagconv/bagconv/storage"
)

// ErrNothing is the error of a run whose selection turned out to hold no message.
var ErrNothing = errors.New("nothing is selected: the topics that are asked for have no message in that time")

// choose resolves the job's selection for the source.
func choose(job *Job, src *source) (*selection.Choice, error) {
	choice, err := job.Select.Resolve(src.info)
	if err != nil {
		return nil, err
	}
	return choice, job.Edit.Check(src.info, choice)
}

// restamp gives messages the times of their headers, where that is asked for.
func (s *source) restamp(msgs []storage.Message) {
	for i := range msgs {
		if m := &msgs[i]; int(m.Topic) < len(s.stamps) && s.stamps[m.Topic] != nil {
			restamp(s.stamps[m.Topic], m)
		}
	}
}

// restamp gives a message the time of its header; false when that has none.
func restamp(s *mapping.Stamp, m *storage.Message) bool {
	at, ok := s.Time(m.Data)
	if !ok {
		return false
	}
	if m.PublishTime == m.LogTime {
		m.PublishTime = at
	}
	m.LogTime = at
	return true
}

// repeatedBlock is the number of the block of messages that are repeated at a cut:
// they come before all others of their time, and are not thinned out.
const repeatedBlock = -1

// thinOut gives the topics of one name the counter that they share.
func thinOut(routes []route, edit *selection.Edit, info *storage.Info) {
	shared := map[string]*selection.Thin{}
	for i := range routes {
		name := info.Topics[i].Name
		if _, known := shared[name]; !known {
			shared[name] = edit.Thin(name)
		}
		routes[i].thin = shared[name]
	}
}

// describe returns what the report says of the selection.
func (o *output) describe(info *storage.Info) *Selection {
	if o.job.Select.All() {
		return nil
	}
	return SelectionOf(o.choice.First, o.choice.Last, o.choice.Topics, info)
}

// SelectionOf describes what was taken of a recording: the log times, and which of
// its topics.
func SelectionOf(first, last int64, topics []bool, info *storage.Info) *Selection {
	s := &Selection{First: first, Last: last}
	for i, chosen := range topics {
		if !chosen {
			s.LeftOut = append(s.LeftOut, info.Topics[i].Name)
		}
	}
	slices.Sort(s.LeftOut)
	s.LeftOut = slices.Compact(s.LeftOut)
	return s
}

func nothing(counts []topicCount) bool {
	for _, c := range counts {
		if c.read+c.repeated > 0 {
			return false
		}
	}
	return true
}
