package track

import (
	"encoding/json"
	"math"
	"strconv"
)

// A GeoJSON writes fixes as a FeatureCollection of RFC 7946: Begin, then Append for each fix, then End. Each appends
// text to dst. Each segment is a feature, a LineString of [longitude, latitude] or [longitude, latitude, altitude],
// or a Point if it has one fix only. The property coordTimes has the time of each position:
//
//	{"type":"FeatureCollection","features":[
//	{"type":"Feature","geometry":{"type":"LineString","coordinates":[
//	[11.5,48.1,519.5],
//	[11.6,48.1,519.5]]},"properties":{"name":"/fix","coordTimes":["2023-11-14T22:13:20.123456789Z",
//	"2023-11-14T22:13:21.123456789Z"]}}
//	]}
//
// The times of a segment are in memory until it ends, 8 bytes a fix. After MaxPositions a new feature begins with the
// position and the time of the last one, so that the line has no hole.
type GeoJSON struct {
	segmenter
	name     []byte // as JSON
	times    []int64
	features int
}

// MaxPositions is how many positions a feature of GeoJSON gets.
const MaxPositions = 1 << 20

// Counts returns what was written and left out until now.
func (g *GeoJSON) Counts() FixCounts { return g.counts }

// Begin starts a new file.
func (g *GeoJSON) Begin(dst []byte, o Options) []byte {
	*g = GeoJSON{segmenter: segmenter{options: o}, times: g.times[:0]}
	if o.Name != "" {
		g.name, _ = json.Marshal(o.Name) // a string always can be
	}
	return append(dst, `{"type":"FeatureCollection","features":[`...)
}

// Append writes a fix.
func (g *GeoJSON) Append(dst []byte, f Fix) []byte {
	if !g.usable(&f) {
		return g.endFeature(dst, &g.last)
	}
	before := g.last
	cut := math.Abs(f.Lon-before.Lon) > 180 || isFinite(f.Alt) != isFinite(before.Alt)
	g.open = g.open && !cut
	if !g.continues(&f) {
		dst = g.endFeature(dst, &before)
	} else if len(g.times) == MaxPositions {
		dst = g.endFeature(dst, &before)
		g.times = append(g.times, before.Time)
	}
	if len(g.times) == 1 { // now it is a line
		dst = appendPosition(g.beginFeature(dst, "LineString"), &before)
	}
	g.times = append(g.times, f.Time)
	if len(g.times) == 1 {
		return dst // perhaps it is a point
	}
	return appendPosition(append(dst, ',', '\n'), &f)
}

// End ends the file.
func (g *GeoJSON) End(dst []byte) []byte { return append(g.endFeature(dst, &g.last), "\n]}\n"...) }

func (g *GeoJSON) beginFeature(dst []byte, kind string) []byte {
	if g.features++; g.features > 1 {
		dst = append(dst, ',')
	}
	dst = append(append(dst, "\n"+`{"type":"Feature","geometry":{"type":"`...), kind...)
	dst = append(dst, `","coordinates":`...)
	if kind == "LineString" {
		dst = append(dst, '[', '\n')
	}
	return dst
}

// endFeature ends the feature that is being written, if there is one. last is its last fix.
func (g *GeoJSON) endFeature(dst []byte, last *Fix) []byte {
	switch len(g.times) {
	case 0:
		return dst
	case 1:
		dst = appendPosition(g.beginFeature(dst, "Point"), last)
	default:
		dst = append(dst, ']')
	}
	dst = append(dst, `},"properties":{`...)
	if g.name != nil {
		dst = append(append(append(dst, `"name":`...), g.name...), ',')
	}
	dst = append(dst, `"coordTimes":[`...)
	for i, t := range g.times {
		if i > 0 {
			dst = append(dst, ',', '\n')
		}
		dst = append(appendUTC(append(dst, '"'), t), '"')
	}
	g.times = g.times[:0]
	return append(dst, `]}}`...)
}

// appendPosition appends the coordinates of a fix.
func appendPosition(dst []byte, f *Fix) []byte {
	dst = strconv.AppendFloat(append(dst, '['), f.Lon, 'g', -1, 64)
	dst = strconv.AppendFloat(append(dst, ','), f.Lat, 'g', -1, 64)
	if isFinite(f.Alt) {
		dst = strconv.AppendFloat(append(dst, ','), f.Alt, 'g', -1, 64)
	}
	return append(dst, ']')
}
