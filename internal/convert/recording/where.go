package recording

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/internal/convert/where"
	"github.com/bagconv/bagconv/storage"
)

// where applies the conditions of a selection: as filters of messages, or by the stretches of time that they choose.
// Stretches are found by reading the topics that the conditions are about, and no others, before everything else.
func (s *Source) where(ctx context.Context, named *storage.Info, sel *selection.Selection, c *selection.Choice,
	threads int) error {
	if len(sel.Where.Conditions) == 0 {
		return nil
	}
	subjects := sel.Where.Subjects(s.Info)
	tests, err := s.tests(ctx, named, subjects)
	if err != nil {
		return err
	}
	if sel.Where.Stretched() {
		stretches, err := s.stretchesOf(ctx, sel, tests, threads)
		if err == nil {
			c.Within(stretches)
		}
		return err
	}
	c.Filters = make([]selection.Filter, len(s.Info.Topics))
	for i := range c.Filters {
		var all allOf
		for k := range subjects {
			if tests[k][i] != nil {
				all = append(all, tests[k][i])
			}
		}
		switch len(all) {
		case 0:
		case 1:
			c.Filters[i] = all[0]
		default:
			c.Filters[i] = all
		}
	}
	return nil
}

// allOf holds if all filters do.
type allOf []*test

// Holds implements selection.Filter.
func (a allOf) Holds(data []byte, logTime int64) (bool, error) {
	for _, t := range a {
		if holds, err := t.Holds(data, logTime); !holds || err != nil {
			return false, err
		}
	}
	return true, nil
}

// A test is a condition about the messages of a topic.
type test struct {
	head    mapping.Program // makes what the filter reads; nil: it reads the messages
	filter  *where.Filter
	err     error // of the definition of a topic without messages
	buffers sync.Pool
}

// Holds implements selection.Filter.
func (t *test) Holds(data []byte, logTime int64) (bool, error) {
	return askFilter(t, (*where.Filter).Holds, data, logTime)
}

// value returns the value of a message as text.
func (t *test) value(data []byte, logTime int64) (string, error) {
	return askFilter(t, (*where.Filter).Value, data, logTime)
}

// askFilter asks the filter of a test about a message.
func askFilter[T any](t *test, ask func(*where.Filter, []byte) (T, error), data []byte, logTime int64) (no T,
	err error) {
	if t.err != nil {
		return no, t.err
	}
	if t.head == nil {
		return ask(t.filter, data)
	}
	buf, _ := t.buffers.Get().(*[]byte)
	if buf == nil {
		buf = new([]byte)
	}
	defer t.buffers.Put(buf)
	made, err := mapping.AppendAt(t.head, (*buf)[:0], data, logTime)
	if err != nil {
		return no, err
	}
	*buf = made
	return ask(t.filter, made)
}

// tests compiles the conditions: by subject, then by TopicID; nil: the subject is not about the topic.
func (s *Source) tests(ctx context.Context, named *storage.Info, subjects []selection.Subject) ([][]*test, error) {
	mapper, err := s.Mapper(ctx, named)
	if err != nil {
		return nil, err
	}
	tests := make([][]*test, len(subjects))
	for k, subject := range subjects {
		tests[k] = make([]*test, len(s.Info.Topics))
		for i, matches := range subject.Topics {
			t := &named.Topics[i]
			if !matches {
				continue
			}
			typ, def, err := mapper.Type(&t.Topic)
			if err != nil && t.Messages == 0 {
				tests[k][i] = &test{err: err}
				continue
			}
			var filter *where.Filter
			if err == nil {
				filter, err = subject.Condition.Compile([]string{subject.Name}, typ)
			}
			if err != nil {
				return nil, &ConditionError{s.Info.Topics[i].Name, subject.Flag, err}
			}
			tests[k][i] = &test{head: def.Head, filter: filter}
		}
	}
	return tests, nil
}

// A ConditionError is the error of a condition or an edit that the type of a topic does not fit.
type ConditionError struct {
	Topic, Flag string // Flag "": it is in Err
	Err         error
}

func (e *ConditionError) Error() string {
	return fmt.Sprintf("topic %s: %s", e.Topic, strings.TrimSpace(e.Flag+" "+e.Err.Error()))
}
func (e *ConditionError) Unwrap() error { return e.Err }

// holds reports whether a choice takes a message, by its time and its values.
func holds(c *selection.Choice, m *storage.Message) (bool, error) {
	if !c.Holds(m.LogTime) {
		return false, nil
	}
	if c.Filters == nil || c.Filters[m.Topic] == nil {
		return true, nil
	}
	return c.Filters[m.Topic].Holds(m.Data, m.LogTime)
}

// maxStretches is how many stretches conditions may choose.
const maxStretches = 1 << 20

// errStretches is the error of conditions that choose more.
var errStretches = errors.New("the conditions choose more than 1,048,576 stretches of time; " +
	"give --within a longer time")

