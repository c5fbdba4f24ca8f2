package export

import (
	"io"
	"slices"

	"github.com/bagconv/bagconv/internal/export/track"
	"github.com/bagconv/bagconv/internal/export/view"
)

// A trackFile is a product: a file with the poses, or the positions on Earth, of a topic.
type trackFile struct {
	*viewer
	file   io.WriteCloser
	name   string // in the output
	rows   int64
	buffer []byte
	read   func(x *view.Values, log int64) any // a track.Pose or track.Fix
	write  trackWriter
}

// A trackWriter makes the text of a track.
type trackWriter interface {
	add(dst []byte, item any) []byte
	end(dst []byte) []byte
	losses() []loss
}

// poseTypes are the types with poses, and where their position and orientation are.
var poseTypes = map[string][2]string{
	"nav_msgs/Odometry":                       {"pose.pose.position", "pose.pose.orientation"},
	"geometry_msgs/PoseStamped":               {"pose.position", "pose.orientation"},
	"geometry_msgs/PoseWithCovarianceStamped": {"pose.pose.position", "pose.pose.orientation"},
	"geometry_msgs/TransformStamped":          {"transform.translation", "transform.rotation"},
}

// track returns the track of a topic, nil if it has no track or no track is asked for.
func (w *writer) track(t *topic, v *viewer) (product, error) {
	v.Has("header.stamp")
	x := &trackFile{viewer: v}
	rule := w.set.tracks
	switch places, pose := poseTypes[v.Name]; {
	case pose && (rule == "tum" || rule == "kitti"):
		paths := []string{places[0] + ".x", places[0] + ".y", places[0] + ".z", places[1] + ".x", places[1] + ".y",
			places[1] + ".z", places[1] + ".w"}
		if !v.Has(paths...) {
			return nil, nil
		}
		x.read = func(x *view.Values, log int64) any { return poseOf(x, paths, log) }
		x.write = newPoses(rule)
	case v.Name == "sensor_msgs/NavSatFix" && (rule == "geojson" || rule == "gpx") && v.Has("latitude", "longitude",
		"altitude", "status.status"):
		x.read = func(x *view.Values, log int64) any { return fix(x, log) }
		x.write = newFixes(rule)
	default:
		return nil, nil
	}
	x.name = w.names.take(t.Name, "."+rule) + "." + rule
	var err error
	if x.file, err = w.place.create(x.name); err != nil {
		return nil, err
	}
	if b, ok := x.write.(*fixes); ok {
		x.buffer = b.begin(x.buffer, track.Options{Name: t.Name})
	}
	return x, nil
}

func poseOf(x *view.Values, paths []string, log int64) track.Pose {
	p := track.Pose{Time: x.StampOr(log)}
	for i, to := range []*float64{&p.X, &p.Y, &p.Z, &p.QX, &p.QY, &p.QZ, &p.QW} {
		*to = x.FloatAt(paths[i])
	}
	return p
}

func fix(x *view.Values, log int64) track.Fix {
	return track.Fix{
		Time: x.StampOr(log), Lat: x.FloatAt("latitude"), Lon: x.FloatAt("longitude"), Alt: x.FloatAt("altitude"),
		Status: int8(x.FloatAt("status.status")),
	}
}

func (x *trackFile) encode(b *block) (*made, error) {
	m := &made{}
	x.each(b, func(row *row, data []byte, err error) {
		if err != nil {
			return // the table has counted it
		}
		values := x.Open(data)
		defer values.Close()
		if item := x.read(values, row.log); values.All() == nil {
			m.parts = append(m.parts, item)
		}
	})
	return m, nil
}

func (x *trackFile) append(part any) error {
	x.rows++
	x.buffer = x.write.add(x.buffer, part)
	if len(x.buffer) < 64<<10 {
		return nil
	}
	return x.flush()
}

func (x *trackFile) flush() error {
	_, err := x.file.Write(x.buffer)
	x.buffer = x.buffer[:0]
	return err
}

func (x *trackFile) losses() []loss { return x.write.losses() }

func (x *trackFile) finish() ([]IndexFile, error) {
	x.buffer = x.write.end(x.buffer)
	if err := x.flush(); err != nil {
		return nil, err
	}
	return []IndexFile{{Path: x.name, Kind: "track", Rows: x.rows}}, x.file.Close()
}

// poses writes poses as TUM or KITTI.
type poses struct {
	line   func(dst []byte, p track.Pose) []byte
	counts track.PoseCounts
}

func newPoses(rule string) *poses {
	if rule == "kitti" {
		return &poses{line: track.AppendKITTI}
	}
	return &poses{line: track.AppendTUM}
}

func (p *poses) add(dst []byte, item any) []byte {
	pose := item.(track.Pose)
	p.counts.Add(&pose)
	return p.line(dst, pose)
}

func (p *poses) end(dst []byte) []byte { return dst }

// fixes writes positions on Earth as GeoJSON or GPX.
type fixes struct {
	begin  func(dst []byte, o track.Options) []byte
	one    func(dst []byte, f track.Fix) []byte
	finish func(dst []byte) []byte
	counts func() track.FixCounts
}

func newFixes(rule string) *fixes {
	if rule == "gpx" {
		g := &track.GPX{}
		return &fixes{g.Begin, g.Append, g.End, g.Counts}
	}
	g := &track.GeoJSON{}
	return &fixes{g.Begin, g.Append, g.End, g.Counts}
}

func (f *fixes) add(dst []byte, item any) []byte { return f.one(dst, item.(track.Fix)) }

func (f *fixes) end(dst []byte) []byte { return f.finish(dst) }

func (f *fixes) losses() []loss {
	c := f.counts()
	return some(loss{code: "fix-without-position", messages: int64(c.NoFix + c.NotFinite + c.Outside),
		text: "fixes without a position on Earth are in no track"},
		loss{code: "fix-without-altitude", messages: int64(c.NoAltitude), text: "the altitude is not known"})
}

// some returns the losses that count something.
func some(list ...loss) []loss {
	return slices.DeleteFunc(list, func(l loss) bool { return l.messages == 0 })
}

func (p *poses) losses() []loss {
	c := &p.counts
	return some(loss{code: "pose-not-finite", messages: int64(c.NotFinite),
		text: "poses have numbers that are not finite"},
		loss{code: "pose-quaternion", messages: int64(c.Zero + c.NotNormalized),
			text: "poses have quaternions that are zero or not of length 1; they are written as they are"},
		loss{code: "pose-order", messages: int64(c.Unordered), text: "poses are earlier than the one before"})
}
