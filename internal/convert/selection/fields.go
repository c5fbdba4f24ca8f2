package selection

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/convert/multi"
	"github.com/bagconv/bagconv/internal/convert/where"
	"github.com/bagconv/bagconv/storage"
)

// Fields are changes of the values in messages. The zero value changes nothing.
type Fields struct {
	Set  []*where.Assignment
	Drop []*where.Assignment // of defaults

	Frames  []Rename // of the names of frames; the first that matches counts
	Slashes bool     // leading slashes of frames go, before Frames

	Transforms []Edge       // that go
	Static     multi.Static // that come, with their names in the output
}

// An Edge is a transform between two frames, or several.
type Edge struct {
	text          string
	parent, child Pattern
}

// ParseEdge reads "CHILD" or "PARENT CHILD", which may be globs.
func ParseEdge(s string) (e Edge, err error) {
	words := strings.Fields(s)
	if len(words) == 1 {
		words = []string{"*", words[0]}
	}
	if len(words) != 2 {
		return e, fmt.Errorf("%q: write a frame, or its parent and the frame: 'odom base_link'", s)
	}
	e.text = s
	if e.parent, err = ParsePattern(words[0]); err == nil {
		e.child, err = ParsePattern(words[1])
	}
	return e, err
}

// String returns the edge as it was written.
func (e *Edge) String() string { return e.text }

// Goes returns the number of the rule by which a transform goes.
func (f *Fields) Goes(parent, child string) (number int, goes bool) {
	for i := range f.Transforms {
		if e := &f.Transforms[i]; e.parent.Match(parent) && e.child.Match(child) {
			return i, true
		}
	}
	return 0, false
}

// Any reports whether something changes.
func (f *Fields) Any() bool { return len(f.Set)+len(f.Drop) > 0 || f.Static.Any() || f.OfFrames() }

// OfFrames reports whether something changes in messages of all topics that have frames.
func (f *Fields) OfFrames() bool { return len(f.Frames)+len(f.Transforms) > 0 || f.Slashes }

// Of returns the assignments that are about a topic.
func (f *Fields) Of(topic string) (list []*where.Assignment) {
	for _, a := range slices.Concat(f.Set, f.Drop) {
		if p, err := ParsePattern(a.Topic()); err == nil && p.Match(topic) {
			list = append(list, a)
		}
	}
	return list
}

// check compares the topics of the assignments with the topics of a recording.
func (f *Fields) check(info *storage.Info, c *Choice) error {
	for _, a := range slices.Concat(f.Set, f.Drop) {
		p, err := ParsePattern(a.Topic())
		if err != nil {
			return err
		}
		if err := checkTopic(a.Flag(), p, info, c); err != nil {
			return err
		}
	}
	return nil
}

// checkStatic refuses transforms that come to no output: their topic, the first, is not taken, or their time is not.
func (e *Edit) checkStatic(info *storage.Info, c *Choice) error {
	f := &e.Fields
	if !f.Static.Any() || len(info.Topics) == 0 {
		return nil
	}
	t := &info.Topics[0]
	switch {
	case f.Static.Once && (f.OfFrames() || len(f.Of(t.Name)) > 0):
		return fmt.Errorf("--static-once makes one message of %s before other edits of it: run bagconv twice", t.Name)
	case !c.Topics[0]:
		return fmt.Errorf("--static adds to %s, which the selection leaves out: add -t %s", t.Name, t.Name)
	case c.First > info.Start && e.Latch.Depth(&t.Topic) == 0:
		return fmt.Errorf("--static adds to %s at the start of IN, which is cut off: omit --latch", t.Name)
	}
	return nil
}

// only returns the changes for a job that takes no other topic.
func (f Fields) only(topic string) Fields {
	other := func(a *where.Assignment) bool {
		p, err := ParsePattern(a.Topic())
		return err == nil && !p.Match(topic)
	}
	f.Set = slices.DeleteFunc(slices.Clone(f.Set), other)
	f.Drop = slices.DeleteFunc(slices.Clone(f.Drop), other)
	return f
}

// Frame returns the name that a frame gets, and the number of the rule; -1: no rule is about it.
func (f *Fields) Frame(name string) (renamed string, number int) {
	for i := range f.Frames {
		if renamed, ok := f.Frames[i].apply(name); ok {
			return renamed, i
		}
	}
	return name, -1
}
