package edit

import (
	"strings"

	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/schema"
)

// A frameKind is what a field says about frames.
type frameKind uint8

const (
	noFrame     frameKind = iota
	frame                 // its frame; of a transform, the parent
	childFrame            // of a transform or of an odometry
	parentFrame           // of a transform in Foxglove's schemas
)

// frameFields are the names of fields of text that are frames, in all types.
var frameFields = map[string]frameKind{"frame_id": frame, "child_frame_id": childFrame, "parent_frame_id": parentFrame}

// Frames are rules about the names of frames.
type Frames struct {
	Slashes bool                                               // leading slashes go
	Rename  func(name string) (renamed string, number int)     // number of the rule, -1: no rule is about the name
	Renames []string                                           // the rules as they are written
	Drop    func(parent, child string) (number int, drop bool) // of transforms, by their names in the input; nil: all stay
	Drops   []string                                           // the rules as they are written
}

// names lists the rules: first the slashes, then names, then transforms.
func (f *Frames) names() []string {
	list := []string{"--strip-frame-slash"}
	for _, r := range f.Renames {
		list = append(list, "--frame "+r)
	}
	for _, r := range f.Drops {
		list = append(list, "--drop-tf "+r)
	}
	return list
}

// frames adds to a node what is done with frames; nil: the type has no frames.
func (b *builder) frames(n *node, t *message.Type) *node {
	if n == nil {
		if made, ok := b.known[t]; ok {
			return made
		}
		if !hasFrames(t, map[*message.Type]bool{}) {
			b.known[t] = nil
			return nil
		}
		n = newNode(t)
		b.known[t] = n
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		a := n.actions[i]
		switch {
		case a != nil && a.drop, f.Proto != nil && f.Proto.IsMap():
		case f.Kind == message.Text && !f.List && frameFields[f.Name] != noFrame:
			if a == nil {
				a = &action{}
			}
			a.frame = frameFields[f.Name]
			n.actions[i] = a
		case f.Kind == message.Struct && f.Clock == schema.Invalid:
			n.actions[i] = b.within(f, a)
		}
	}
	return n
}

// within adds frames to the action of a struct, or of a list of them.
func (b *builder) within(f *message.Field, a *action) *action {
	if a == nil {
		sub := b.frames(nil, f.Type)
		if sub == nil {
			return nil
		}
		a = &action{sub: sub}
	} else {
		a.sub = b.frames(a.sub, f.Type)
		for _, e := range a.at {
			e.sub = b.frames(e.sub, f.Type)
		}
	}
	a.edges = f.List && f.Fixed < 0 && isTransform(f.Type)
	return a
}

// hasFrames reports whether a type or a type in it has a frame.
func hasFrames(t *message.Type, seen map[*message.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	for i := range t.Fields {
		f := &t.Fields[i]
		switch {
		case f.Proto != nil && f.Proto.IsMap():
		case f.Kind == message.Text && !f.List && frameFields[f.Name] != noFrame:
			return true
		case f.Kind == message.Struct && f.Clock == schema.Invalid && hasFrames(f.Type, seen):
			return true
		}
	}
	return false
}

// isTransform reports whether a type is a stamped transform: of ROS, Apollo or Foxglove.
func isTransform(t *message.Type) bool {
	name := t.Name[strings.LastIndexAny(t.Name, "/.")+1:]
	return (name == "TransformStamped" || name == "FrameTransform") && t.Find("child_frame_id") != nil
}

// frame returns the name of a frame after the rules, and keeps what it was for a transform.
func (w *walk) frame(a *action, name string) string {
	switch a.frame {
	case noFrame:
		return name
	case childFrame:
		w.child = name
	default:
		w.parent = name
	}
	rules, first := w.p.frames, len(w.p.setters)
	if rules.Slashes && strings.HasPrefix(name, "/") {
		name = strings.TrimLeft(name, "/")
		w.changed[first]++
	}
	if rules.Rename != nil && name != "" {
		if renamed, i := rules.Rename(name); i >= 0 && renamed != name {
			w.changed[first+1+i]++
			return renamed
		}
	}
	return name
}

// goes reports whether the transform that was just written goes.
func (w *walk) goes() bool {
	rules := w.p.frames
	if rules == nil || rules.Drop == nil {
		return false
	}
	i, drop := rules.Drop(w.parent, w.child)
	if drop {
		w.changed[len(w.p.setters)+1+len(rules.Renames)+i]++
		w.dropped++
	}
	return drop
}
