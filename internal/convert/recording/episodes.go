package recording

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/internal/convert/where"
	"github.com/bagconv/bagconv/storage"
)

// An Episodes describes by the values of messages where the parts of a recording begin and end: one of On, By, and
// From with To is set. Each is about one topic. Messages of one time stay together.
type Episodes struct {
	On       *where.Condition // a part begins if it holds for a message, and not for the one before of that topic
	By       *where.Condition // of ParseValue: a part begins if a message has another value than the one before
	From, To *where.Condition // a part is from a message for which From holds to the next one for which To holds
	Rest     bool             // also parts of what is before, between and after the parts of From and To
	Flag     string           // by which the line has it
}

// An Episode is one of the parts.
type Episode struct {
	selection.Window
	Begun bool   // First is the time of the message that begins it; else it begins with the selection
	Ended bool   // Last is the time of the message that ends it
	Value string // of By, cut after maxLabel bytes; "" if the topic has no message
	Rest  bool   // it is what is between two others
}

// maxLabel is how much of a value an Episode keeps, in bytes.
const maxLabel = 200

// ErrNoEpisode is the error of a recording in which no message fulfils From.
var ErrNoEpisode = errors.New("no message fulfils the first of the two conditions")

// MaxParts is into how many parts a recording is split at most. More come of a slip of the pen, or of a clock that was
// wrong for a while.
const MaxParts = 10_000

// An EpisodesError is the error of more parts than MaxParts.
type EpisodesError struct{ Parts int64 }

func (e *EpisodesError) Error() string {
	return fmt.Sprintf("this would make %d parts, and there can be %d", e.Parts, MaxParts)
}

// Find returns the parts of what is selected, in order of time. It reads the topics that it is about, and no others. If
// a message does not decide it, that is an error.
func (e *Episodes) Find(ctx context.Context, ref Ref, sel *selection.Selection, threads int) (list []Episode,
	err error) {
	err = Use(ctx, []Ref{ref}, func(sources []*Source) (err error) {
		list, err = e.find(ctx, sources[0], sel, threads)
		return err
	})
	return list, err
}

func (e *Episodes) find(ctx context.Context, s *Source, sel *selection.Selection, threads int) ([]Episode, error) {
	choice, err := sel.Resolve(s.Info)
	if err != nil {
		return nil, err
	}
	about := selection.Selection{Start: sel.Start, End: sel.End, Duration: sel.Duration}
	for _, c := range []*where.Condition{e.On, e.By, e.From, e.To} {
		if c != nil {
			about.Where.Conditions = append(about.Where.Conditions, c)
		}
	}
	about.Where.Flag = e.Flag
	if _, err := about.Resolve(s.Info); err != nil {
		return nil, err
	}
	subjects := about.Where.Subjects(s.Info)
	if e.By != nil {
		if err := oneTopic(s.Info, &subjects[0]); err != nil {
			return nil, err
		}
	}
	tests, err := s.tests(ctx, s.Info, subjects)
	if err != nil {
		return nil, err
	}
	v := &spotter{Episodes: e, tests: tests, info: s.Info, choice: choice}
	query := Query{Select: about.Matches(s.Info), Threads: threads}
	query.Edit.Latch = selection.NoLatch
	if _, err := s.Read(ctx, query, v); err != nil {
		return nil, err
	}
	return v.end()
}

// oneTopic returns an error if a subject stands for topics of several names.
func oneTopic(info *storage.Info, s *selection.Subject) error {
	first := ""
	for i, matches := range s.Topics {
		switch name := info.Topics[i].Name; {
		case !matches || name == first:
		case first != "":
			return &ConditionError{first, s.Flag, fmt.Errorf("%s is also %s, and a value is about one topic", s.Name, name)}
		default:
			first = name
		}
	}
	return nil
}

// A spotter is a Visitor that finds episodes.
type spotter struct {
	*Episodes
	tests  [][]*test // by condition, then by TopicID
	info   *storage.Info
	choice *selection.Choice

	list   []Episode
	parts  int64           // in list, and those for which it has no place
	on     map[string]bool // by topic: On holds
	value  string          // of By
	valued bool            // there is a value
	open   bool            // the last episode of From goes on
}

// Plan forgets what an attempt before has found.
func (v *spotter) Plan(*storage.Info, []bool) ([]Topic, error) {
	v.list, v.parts, v.on, v.value, v.valued, v.open = nil, 0, map[string]bool{}, "", false, false
	if v.From == nil {
		v.add(Episode{Window: selection.Window{First: v.choice.First}})
	}
	return make([]Topic, len(v.info.Topics)), nil
}

