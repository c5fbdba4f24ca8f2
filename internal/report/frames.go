package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// An edge is a transform from a frame to its parent, by one topic.
type edge struct {
	edgeName
	stream      *stream
	count       int64
	first, last int64 // log times
}

// edge counts a transform.
func (g *gatherer) edge(s *stream, name edgeName, t int64) {
	key := edgeKey{name, s}
	e := g.edges[key]
	if e == nil {
		if len(g.edges) >= maxEdges {
			g.moreEdges++
			return
		}
		e = &edge{edgeName: name, stream: s, first: t, last: t}
		g.edges[key] = e
	}
	e.count++
	e.first, e.last = min(e.first, t), max(e.last, t)
}

type edgeKey struct {
	edgeName
	stream *stream
}

// frames draws the tree of transforms: a root, then all below it, in the order of names. A frame with two parents is
// below each of them, and what is below the frame stands once. Frames of a loop come at the end.
func (g *gatherer) frames() []Frame {
	children, parents := map[string][]*edge{}, map[string][]string{}
	names := map[string]bool{}
	for _, e := range g.edges {
		children[e.parent] = append(children[e.parent], e)
		if names[e.parent], names[e.child] = true, true; !slices.Contains(parents[e.child], e.parent) {
			parents[e.child] = append(parents[e.child], e.parent)
		}
	}
	for _, list := range children {
		slices.SortFunc(list, func(a, b *edge) int {
			return cmp.Or(cmp.Compare(a.child, b.child), cmp.Compare(a.stream.topic.Name, b.stream.topic.Name),
				cmp.Compare(a.stream.topic.Type, b.stream.topic.Type))
		})
	}
	for _, list := range parents {
		slices.Sort(list)
	}
	t := &tree{g: g, children: children, parents: parents, done: map[string]bool{}, list: []Frame{}}
	all := make([]string, 0, len(names))
	for name := range names {
		all = append(all, name)
	}
	slices.Sort(all)
	for _, name := range all {
		if len(parents[name]) == 0 {
			t.root(name, "")
		}
	}
	for _, name := range all {
		if !t.done[name] { // it is in a loop, or below one
			passed := map[string]bool{}
			for ; !passed[name]; name = parents[name][0] {
				passed[name] = true
			}
			t.root(name, "is in a loop, so that nothing is above it all")
		}
	}
	if n := len(t.list); n > maxFrames {
		g.leave("transform", n-maxFrames)
		t.list = t.list[:maxFrames]
	}
	if g.moreEdges > 0 {
		g.doubt("%d transforms between further frames are not in the tree", g.moreEdges)
	}
	return t.list
}

// A tree is the tree in the making.
type tree struct {
	g        *gatherer
	children map[string][]*edge
	parents  map[string][]string
	done     map[string]bool // frames whose children are in the list
	list     []Frame
}

// root adds a frame without a parent, and all below it. It keeps a list of its own, as frames may be nested deep.
func (t *tree) root(name, note string) {
	t.list = append(t.list, Frame{Name: t.g.text(name), Note: t.g.text(note)})
	t.done[name] = true
	type item struct {
		e     *edge
		depth int
	}
	var open []item
	push := func(name string, depth int) {
		below := t.children[name]
		for i := len(below) - 1; i >= 0; i-- {
			open = append(open, item{below[i], depth})
		}
	}
	push(name, 1)
	for len(open) > 0 {
		x := open[len(open)-1]
		open = open[:len(open)-1]
		t.list = append(t.list, t.frame(x.e, x.depth))
		if !t.done[x.e.child] {
			t.done[x.e.child] = true
			push(x.e.child, x.depth+1)
		}
	}
}

// frame describes an edge.
func (t *tree) frame(e *edge, depth int) Frame {
	f := Frame{Name: t.g.text(e.child), Parent: t.g.text(e.parent), Static: e.stream.static,
		Topic: t.g.text(e.stream.topic.Name), Count: e.count, Depth: depth}
	if d := less(e.last, e.first); !f.Static && e.count > 2 && d > 0 {
		f.Rate = round(float64(e.count-1)/float64(d)*1e9, 1e3)
	}
	switch list := t.parents[e.child]; {
	case e.child == e.parent:
		f.Note = "is its own parent"
	case len(list) == 2:
		f.Note = "has two parents: " + strings.Join(list, ", ")
	case len(list) > 2:
		f.Note = fmt.Sprintf("has %d parents: %s and others", len(list), strings.Join(list[:2], ", "))
	}
	f.Note = t.g.text(f.Note)
	return f
}
