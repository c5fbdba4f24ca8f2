package track

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestGPX: a whole file, to the character.
func TestGPX(t *testing.T) {
	nan := math.NaN()
	var g GPX
	dst := g.Begin([]byte("before\n"), Options{Name: "/a<&\x01\xff", MaxGap: 10 * second})
	for _, f := range []Fix{
		{0, 91, 0, 0, StatusFix},
		{-1, 48.125, 11.5, 519.5, StatusFix},
		{1700000000123456789, 48.125, 180, nan, StatusSBAS}, // after a gap
		{1700000000123456790, 1e-20, -180, 1e21, StatusUnknown},
		{1700000000123456790, 0, 0, 0, StatusNoFix},
		{1700000000123456790, 0, nan, 0, StatusFix},
		{1700000010123456790, -90, 0, math.Inf(1), StatusFix},
		{1700000010123456790, 0, 181, 0, StatusGBAS},
		{1700000010123456790, 0, 1, 0, -3},
	} {
		dst = g.Append(dst, f)
	}
	const wanted = `before
<?xml version="1.0" encoding="UTF-8"?>
<gpx xmlns="http://www.topografix.com/GPX/1/1" version="1.1" creator="bagconv">
<trk>
<name>/a&lt;&amp;` + "\uFFFD\uFFFD" + `</name>
<trkseg>
<trkpt lat="48.125" lon="11.5"><ele>519.5</ele><time>1969-12-31T23:59:59.999999999Z</time><fix>3d</fix></trkpt>
</trkseg>
<trkseg>
<trkpt lat="48.125" lon="-180"><time>2023-11-14T22:13:20.123456789Z</time><fix>dgps</fix></trkpt>
<trkpt lat="0.00000000000000000001" lon="-180"><ele>1000000000000000000000</ele><time>2023-11-14T22:13:20.123456790Z</time></trkpt>
</trkseg>
<trkseg>
<trkpt lat="-90" lon="0"><time>2023-11-14T22:13:30.123456790Z</time><fix>2d</fix></trkpt>
</trkseg>
</trk>
</gpx>
`
	if got := string(g.End(dst)); got != wanted {
		t.Errorf("%s", got)
	}
	counts := FixCounts{Written: 4, Unknown: 1, NoFix: 2, NotFinite: 1, Outside: 2, NoAltitude: 2, Segments: 3}
	if g.Counts() != counts {
		t.Errorf("%+v", g.Counts())
	}
	if got := string(g.End(g.Begin(nil, Options{}))); !strings.HasSuffix(got, "<trk>\n</trk>\n</gpx>\n") {
		t.Errorf("%s", got)
	}
}

// TestGeoJSON: a whole file, to the character.
func TestGeoJSON(t *testing.T) {
	var g GeoJSON
	for range 2 { // it can be used again
		g.Append(g.Append(g.Begin(nil, Options{}), Fix{}), Fix{}) // and a file may be given up
		dst := g.Begin([]byte("before\n"), Options{Name: "/a\"\xff"})
		for _, f := range []Fix{
			{0, 48.125, 11.5, 519.5, StatusFix},
			{1, 48.125, 11.5, 1e-9, StatusFix},
			{2, 48.125, 11.5, math.NaN(), StatusFix}, // altitudes end
			{3, 1, 170, 0, StatusNoFix},
			{4, 1, 170, 0, StatusFix},
			{5, 1, 175, 0, StatusFix},
			{6, 2, -175, 0, StatusFix}, // over longitude 180
			{7, 2, -174, 0, StatusFix},
		} {
			dst = g.Append(dst, f)
		}
		const wanted = `before
{"type":"FeatureCollection","features":[
{"type":"Feature","geometry":{"type":"LineString","coordinates":[
[11.5,48.125,519.5],
[11.5,48.125,1e-09]]},"properties":{"name":"/a\"\ufffd","coordTimes":["1970-01-01T00:00:00.000000000Z",
"1970-01-01T00:00:00.000000001Z"]}},
{"type":"Feature","geometry":{"type":"Point","coordinates":[11.5,48.125]},"properties":{"name":"/a\"\ufffd","coordTimes":["1970-01-01T00:00:00.000000002Z"]}},
{"type":"Feature","geometry":{"type":"LineString","coordinates":[
[170,1,0],
[175,1,0]]},"properties":{"name":"/a\"\ufffd","coordTimes":["1970-01-01T00:00:00.000000004Z",
"1970-01-01T00:00:00.000000005Z"]}},
{"type":"Feature","geometry":{"type":"LineString","coordinates":[
[-175,2,0],
[-174,2,0]]},"properties":{"name":"/a\"\ufffd","coordTimes":["1970-01-01T00:00:00.000000006Z",
"1970-01-01T00:00:00.000000007Z"]}}
]}
`
		if got := string(g.End(dst)); got != wanted {
			t.Errorf("%s", got)
		}
		if g.Counts() != (FixCounts{Written: 7, NoFix: 1, NoAltitude: 1, Segments: 4}) {
			t.Errorf("%+v", g.Counts())
		}
	}
	if got := string(g.End(g.Begin(nil, Options{}))); got != `{"type":"FeatureCollection","features":[`+"\n]}\n" {
		t.Errorf("%s", got)
	}
}