// An answer is what a condition says of a message.
type answer struct {
	holds bool
	value string
}

// Work tests the messages of a block: one answer for each condition and message.
func (v *spotter) Work(_ storage.Block, msgs []storage.Message, made any) (any, error) {
	answers, _ := made.([]answer)
	answers = answers[:0]
	for i := range msgs {
		m := &msgs[i]
		for k := range v.tests {
			var a answer
			var err error
			switch t := v.tests[k][m.Topic]; {
			case t == nil:
			case v.By != nil:
				a.value, err = t.value(m.Data, m.LogTime)
			default:
				a.holds, err = t.Holds(m.Data, m.LogTime)
			}
			if err != nil {
				return nil, &ConditionError{v.info.Topics[m.Topic].Name, v.Flag + ":", fmt.Errorf("message at time %d: %w",
					m.LogTime, err)}
			}
			answers = append(answers, a)
		}
	}
	return answers, nil
}

// Take finds where parts begin and end.
func (v *spotter) Take(_ storage.Block, msgs []storage.Message, from, to int, made any) error {
	answers := made.([]answer)
	for i := from; i < to; i++ {
		m := &msgs[i]
		a := answers[i*len(v.tests) : (i+1)*len(v.tests)]
		switch {
		case v.On != nil:
			topic := v.info.Topics[m.Topic].Name
			if a[0].holds && !v.on[topic] {
				v.begin(m.LogTime, "")
			}
			v.on[topic] = a[0].holds
		case v.By != nil && !v.valued:
			v.value, v.valued = a[0].value, true
			v.list[0].Value = label(v.value)
		case v.By != nil:
			if a[0].value != v.value {
				v.value = a[0].value
				v.begin(m.LogTime, label(v.value))
			}
		default:
			v.between(m.LogTime, a[0].holds, a[1].holds)
		}
	}
	return nil
}

// begin begins a part at a time, if the last one has not begun there: messages of one time stay together.
func (v *spotter) begin(at int64, value string) {
	last := &v.list[len(v.list)-1]
	if at <= max(last.First, v.info.Start) {
		last.Begun, last.Value = true, value
		return
	}
	last.Last = at - 1
	v.add(Episode{Window: selection.Window{First: at}, Begun: true, Value: value})
}

// between takes a message of From or To.
func (v *spotter) between(at int64, from, to bool) {
	switch last := len(v.list) - 1; {
	case v.open && to:
		v.list[last].Last, v.list[last].Ended, v.open = at, true, false
	case !v.open && from && (last < 0 || at > v.list[last].Last):
		v.add(Episode{Window: selection.Window{First: at, Last: v.choice.Last}, Begun: true})
		v.open = true
	}
}

// add adds a part. What is beyond the limit is counted, and takes the place of the last one.
func (v *spotter) add(e Episode) {
	if v.parts++; v.parts > MaxParts {
		v.list[len(v.list)-1] = e
		return
	}
	v.list = append(v.list, e)
}

// end returns the parts.
func (v *spotter) end() ([]Episode, error) {
	if v.From == nil {
		v.list[len(v.list)-1].Last = v.choice.Last
	}
	switch {
	case len(v.list) == 0:
		return nil, ErrNoEpisode
	case v.parts > MaxParts:
		return nil, &EpisodesError{v.parts}
	case v.Rest:
		v.rest()
	}
	if n := len(v.list); n > MaxParts {
		return nil, &EpisodesError{int64(n)}
	}
	return v.list, nil
}

// rest adds what is before, between and after the parts.
func (v *spotter) rest() {
	var all []Episode
	from := v.choice.First
	for _, e := range v.list {
		if e.First > from {
			all = append(all, Episode{Window: selection.Window{First: from, Last: e.First - 1}, Rest: true})
		}
		all = append(all, e)
		from = selection.Shift(e.Last, 1)
	}
	if last := v.list[len(v.list)-1].Last; last < v.choice.Last {
		all = append(all, Episode{Window: selection.Window{First: from, Last: v.choice.Last}, Rest: true})
	}
	v.list = all
}

// label cuts a value to what is kept of it.
func label(s string) string {
	if len(s) <= maxLabel {
		return s
	}
	cut := maxLabel
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut]
}
