package report

import (
	"cmp"
	"math"
	"slices"

	"github.com/bagconv/bagconv/internal/export/track"
)

// A trail is a Track in the making: every message while they are few, then every second, every fourth and so on, and
// the last.
type trail struct {
	stream *stream
	kind   string
	frame  string
	limit  int // points

	spots   []spot
	stride  int64
	n       int64
	latest  spot
	placed  bool // there is a position
	origin  [2]float64
	metres  [2]float64 // of a degree to the east and to the north, of fixes
	length  float64
	dropped int64 // messages without a position
}

// A spot is a position in metres; NaN without one.
type spot struct {
	t    int64
	x, y float64
}

// add takes the numbers of a message: x, y, and the status of a fix.
func (x *trail) add(t int64, values []float64) {
	s := spot{t, values[0], values[1]}
	if x.kind == kindFix {
		s = x.fix(s, values[2:])
	}
	if !(math.Abs(s.x) <= maxCoordinate) || !(math.Abs(s.y) <= maxCoordinate) { // NaN is neither
		x.dropped++
		s.x, s.y = math.NaN(), math.NaN()
		if x.n > 0 && math.IsNaN(x.latest.x) {
			return // the gap goes on
		}
	} else if x.placed && !math.IsNaN(x.latest.x) {
		x.length += math.Hypot(s.x-x.latest.x, s.y-x.latest.y)
	}
	x.placed = x.placed || !math.IsNaN(s.x)
	x.latest = s
	if x.stride = max(x.stride, 1); x.n%x.stride == 0 {
		if len(x.spots) >= x.limit {
			kept := x.spots[:0]
			for i := 0; i < len(x.spots); i += 2 {
				kept = append(kept, x.spots[i])
			}
			x.spots, x.stride = kept, 2*x.stride
		}
		if x.n%x.stride == 0 {
			x.spots = append(x.spots, s)
		}
	}
	x.n++
}

// fix turns degrees into metres from the first fix.
func (x *trail) fix(s spot, status []float64) spot {
	none := spot{s.t, math.NaN(), math.NaN()}
	if !(math.Abs(s.x) <= 180) || !(math.Abs(s.y) <= 90) ||
		len(status) > 0 && status[0] < track.StatusFix && status[0] != track.StatusUnknown {
		return none
	}
	if !x.placed {
		x.origin, x.metres = [2]float64{s.x, s.y}, degree(s.y)
	}
	east := s.x - x.origin[0]
	switch { // across longitude 180
	case east > 180:
		east -= 360
	case east < -180:
		east += 360
	}
	return spot{s.t, east * x.metres[0], (s.y - x.origin[1]) * x.metres[1]}
}

// degree returns how many metres a degree of longitude and one of latitude have at a latitude of WGS 84.
func degree(latitude float64) [2]float64 {
	const a, f = 6378137.0, 1 / 298.257223563
	const e2 = f * (2 - f)
	sin, cos := math.Sincos(latitude * math.Pi / 180)
	w := math.Sqrt(1 - e2*sin*sin)
	return [2]float64{a / w * cos * math.Pi / 180, a * (1 - e2) / (w * w * w) * math.Pi / 180}
}

// track returns the track, false without a position.
func (g *gatherer) track(x *trail) (t Track, ok bool) {
	if !x.placed {
		return t, false
	}
	list := x.spots
	if last := list[len(list)-1]; last.t != x.latest.t || last.x != x.latest.x && !math.IsNaN(x.latest.x) {
		list = append(list, x.latest)
	}
	slices.SortStableFunc(list, func(a, b spot) int { return cmp.Compare(a.t, b.t) })
	t = Track{Topic: g.text(x.stream.topic.Name), Kind: x.kind, Frame: g.text(x.frame), Length: round(x.length, 1e3),
		Times: make([]float64, 0, len(list)), X: Numbers{}, Y: Numbers{}}
	if x.kind == kindFix {
		t.Longitude, t.Latitude = x.origin[0], x.origin[1]
	}
	for _, s := range list {
		t.Times = append(t.Times, g.seconds(s.t))
		t.X, t.Y = append(t.X, round(s.x, 1e3)), append(t.Y, round(s.y, 1e3))
	}
	return t, true
}

// round rounds to a part of 1.
func round(v, part float64) float64 {
	if math.Abs(v) > 1e12 {
		return v
	}
	return math.Round(v*part) / part
}