// stretchesOf returns the stretches of time that the conditions choose, in order.
func (s *Source) stretchesOf(ctx context.Context, sel *selection.Selection, tests [][]*test, threads int) (
	[]selection.Window, error) {
	matches := sel.Matches(s.Info)
	key := fmt.Sprint(sel.Where.Conditions, sel.Where.Within, sel.Where.Near, matches.Start, matches.End,
		matches.Duration)
	if known, ok := s.stretches[key]; ok {
		return known, nil
	}
	v := &stretcher{where: &sel.Where, tests: tests, info: s.Info}
	query := Query{Select: matches, Threads: threads}
	query.Edit.Latch = selection.NoLatch
	if _, err := s.Read(ctx, query, v); err != nil {
		return nil, err
	}
	list := v.end()
	if s.stretches == nil {
		s.stretches = map[string][]selection.Window{}
	}
	s.stretches[key] = list
	return list, nil
}

// A stretcher is a Visitor that finds the stretches of conditions.
type stretcher struct {
	where  *selection.Where
	tests  [][]*test
	info   *storage.Info
	chosen []subjectStretches // by subject
	last   int64
}

// subjectStretches are the stretches of a subject.
type subjectStretches struct {
	list []selection.Window
	open map[string]int64 // where a stretch of a topic has begun that goes on
}

// Plan forgets what an attempt before has found.
func (v *stretcher) Plan(*storage.Info, []bool) ([]Topic, error) {
	v.chosen, v.last = make([]subjectStretches, len(v.tests)), 0
	for k := range v.chosen {
		v.chosen[k].open = map[string]int64{}
	}
	return make([]Topic, len(v.info.Topics)), nil
}

// Work tests the messages of a block: one bool for each subject and message.
func (v *stretcher) Work(_ storage.Block, msgs []storage.Message, made any) (any, error) {
	answers, _ := made.([]bool)
	answers = slices.Grow(answers[:0], len(msgs)*len(v.tests))
	for i := range msgs {
		m := &msgs[i]
		for k := range v.tests {
			t := v.tests[k][m.Topic]
			holds := false
			if t != nil {
				var err error
				if holds, err = t.Holds(m.Data, m.LogTime); err != nil {
					return nil, fmt.Errorf("topic %s, message at time %d: --where: %w", v.info.Topics[m.Topic].Name, m.LogTime, err)
				}
			}
			answers = append(answers, holds)
		}
	}
	return answers, nil
}

// Take makes stretches of what was found.
func (v *stretcher) Take(_ storage.Block, msgs []storage.Message, from, to int, made any) error {
	answers := made.([]bool)
	for i := from; i < to; i++ {
		m := &msgs[i]
		v.last = max(v.last, m.LogTime)
		for k := range v.tests {
			if v.tests[k][m.Topic] == nil {
				continue
			}
			c := &v.chosen[k]
			c.take(v.where, v.info.Topics[m.Topic].Name, m.LogTime, answers[i*len(v.tests)+k])
			if len(c.list) > maxStretches {
				return errStretches
			}
		}
	}
	return nil
}

// take takes a message.
func (f *subjectStretches) take(w *selection.Where, topic string, at int64, holds bool) {
	if w.Near {
		next := selection.Window{First: selection.Shift(at, -w.Within), Last: selection.Shift(at, w.Within)}
		if last := len(f.list) - 1; holds && last >= 0 && next.First <= f.list[last].Last {
			f.list[last].Last = next.Last
		} else if holds {
			f.list = append(f.list, next)
		}
		return
	}
	begun, goesOn := f.open[topic]
	switch {
	case holds && !goesOn:
		f.open[topic] = at
	case !holds && goesOn:
		delete(f.open, topic)
		if begun < at {
			f.list = append(f.list, selection.Window{First: begun, Last: at - 1})
		}
	}
}

// end returns the times that are in stretches of all subjects. What has not ended goes on to the end of time.
func (v *stretcher) end() []selection.Window {
	all := []selection.Window{{First: selection.Everything(0).First, Last: selection.Everything(0).Last}}
	for k := range v.chosen {
		f := &v.chosen[k]
		for _, begun := range f.open {
			f.list = append(f.list, selection.Window{First: begun, Last: selection.Everything(0).Last})
		}
		all = common(all, joined(f.list))
	}
	return all
}

// joined sorts stretches, and makes one of stretches that touch each other.
func joined(list []selection.Window) (out []selection.Window) {
	slices.SortFunc(list, func(a, b selection.Window) int { return cmp.Compare(a.First, b.First) })
	for _, w := range list {
		if last := len(out) - 1; last >= 0 && w.First <= selection.Shift(out[last].Last, 1) {
			out[last].Last = max(out[last].Last, w.Last)
		} else {
			out = append(out, w)
		}
	}
	return out
}

// common returns the times that are in both.
func common(a, b []selection.Window) (out []selection.Window) {
	for i, k := 0, 0; i < len(a) && k < len(b); {
		if w := (selection.Window{First: max(a[i].First, b[k].First), Last: min(a[i].Last, b[k].Last)}); w.First <= w.Last {
			out = append(out, w)
		}
		if a[i].Last < b[k].Last {
			i++
		} else {
			k++
		}
	}
	return out
}
