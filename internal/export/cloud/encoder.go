package cloud

import (
	"math"
	"slices"
)

// Options says how clouds are written.
type Options struct {
	// Compressed writes PCD as binary_compressed: LZF of all values of the first field, then of the second, and so
	// on. PLY has no compression and ignores it.
	Compressed bool
	// DropNaN leaves out the points whose x, y or z is not finite. The result has one row.
	DropNaN bool
}

// An Encoder writes clouds of one topic. Its zero value is ready. The layout of the last cloud is kept, and serves
// all that have the same fields; so do the buffers.
type Encoder struct {
	layout *layout
	points []byte // the points that DropNaN keeps
	values []byte // columns before their compression
	table  []uint32
	notes  Notes
}

// Notes returns what was changed, left out or doubted in all clouds until now. It is valid until the next cloud.
func (e *Encoder) Notes() *Notes { return &e.notes }

// AppendPCD appends the cloud to dst as a PCD file. An Encoder does it faster for several, and has [Notes].
func (c *Cloud) AppendPCD(dst []byte, o Options) ([]byte, error) {
	var e Encoder
	return e.AppendPCD(dst, c, o)
}

// AppendPLY appends the cloud to dst as a PLY file. An Encoder does it faster for several, and has [Notes].
func (c *Cloud) AppendPLY(dst []byte, o Options) ([]byte, error) {
	var e Encoder
	return e.AppendPLY(dst, c, o)
}

// prepare returns the layout of a cloud and its points.
func (e *Encoder) prepare(c *Cloud, kind fileKind, o Options) (*layout, grid, error) {
	g, err := c.grid(&e.notes)
	if err != nil {
		return nil, g, err
	}
	if e.layout == nil || !e.layout.is(c, kind) {
		l, err := compile(c, kind, &e.notes)
		if err != nil {
			return nil, g, err
		}
		if c.empty() {
			return l, g, nil // not kept: its fields were not compared with point_step
		}
		e.layout = l
	}
	if o.DropNaN {
		g = e.dropNaN(g)
	}
	if uint64(g.points())*uint64(e.layout.size) > math.MaxInt-maxHeader {
		return nil, g, unsupported("%d points of %d bytes are too many for this machine", g.points(), e.layout.size)
	}
	return e.layout, g, nil
}

// maxHeader is more than a header can have: names, types and counts.
const maxHeader = maxNames * (maxName + 64)

// dropNaN returns the points of a grid that have a position, in one row.
func (e *Encoder) dropNaN(g grid) grid {
	l := e.layout
	if l.position == nil {
		e.notes.Unplaced++
		return g
	}
	kept := e.points[:0]
	for row := range g.height {
		line := g.data[row*g.stride:]
		first := 0 // of the points that are kept and not yet copied
		for x := range g.width {
			if !l.finite(line[x*g.step : (x+1)*g.step]) {
				kept = append(kept, line[first*g.step:x*g.step]...)
				first = x + 1
			}
		}
		kept = append(kept, line[first*g.step:g.width*g.step]...)
	}
	e.points = kept
	n := len(kept) / g.step
	e.notes.Dropped += uint64(g.points() - n)
	return grid{kept, n, 1, g.step, len(kept)}
}

// grow returns b with n more bytes, whose values do not matter.
func grow(b []byte, n int) []byte { return slices.Grow(b, n)[:len(b)+n] }