// TestMaxPositions: a long line is several features, each beginning where the one before ends.
func TestMaxPositions(t *testing.T) {
	var g GeoJSON
	dst := g.Begin(nil, Options{})
	const n = 2*MaxPositions + 5
	for i := range int64(n) {
		dst = g.Append(dst, Fix{i, float64(i%90) + 0.5, 0, 0, 0})
	}
	dst = g.End(dst)
	var lengths []int
	for feature := range strings.SplitSeq(string(dst), `"coordinates":`) {
		lengths = append(lengths, strings.Count(feature, "\n["))
	}
	if wanted := []int{0, MaxPositions, MaxPositions, 7}; !slices.Equal(lengths, wanted) {
		t.Errorf("%v", lengths)
	}
	if !json.Valid(dst) || strings.Count(string(dst), "\"1970") != n+2 || g.Counts().Segments != 1 {
		t.Errorf("%d times, %+v", strings.Count(string(dst), "\"1970"), g.Counts())
	}
}

// randomFixes returns fixes with gaps and everything that is left out.
func randomFixes(r *rand.Rand, n int) (fixes []Fix) {
	now := 1700000000*second + 1
	for range n {
		now += int64(r.IntN(int(second)))
		f := Fix{now, r.NormFloat64() * 5, r.NormFloat64() * 20, r.NormFloat64() * 1000, int8(r.IntN(3))}
		switch r.IntN(30) {
		case 0:
			f.Status = int8(-r.IntN(4))
		case 1:
			f.Lat = []float64{math.NaN(), math.Inf(1), 90.1, 90}[r.IntN(4)]
		case 2:
			f.Lon = []float64{math.NaN(), math.Inf(-1), -180.1, 180, -180, 1e-300}[r.IntN(6)]
		case 3, 4:
			f.Alt = []float64{math.NaN(), math.Inf(1), 1e300, -0.1}[r.IntN(4)]
		case 5:
			now += 20 * second
		case 6:
			now -= 2 * second
		}
		fixes = append(fixes, f)
	}
	return fixes
}

