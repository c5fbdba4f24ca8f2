package export

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/export/track"
	"github.com/bagconv/bagconv/internal/export/view"
	"github.com/bagconv/bagconv/internal/message"
)

// A chain is the track of one frame in another, out of all transforms of a recording: a line at each time at which a
// transform on the way between the two changes. The transforms stay in memory until the end.
type chain struct {
	target, source string
	buffer         track.Buffer
	parents        map[string]string // of each frame, the last one
	poses          []track.Pose      // of the track, when done
	failed         int64             // times at which there is no way
	first          error             // why there is no way at the first of these times
	done           bool
}

// chainPart is a product: the transforms of a topic, for the chain.
type chainPart struct {
	*viewer
	chain  *chain
	static bool
	list   string // the field with the transforms; "": the message is one
}

// A transform is one of a message.
type transform struct {
	parent, child string
	pose          track.Pose
}

// chainOf returns the product of a topic with transforms, nil for others.
func (w *writer) chainOf(t *topic, v *viewer) product {
	if w.chain == nil {
		return nil
	}
	x := &chainPart{viewer: v, chain: w.chain, static: strings.HasSuffix(t.Name, "tf_static")}
	switch v.Name {
	case "tf2_msgs/TFMessage", "tf/tfMessage":
		x.list = "transforms"
		if f := v.Type.Find(x.list); f == nil || !f.List || f.Type == nil {
			return nil
		}
	case "geometry_msgs/TransformStamped":
	default:
		return nil
	}
	w.set.chained = true
	return x
}

func (x *chainPart) encode(b *block) (*made, error) {
	m := &made{}
	x.each(b, func(_ *row, data []byte, err error) {
		if err != nil {
			return // the table has counted it
		}
		c := message.Open(x.Type, data)
		defer c.Close()
		if found := x.transforms(c); c.End() == nil {
			m.parts = append(m.parts, found...)
		}
	})
	return m, nil
}

// transforms reads the transforms of a message.
func (x *chainPart) transforms(c *message.Cursor) (found []any) {
	if x.list == "" {
		return []any{readTransform(c, x.Type)}
	}
	c.Fields(x.Type, func(f *message.Field) {
		if f.Name != x.list {
			c.Skip(f)
			return
		}
		c.Elements(f, c.Count(f), func(int) { found = append(found, readTransform(c, f.Type)) })
	})
	return found
}

// readTransform reads a geometry_msgs/TransformStamped.
func readTransform(c *message.Cursor, t *message.Type) (x transform) {
	number := func(t *message.Type, to map[string]*float64) {
		c.Fields(t, func(f *message.Field) {
			if p := to[f.Name]; p != nil && f.Size > 0 && !f.List {
				*p = view.FloatOf(f, c.Bits(f))
				return
			}
			c.Skip(f)
		})
	}
	p := &x.pose
	c.Fields(t, func(f *message.Field) {
		switch {
		case f.Name == "child_frame_id" && f.Kind == message.Text && !f.List:
			x.child = string(c.Text(f))
		case f.Name == "header" && f.Type != nil && !f.List:
			c.Fields(f.Type, func(f *message.Field) {
				switch {
				case f.Name == "stamp" && f.Clock != 0 && !f.List:
					sec, nsec := c.Time(f)
					p.Time = sec*1_000_000_000 + nsec
				case f.Name == "frame_id" && f.Kind == message.Text && !f.List:
					x.parent = string(c.Text(f))
				default:
					c.Skip(f)
				}
			})
		case f.Name == "transform" && f.Type != nil && !f.List:
			c.Fields(f.Type, func(f *message.Field) {
				switch {
				case f.Name == "translation" && f.Type != nil && !f.List:
					number(f.Type, map[string]*float64{"x": &p.X, "y": &p.Y, "z": &p.Z})
				case f.Name == "rotation" && f.Type != nil && !f.List:
					number(f.Type, map[string]*float64{"x": &p.QX, "y": &p.QY, "z": &p.QZ, "w": &p.QW})
				default:
					c.Skip(f)
				}
			})
		default:
			c.Skip(f)
		}
	})
	return x
}

func (x *chainPart) append(part any) error {
	t := part.(transform)
	parent, child := strings.TrimPrefix(t.parent, "/"), strings.TrimPrefix(t.child, "/")
	if x.chain.buffer.Set(parent, child, t.pose, x.static) == nil { // Counts has the others
		x.chain.parents[child] = parent
	}
	return nil
}

func (x *chainPart) finish() ([]IndexFile, error) { return nil, nil }

// losses returns the losses of the chain, for the first topic that has some of it.
func (x *chainPart) losses() []loss {
	c := x.chain
	if c.done {
		return nil
	}
	c.run()
	n := c.buffer.Counts()
	list := some(loss{code: "transform-refused", messages: int64(n.NotFinite + n.NotNormalized + n.BadFrame),
		text: "transforms with numbers that are not finite, or without two frames, are in no chain"},
		loss{code: "transform-conflicting", messages: int64(n.Conflicting),
			text: "transforms contradict another of their frame and time; the first one counts"})
	if c.failed > 0 {
		list = append(list, loss{code: "chain-gap", messages: c.failed,
			text: fmt.Sprintf("there is no way from %s to %s; at the first of these times: %v", c.source, c.target, c.first)})
	}
	return list
}

// run finds the poses.
func (c *chain) run() {
	c.done = true
	var times []int64
	for _, frame := range []string{c.source, c.target} {
		for n := 0; frame != "" && n < 1000; n++ {
			times = c.buffer.AppendTimes(times, frame)
			frame = c.parents[frame]
		}
	}
	slices.Sort(times)
	if times = slices.Compact(times); len(times) == 0 {
		times = []int64{0} // all static: one pose
	}
	for _, time := range times {
		p, err := c.buffer.Lookup(c.target, c.source, time)
		if err != nil {
			if c.failed++; c.first == nil {
				c.first = err
			}
			continue
		}
		p.Time = time
		c.poses = append(c.poses, p)
	}
}

// finish writes the track.
func (c *chain) finish(w *writer) (x IndexFile, err error) {
	if !c.done {
		c.run()
	}
	rule, line := "tum", track.AppendTUM
	if w.set.tracks == "kitti" {
		rule, line = "kitti", track.AppendKITTI
	}
	x = IndexFile{Path: w.names.take(c.target+"_"+c.source, "."+rule) + "." + rule, Kind: "track",
		Rows: int64(len(c.poses))}
	f, err := w.place.create(x.Path)
	if err != nil {
		return x, err
	}
	var text []byte
	for _, p := range c.poses {
		if text = line(text, p); len(text) > 64<<10 {
			if _, err := f.Write(text); err != nil {
				return x, err
			}
			text = text[:0]
		}
	}
	if _, err = f.Write(text); err != nil {
		return x, err
	}
	return x, f.Close()
}
