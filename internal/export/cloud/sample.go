package cloud

import (
	"math"
	"slices"
)

// A Sample is some points of a cloud.
type Sample struct {
	XYZ   []float64 // x, y, z of each point, all finite
	Shade []float64 // a value of each point: of the field By, else its z; it may not be finite
	By    string    // "intensity" or another name for that, or "z"
	All   int       // points of the cloud
}

// shades are names of fields that say how bright a point is, the best first.
var shades = []string{"intensity", "intensities", "reflectivity", "i"}

// Sample returns some points of the cloud, at most a number, from all over it. Points without a position are left out.
// The error is ErrUnsupported for a cloud without x, y and z as single floats.
func (c *Cloud) Sample(most int) (Sample, error) {
	var notes Notes
	g, err := c.grid(&notes)
	if err != nil {
		return Sample{}, err
	}
	l, err := compile(c, pcd, &notes)
	if err != nil {
		return Sample{}, err
	}
	if l.position == nil {
		return Sample{}, unsupported("it has no x, y and z that are floats")
	}
	s := Sample{By: "z", All: g.points()}
	if s.All == 0 || most <= 0 {
		return s, nil
	}
	shade := &l.columns[l.position[2]]
	for _, name := range shades {
		if i := slices.IndexFunc(l.columns, func(c column) bool { return c.name == name }); i >= 0 {
			shade, s.By = &l.columns[i], name
			break
		}
	}
	finite := 0
	each := func(visit func(point []byte)) {
		for row := range g.height {
			for x := range g.width {
				from := row*g.stride + x*g.step
				if p := g.data[from : from+g.step]; l.finite(p) {
					visit(p)
				}
			}
		}
	}
	each(func([]byte) { finite++ })
	every, n := (finite+most-1)/most, 0
	each(func(point []byte) {
		if n++; every == 0 || (n-1)%every != 0 {
			return
		}
		for _, i := range l.position {
			s.XYZ = append(s.XYZ, value(point, &l.columns[i], l.big))
		}
		s.Shade = append(s.Shade, value(point, shade, l.big))
	})
	return s, nil
}

// value returns the first number of a column.
func value(point []byte, c *column, big bool) float64 {
	bits := load(point[c.offset:], c.size, big)
	switch c.datatype {
	case Float32:
		return float64(math.Float32frombits(uint32(bits)))
	case Float64:
		return math.Float64frombits(bits)
	case Int8, Int16, Int32, Int64:
		shift := 64 - 8*c.size
		return float64(int64(bits) << shift >> shift)
	}
	return float64(bits)
}
