package report

import (
	"math"
	"strings"

	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/export/view"
	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/storage"
)

// A pass is the visitor that sees the messages as check reads them.
type pass struct{ *gatherer }

// Sights are what Work has read of a block.
type sights struct {
	list    []sight
	values  []float64
	edges   []edgeName
	frames  []string // of tracks, by the number of the look; "": not read in this block
	names   map[string]string
	scratch []byte
}

// A sight is what a look has read of a message, or a list of transforms.
type sight struct {
	message int   // in the block
	look    *look // nil: transforms
	from    int   // in values or edges
	n       int
	bad     bool
}

// An edgeName is a transform without its numbers.
type edgeName struct{ parent, child string }

// Plan has nothing to decide.
func (p pass) Plan(*storage.Info, []bool) ([]recording.Topic, error) { return nil, nil }

// Work reads the numbers of messages.
func (p pass) Work(_ storage.Block, msgs []storage.Message, made any) (any, error) {
	w, ok := made.(*sights)
	if !ok {
		w = &sights{names: map[string]string{}}
	}
	w.list, w.values, w.edges = w.list[:0], w.values[:0], w.edges[:0]
	w.frames = append(w.frames[:0], make([]string, len(p.looks))...)
	for i := range msgs {
		m := &msgs[i]
		s := p.of[m.Topic]
		for _, x := range s.looks {
			w.see(i, m, x)
		}
		if s.edges != nil {
			w.transforms(i, m, s)
		}
	}
	return w, nil
}

// see reads the numbers of a look.
func (w *sights) see(i int, m *storage.Message, x *look) {
	got := sight{message: i, look: x, from: len(w.values), n: len(x.paths)}
	data, err := x.reader.Message(m.Data, m.LogTime, &w.scratch)
	if err != nil {
		got.bad = true
		w.list = append(w.list, got)
		return
	}
	c := message.Open(x.reader.Type, data)
	defer c.Close()
	for _, p := range x.paths {
		v := math.NaN()
		if c.Rewind(); c.Seek(p) {
			v = view.FloatOf(p.Field, c.Bits(p.Field))
		}
		w.values = append(w.values, v)
	}
	if x.frame != nil && w.frames[x.number] == "" {
		if c.Rewind(); c.Seek(x.frame) {
			w.frames[x.number] = w.name(c.Text(x.frame.Field))
		}
	}
	c.Rewind()
	c.Fields(x.reader.Type, c.Check)
	got.bad = c.End() != nil
	w.list = append(w.list, got)
}

// maxNames is how many names of frames a worker remembers.
const maxNames = 4096

// name returns a text, which most messages repeat.
func (w *sights) name(b []byte) string {
	if s, ok := w.names[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(w.names) < maxNames {
		w.names[s] = s
	}
	return s
}

// transforms reads a list of transforms.
func (w *sights) transforms(i int, m *storage.Message, s *stream) {
	r := s.kind.view.Reader
	got := sight{message: i, from: len(w.edges)}
	data, err := r.Message(m.Data, m.LogTime, &w.scratch)
	if err != nil {
		return // check counts it
	}
	c := message.Open(r.Type, data)
	defer c.Close()
	c.Fields(r.Type, func(list *message.Field) {
		if list != s.edges {
			c.Check(list)
			return
		}
		c.Elements(list, c.Count(list), func(int) { w.edges = append(w.edges, w.edge(c, list.Type)) })
	})
	if c.End() != nil {
		w.edges = w.edges[:got.from]
		return
	}
	if got.n = len(w.edges) - got.from; got.n > 0 {
		w.list = append(w.list, got)
	}
}

// edge reads the names of a transform.
func (w *sights) edge(c *message.Cursor, t *message.Type) (e edgeName) {
	text := func(f *message.Field) bool { return f.Kind == message.Text && !f.List }
	c.Fields(t, func(f *message.Field) {
		switch {
		case f.Name == "child_frame_id" && text(f):
			e.child = w.frameName(c.Text(f))
		case f.Name == "header" && f.Type != nil && !f.List:
			c.Fields(f.Type, func(f *message.Field) {
				if f.Name == "frame_id" && text(f) {
					e.parent = w.frameName(c.Text(f))
				} else {
					c.Check(f)
				}
			})
		default:
			c.Check(f)
		}
	})
	return e
}

// frameName returns the name of a frame, without the slash that old programs write.
func (w *sights) frameName(b []byte) string { return strings.TrimPrefix(w.name(b), "/") }

// Take adds what Work has read, and counts the messages.
func (p pass) Take(_ storage.Block, msgs []storage.Message, _, _ int, made any) error {
	for i := range msgs {
		p.times.add(int(p.rows[msgs[i].Topic]), msgs[i].LogTime)
	}
	p.take(msgs, made.(*sights))
	return nil
}

// take adds what was read.
func (g *gatherer) take(msgs []storage.Message, w *sights) {
	for _, got := range w.list {
		m := &msgs[got.message]
		x := got.look
		switch {
		case x == nil:
			for _, e := range w.edges[got.from : got.from+got.n] {
				g.edge(g.of[m.Topic], e, m.LogTime)
			}
			continue
		case got.bad:
			x.bad++
			continue
		}
		values := w.values[got.from : got.from+got.n]
		for k, c := range x.curves {
			g.curves[c].add(m.LogTime, values[k])
		}
		if x.trail != nil {
			x.trail.add(m.LogTime, values[len(x.curves):])
			if x.trail.frame == "" {
				x.trail.frame = w.frames[x.number]
			}
		}
	}
}
