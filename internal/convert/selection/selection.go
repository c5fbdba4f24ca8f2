// Package selection decides which messages of a recording are read, and what is
// changed about them without looking into their fields: names, times, rates.
//
// A Selection and an Edit are what a command line asks for, before any
// recording is known. Resolve and Edit.Names compare them with the topics and
// times of one recording, and make tables by storage.TopicID for the data path:
//
//	sel := selection.Selection{Topics: patterns, Start: start, Duration: 10e9}
//	choice, err := sel.Resolve(info)     // *UnknownError, *EmptyError
//	if choice.Topics[m.Topic] && choice.Holds(m.LogTime) { ... }
//
// All times of a selection are log times of the recording, and all topics have
// the names that they have there. The start belongs to a selection, the end
// does not.
//
// The package does no I/O. Values are not changed after they were made and may
// be used concurrently, but for Thin and State, which follow one stream.
package selection

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/bagconv/bagconv/storage"
)

// A Selection is what to take of a recording. The zero value is everything.
type Selection struct {
	Topics, ExcludeTopics []Pattern // no Topics: all
	Types, ExcludeTypes   []Pattern // no Types: all

	// MissingOK lets patterns match nothing, in the edit too. A recording without any topic that is left is
	// ErrNoTopics, and no error of a pattern.
	MissingOK bool

	Start, End Time  // the zero Time: open
	Duration   int64 // ns from Start, or from the recording's start; 0: not set. Not together with End

	Where Where // by the values of messages
}

// All reports whether nothing is left out.
func (s *Selection) All() bool {
	return len(s.Topics)+len(s.ExcludeTopics)+len(s.Types)+len(s.ExcludeTypes)+len(s.Where.Conditions) == 0 &&
		!s.Timed()
}

// Timed reports whether the selection is bounded in time.
func (s *Selection) Timed() bool { return s.Start.Set() || s.End.Set() || s.Duration > 0 }

// A Choice is a selection of one recording.
type Choice struct {
	Topics      []bool // index = storage.TopicID; which are taken
	First, Last int64  // ns since 1970, both belong to it; all of int64 if it is open

	Filters   []Filter // index = storage.TopicID; nil: all messages of the topic. nil: of all topics
	Stretches []Window // of which one has a message that is taken, in order; nil: from First to Last

	missingOK bool // see Selection.MissingOK
}

// ErrNoTopics is the error of Resolve for a recording that has none of the topics, if they may be missing.
var ErrNoTopics = errors.New("it has none of the selected topics")

// A Filter decides by its content whether a message is taken. The error says why the content does not decide it.
type Filter interface {
	Holds(data []byte, logTime int64) (bool, error)
}

// Holds reports whether a message of that log time is taken, as far as its time decides that.
func (c *Choice) Holds(t int64) bool {
	return t >= c.First && t <= c.Last && (c.Stretches == nil || c.stretched(t, t))
}

// stretched reports whether one of the stretches has a time from first to last.
func (c *Choice) stretched(first, last int64) bool {
	i := sort.Search(len(c.Stretches), func(i int) bool { return c.Stretches[i].Last >= first })
	return i < len(c.Stretches) && c.Stretches[i].First <= last
}

// Within leaves out what is in none of the stretches, which are in order.
func (c *Choice) Within(stretches []Window) {
	c.Stretches = []Window{}
	for _, w := range stretches {
		if w = (Window{max(w.First, c.First), min(w.Last, c.Last)}); w.First <= w.Last {
			c.Stretches = append(c.Stretches, w)
		}
	}
	if n := len(c.Stretches); n > 0 {
		c.First, c.Last = c.Stretches[0].First, c.Stretches[n-1].Last
		return
	}
	clear(c.Topics)
}

// Cut is set if the choice begins at a time: what latched topics sent before
// it may be needed.
func (c *Choice) Cut() bool { return c.First != math.MinInt64 }

// Everything returns the choice of all messages of all topics.
func Everything(topics int) *Choice {
	c := &Choice{Topics: make([]bool, topics), First: math.MinInt64, Last: math.MaxInt64}
	for i := range c.Topics {
		c.Topics[i] = true
	}
	return c
}

// An EmptyError is a selection that cannot hold a message of the recording.
type EmptyError struct {
	First, Last int64 // of the choice, ns since 1970
	Start, End  int64 // of the recording
}