// segmentsOf cuts fixes into segments, by rules that are written down a second time.
func segmentsOf(fixes []Fix, gap int64, geo bool) (segments [][][]any) {
	segments = [][][]any{}
	var before *Fix
	for i := range fixes {
		f := &fixes[i]
		bad := math.IsNaN(f.Lat+f.Lon) || f.Lat > 90 || f.Lat < -90 || f.Lon > 180 || f.Lon < -180 || f.Status == -1 ||
			f.Status < -2
		if bad {
			before = nil
			continue
		}
		known := !math.IsNaN(f.Alt) && !math.IsInf(f.Alt, 0)
		cut := before == nil || f.Time-before.Time > gap
		if !cut && geo {
			cut = math.Abs(f.Lon-before.Lon) > 180 || known == (math.IsNaN(before.Alt) || math.IsInf(before.Alt, 0))
		}
		if cut {
			segments = append(segments, nil)
		}
		var altitude, kind any
		if kind = "2d"; known {
			altitude, kind = f.Alt, "3d"
		}
		if f.Status > 0 {
			kind = "dgps"
		} else if f.Status == -2 {
			kind = nil
		}
		lon := f.Lon
		if lon == 180 && !geo {
			lon = -180
		}
		end := len(segments) - 1
		segments[end] = append(segments[end], []any{f.Time, f.Lat, lon, altitude, kind})
		before = f
	}
	return segments
}

// TestFixReferees: an XML parser, gpxpy and geojson read the same fixes, in files that keep the rules of both formats.
func TestFixReferees(t *testing.T) {
	python := python(t)
	fixes := randomFixes(rand.New(rand.NewPCG(1, 1)), 5000)
	o := Options{Name: `/gps <"&'> ä`, MaxGap: 10 * second}
	var x GPX
	var j GeoJSON
	gpx, geo := x.Begin(nil, o), j.Begin(nil, o)
	for _, f := range fixes {
		gpx, geo = x.Append(gpx, f), j.Append(geo, f)
	}
	gpxSegments, geoSegments := segmentsOf(fixes, o.MaxGap, false), segmentsOf(fixes, o.MaxGap, true)
	if x.Counts().Segments != uint64(len(gpxSegments)) || j.Counts().Segments != uint64(len(geoSegments)) {
		t.Errorf("%d and %d segments, not %d and %d", x.Counts().Segments, j.Counts().Segments, len(gpxSegments),
			len(geoSegments))
	}
	paths := files(t, toJSON(t, gpxSegments), x.End(gpx), toJSON(t, geoSegments), j.End(geo))
	out, err := exec.Command(python, append([]string{"testdata/referee/fixes.py", o.Name}, paths...)...).CombinedOutput()
	wanted := fmt.Sprint("compared ", x.Counts().Written, " ", j.Counts().Written)
	if err != nil || strings.TrimSpace(string(out)) != wanted {
		t.Errorf("%v\n%.3000s, not %s", err, out, wanted)
	}
}

// FuzzFixes: whatever the fixes and the name, both files can be parsed, and no fix is lost uncounted.
func FuzzFixes(f *testing.F) {
	f.Add("name", uint64(1), int64(0), 48.0, 11.0, 5.0, int8(0))
	f.Add("\x00<\xff\U0010ffff\ufffe", uint64(9), int64(math.MinInt64), math.NaN(), math.Inf(1), -1e308, int8(-128))
	f.Fuzz(func(t *testing.T, name string, seed uint64, time int64, lat, lon, alt float64, status int8) {
		fixes := append(randomFixes(rand.New(rand.NewPCG(seed, 1)), int(seed%20)), Fix{time, lat, lon, alt, status})
		fixes = append(fixes, randomFixes(rand.New(rand.NewPCG(seed, 2)), int(seed%3))...)
		o := Options{Name: name, MaxGap: time}
		var x GPX
		var j GeoJSON
		gpx, geo := x.Begin(nil, o), j.Begin(nil, o)
		for _, f := range fixes {
			gpx, geo = x.Append(gpx, f), j.Append(geo, f)
		}
		gpx, geo = x.End(gpx), j.End(geo)
		if err := xml.Unmarshal(gpx, new(struct{})); err != nil {
			t.Errorf("%v in %q", err, gpx)
		}
		if !json.Valid(geo) {
			t.Errorf("%q", geo)
		}
		c := x.Counts()
		if sum := c.Written + c.NoFix + c.NotFinite + c.Outside; sum != uint64(len(fixes)) ||
			j.Counts().Written != c.Written {
			t.Errorf("%+v of %d", c, len(fixes))
		}
	})
}
