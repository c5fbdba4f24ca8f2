package edit

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bagconv/bagconv/internal/convert/transcode"
	"github.com/bagconv/bagconv/internal/convert/where"
	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/wire/ros"
)

// Rules are what to change in the messages of a topic.
type Rules struct {
	Set    []*where.Assignment
	Frames *Frames // nil: frames stay
}

// Errors that say what becomes of a message that is not changed.
var (
	// ErrRefused is wrapped by errors about messages that a rule cannot change.
	ErrRefused = errors.New("the edit is refused")
	// ErrEmpty is the error of a message of which no transform is left.
	ErrEmpty = errors.New("no transform is left")
)

// A Program changes the messages of a topic.
type Program struct {
	typ     *message.Type
	root    *node
	setters []*where.Setter
	frames  *Frames
	walks   sync.Pool

	messages atomic.Int64   // that were changed
	changed  []atomic.Int64 // values, by rule
	names    []string       // of the rules
}

// Compile makes the program for the messages of a type; nil if no rule is about a field of the type.
func Compile(rules Rules, t *message.Type) (*Program, error) {
	p := &Program{typ: t, frames: rules.Frames}
	for _, a := range rules.Set {
		s, err := a.Compile(t)
		if err != nil {
			return nil, fmt.Errorf("%s %w", a.Flag(), err)
		}
		p.setters = append(p.setters, s)
		p.names = append(p.names, a.Flag()+" "+s.Text)
	}
	b := builder{setters: p.setters, known: map[*message.Type]*node{}}
	var err error
	if p.root, err = b.build(t); err != nil {
		return nil, err
	}
	if rules.Frames != nil {
		p.names = append(p.names, rules.Frames.names()...)
		p.root = b.frames(p.root, t)
	}
	if p.root == nil {
		return nil, nil
	}
	if !t.Protobuf() && !t.Plain() {
		return nil, fmt.Errorf("%s has members that only IDL has; convert the recording first", t.Name)
	}
	p.changed = make([]atomic.Int64, len(p.names))
	p.walks.New = func() any {
		return &walk{p: p, values: make([]where.Values, len(p.setters)), changed: make([]int64, len(p.names))}
	}
	return p, nil
}

// Nothing returns a program that leaves nothing of a message: all of them are ErrEmpty.
func Nothing() *Program { return &Program{frames: &Frames{}} }

// SetsSeq reports whether a rule changes the counter of the header that messages begin with.
func (p *Program) SetsSeq() bool {
	return slices.ContainsFunc(p.setters, func(s *where.Setter) bool {
		steps := s.Steps
		return steps[0].Field.Index == 0 && steps[0].Field.Name == "header" && (len(steps) == 1 ||
			steps[1].Field.Name == "seq")
	})
}

// SizeHint implements mapping.Program.
func (p *Program) SizeHint(n int) int { return n + n/16 + 256 }

// Append implements mapping.Program.
func (p *Program) Append(dst, src []byte) ([]byte, error) {
	if p.root == nil {
		return dst, ErrEmpty
	}
	w := p.walks.Get().(*walk)
	defer p.walks.Put(w)
	clear(w.changed)
	w.err, w.element, w.dropped, w.left = nil, 0, 0, 0
	for i, s := range p.setters {
		if s.Drop {
			continue
		}
		if err := s.Values(src, &w.values[i]); err != nil {
			return dst, refusal(s.Text, err)
		}
	}
	var out []byte
	var err error
	if p.typ.Protobuf() {
		out, err = w.proto(dst, src)
	} else {
		out, err = w.ros(dst, src)
	}
	switch {
	case err != nil:
		return dst, err
	case w.dropped > 0 && w.left == 0:
		w.count()
		return dst, ErrEmpty
	}
	if slices.ContainsFunc(w.changed, func(n int64) bool { return n > 0 }) {
		p.messages.Add(1)
	}
	w.count()
	return out, nil
}

// refusal returns the error of a setter: what does not match the type stays what it is.
func refusal(rule string, err error) error {
	if errors.Is(err, ros.ErrMalformed) {
		return err
	}
	return fmt.Errorf("%w: %s: %w", ErrRefused, rule, err)
}

// A walk is one message on its way.
type walk struct {
	p       *Program
	values  []where.Values // by setter
	changed []int64        // by rule
	element int            // which one of the list that a setter goes over
	err     error          // the first

	parent, child string // frames of the transform that is written
	dropped, left int    // transforms

	c   *message.Cursor
	out ros.Writer
	at  int // of the first value in out
}

func (w *walk) count() {
	for i, n := range w.changed {
		if n > 0 {
			w.p.changed[i].Add(n)
		}
	}
}

// refuse keeps the first error.
func (w *walk) refuse(format string, a ...any) {
	if w.err == nil {
		w.err = fmt.Errorf("%w: "+format, append([]any{ErrRefused}, a...)...)
	}
}

// setting returns the values of a setter and which of them is next.
func (w *walk) setting(a *action) (v *where.Values, i int) {
	v = &w.values[a.set-1]
	if w.p.setters[a.set-1].Each {
		i = w.element
	}
	return v, i
}

// note counts a value that a rule has written.
func (w *walk) note(a *action, changed bool) {
	if changed {
		w.changed[a.set-1]++
	}
}

// A Change is how many values a rule has changed.
type Change struct {
	Rule   string
	Values int64
}

// Changes lists what the rules have changed so far, and the messages that were changed.
func (p *Program) Changes() (list []Change, messages int64) {
	for i := range p.changed {
		if i != len(p.setters) || p.frames.Slashes {
			list = append(list, Change{p.names[i], p.changed[i].Load()})
		}
	}
	return list, p.messages.Load()
}

// Losses lists the changes as what the output has in another form.
func (p *Program) Losses() (list []transcode.Loss) {
	changes, _ := p.Changes()
	for _, c := range changes {
		if c.Values == 0 {
			continue
		}
		list = append(list, transcode.Loss{Code: "edited", Messages: c.Values, Kept: true,
			Message: "values changed by " + c.Rule})
	}
	return list
}

// Reset sets all counts to zero.
func (p *Program) Reset() {
	p.messages.Store(0)
	for i := range p.changed {
		p.changed[i].Store(0)
	}
}