func (e *EmptyError) Error() string {
	if e.First > e.Last {
		return fmt.Sprintf("the selection begins at %s and ends at %s: its end must be later", stamp(e.First),
			stamp(e.Last+1))
	}
	from, to := "its start", "its end"
	if e.First != math.MinInt64 {
		from = stamp(e.First)
	}
	if e.Last != math.MaxInt64 {
		to = stamp(e.Last + 1)
	}
	return fmt.Sprintf("nothing is selected: the recording lasts from %s to %s, and the selection from %s to %s",
		stamp(e.Start), stamp(e.End), from, to)
}

func stamp(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339Nano) }

// Resolve compares the selection with a recording. A pattern that matches no
// topic is an *UnknownError, a time range that cannot hold a message an
// *EmptyError, a time of day that is not one time of the recording a *TimeError.
func (s *Selection) Resolve(info *storage.Info) (*Choice, error) {
	c := Everything(len(info.Topics))
	c.missingOK = s.MissingOK
	err := s.topics(info, c.Topics)
	if err == nil && s.MissingOK && !slices.Contains(c.Topics, true) {
		err = ErrNoTopics
	}
	if err == nil && s.Start.Set() {
		c.First, err = s.Start.at(info, false)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case s.Duration > 0 && c.First == math.MinInt64:
		c.Last = add(info.Start, s.Duration-1)
	case s.Duration > 0:
		c.Last = add(c.First, s.Duration-1)
	case s.End.Set():
		end, err := s.End.at(info, true)
		if err != nil {
			return nil, err
		}
		c.Last = add(end, -1)
	}
	if err := s.Where.check(info, c); err != nil {
		return nil, err
	}
	if s.Timed() && (c.First > c.Last || info.Messages > 0 && (c.First > info.End || c.Last < info.Start)) {
		return nil, &EmptyError{First: c.First, Last: c.Last, Start: info.Start, End: info.End}
	}
	return c, nil
}

// topics marks what the patterns take.
func (s *Selection) topics(info *storage.Info, take []bool) error {
	for _, group := range []struct {
		flag     string
		patterns []Pattern
		exclude  bool
		typ      bool
	}{
		{"--topic", s.Topics, false, false}, {"--type", s.Types, false, true},
		{"--exclude-topic", s.ExcludeTopics, true, false}, {"--exclude-type", s.ExcludeTypes, true, true},
	} {
		if len(group.patterns) == 0 {
			continue
		}
		hit := make([]bool, len(info.Topics))
		for _, p := range group.patterns {
			any := false
			for i := range info.Topics {
				if t := &info.Topics[i]; p.Match(t.Name) && !group.typ || group.typ && p.MatchType(t.Type) {
					hit[i], any = true, true
				}
			}
			if !any && !s.MissingOK {
				return unknown(group.flag, p, info, group.typ)
			}
		}
		for i := range take {
			take[i] = take[i] && hit[i] != group.exclude
		}
	}
	return nil
}

// Missing returns the patterns of topics and types to take that match none of the names and types.
func (s *Selection) Missing(names, types []string) (missing []string) {
	for _, p := range s.Topics {
		if !slices.ContainsFunc(names, p.Match) {
			missing = append(missing, p.text)
		}
	}
	for _, p := range s.Types {
		if !slices.ContainsFunc(types, p.MatchType) {
			missing = append(missing, p.text)
		}
	}
	return missing
}

// Blocks reports which of the blocks can hold messages of the choice, by the times and
// topics that the index has for them: false for blocks that need not be read. The answer is
// nil if all blocks can.
func (c *Choice) Blocks(blocks []storage.Block) []bool {
	need, all := make([]bool, len(blocks)), true
	for i := range blocks {
		b := &blocks[i]
		need[i] = (!b.Timed || b.End >= c.First && b.Start <= c.Last &&
			(c.Stretches == nil || c.stretched(b.Start, b.End))) && c.holdsOne(b.Topics)
		all = all && need[i]
	}
	if all {
		return nil
	}
	return need
}

// holdsOne reports whether the choice has one of the topics of a block. It may, if the
// topics are not known.
func (c *Choice) holdsOne(topics []storage.TopicID) bool {
	return len(topics) == 0 || slices.ContainsFunc(topics, func(id storage.TopicID) bool {
		return int(id) < len(c.Topics) && c.Topics[id]
	})
}

// Shift moves a time by some ns, and stops at the least and the greatest int64.
func Shift(t, by int64) int64 { return add(t, by) }

// add adds without overflow: it stops at the least and the greatest int64.
func add(a, b int64) int64 {
	s := a + b
	switch {
	case a > 0 && b > 0 && s < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && s >= 0:
		return math.MinInt64
	}
	return s
}
