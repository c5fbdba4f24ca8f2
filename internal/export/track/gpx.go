package track

import (
	"bytes"
	"encoding/xml"
	"strconv"
)

// A GPX writes fixes as a GPX 1.1 file with one track: Begin, then Append for each fix, then End. Each appends text to
// dst. The altitudes of ROS are above the ellipsoid, and GPX readers often take them for heights above the sea; they
// are written as they are. Longitude 180 is written as -180, because the schema ends before it.
type GPX struct {
	segmenter
	written bool // a segment
}

// Counts returns what was written and left out until now.
func (g *GPX) Counts() FixCounts { return g.counts }

// Begin starts a new file.
func (g *GPX) Begin(dst []byte, o Options) []byte {
	*g = GPX{segmenter: segmenter{options: o}}
	dst = append(dst, xml.Header+`<gpx xmlns="http://www.topografix.com/GPX/1/1" version="1.1" creator="bagconv">`...)
	dst = append(dst, "\n<trk>\n"...)
	if o.Name != "" {
		b := bytes.NewBuffer(append(dst, "<name>"...))
		_ = xml.EscapeText(b, []byte(o.Name)) // a buffer takes all
		dst = append(b.Bytes(), "</name>\n"...)
	}
	return dst
}

// Append writes a fix:
//
//	<trkpt lat="48.1" lon="11.5"><ele>519.5</ele><time>2023-11-14T22:13:20.123456789Z</time><fix>3d</fix></trkpt>
func (g *GPX) Append(dst []byte, f Fix) []byte {
	if !g.usable(&f) {
		return dst
	}
	if !g.continues(&f) {
		if g.written {
			dst = append(dst, "</trkseg>\n"...)
		}
		dst = append(dst, "<trkseg>\n"...)
		g.written = true
	}
	if f.Lon == 180 {
		f.Lon = -180
	}
	dst = strconv.AppendFloat(append(dst, `<trkpt lat="`...), f.Lat, 'f', -1, 64) // a decimal of XML has no exponent
	dst = strconv.AppendFloat(append(dst, `" lon="`...), f.Lon, 'f', -1, 64)
	dst = append(dst, `">`...)
	fix := "2d"
	if isFinite(f.Alt) {
		fix = "3d"
		dst = strconv.AppendFloat(append(dst, "<ele>"...), f.Alt, 'f', -1, 64)
		dst = append(dst, "</ele>"...)
	}
	dst = append(appendUTC(append(dst, "<time>"...), f.Time), "</time>"...)
	if f.Status > StatusFix {
		fix = "dgps"
	}
	if f.Status != StatusUnknown {
		dst = append(append(append(dst, "<fix>"...), fix...), "</fix>"...)
	}
	return append(dst, "</trkpt>\n"...)
}

// End ends the file.
func (g *GPX) End(dst []byte) []byte {
	if g.written {
		dst = append(dst, "</trkseg>\n"...)
	}
	return append(dst, "</trk>\n</gpx>\n"...)
}
