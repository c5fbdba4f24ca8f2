package catalogue

import (
	"context"
	"math"
	"strings"

	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/export/track"
	"github.com/bagconv/bagconv/internal/export/view"
	"github.com/bagconv/bagconv/storage"
)

// A Content is what only the messages of a recording have.
type Content struct {
	Hashes map[Key]string // content hashes, as docs/content-hash.md describes them
	Boxes  map[Key]*Box
}

// A Key is what the publishers of a topic have in common.
type Key struct{ Name, Type, Encoding string }

// A Box is the range of the positions of a topic.
type Box struct {
	Fixes          int64 // that are in it
	LeftOut        int64 // without a position, or that do not fit their definition
	LatMin, LatMax float64
	LonMin, LonMax float64
}

// add adds a position.
func (b *Box) add(f track.Fix) {
	switch {
	case f.Status < track.StatusFix && f.Status != track.StatusUnknown,
		!(math.Abs(f.Lat) <= 90), !(math.Abs(f.Lon) <= 180): // NaN is neither
		b.LeftOut++
		return
	case b.Fixes == 0:
		b.LatMin, b.LatMax, b.LonMin, b.LonMax = f.Lat, f.Lat, f.Lon, f.Lon
	}
	b.Fixes++
	b.LatMin, b.LatMax = min(b.LatMin, f.Lat), max(b.LatMax, f.Lat)
	b.LonMin, b.LonMax = min(b.LonMin, f.Lon), max(b.LonMax, f.Lon)
}

// fixView returns what reads the positions of a topic; nil if it has no positions by satellites.
func fixView(t *storage.Topic) *view.View {
	if (t.Encoding == "ros1" || t.Encoding == "cdr") && !strings.HasSuffix(t.Type, "/NavSatFix") {
		return nil
	}
	r, err := view.ReaderOf(t)
	if err != nil {
		return nil
	}
	v := view.Of(t, r)
	if v == nil || v.Name != "sensor_msgs/NavSatFix" || !v.Has("latitude", "longitude", "status.status") {
		return nil
	}
	return v
}

// HasFixes reports whether a topic of a recording has positions by satellites.
func HasFixes(info *storage.Info) bool {
	for i := range info.Topics {
		if fixView(&info.Topics[i].Topic) != nil {
			return true
		}
	}
	return false
}

// Boxes reads the positions of a recording, and nothing else if it has an index.
func Boxes(ctx context.Context, ref recording.Ref, threads int) (boxes map[Key]*Box, err error) {
	var views []*view.View
	var keys []Key
	plan := func(info *storage.Info, _ []bool) ([]recording.Topic, error) {
		boxes, views, keys = map[Key]*Box{}, nil, nil
		topics := make([]recording.Topic, len(info.Topics))
		for i := range info.Topics {
			t := &info.Topics[i]
			v, k := fixView(&t.Topic), Key{t.Name, t.Type, t.Encoding}
			views, keys = append(views, v), append(keys, k)
			if topics[i].Skip = v == nil; v != nil {
				boxes[k] = &Box{}
			}
		}
		return topics, nil
	}
	var scratch []byte
	_, err = recording.Read(ctx, ref, recording.Query{Threads: threads}, recording.Each{Topics: plan,
		Write: func(m *storage.Message) error {
			v, box := views[m.Topic], boxes[keys[m.Topic]]
			data, err := v.Reader.Message(m.Data, m.LogTime, &scratch)
			if err != nil {
				box.LeftOut++
				return nil
			}
			x := v.Open(data)
			defer x.Close()
			f := track.Fix{Lat: x.FloatAt("latitude"), Lon: x.FloatAt("longitude"), Status: int8(x.FloatAt("status.status"))}
			if x.All() != nil {
				box.LeftOut++
				return nil
			}
			box.add(f)
			return nil
		}})
	return boxes, err
}

// addContent adds what the messages have.
func (r *Recording) addContent(c *Content) {
	r.Content = true
	for i := range r.Topics {
		t := &r.Topics[i]
		k := r.keys[i]
		if hash, ok := c.Hashes[k]; ok {
			t.ContentHash = &hash
		}
		b := c.Boxes[k]
		if b == nil {
			continue
		}
		t.Fixes, t.FixesLeftOut = &b.Fixes, &b.LeftOut
		if b.Fixes > 0 {
			t.LatMin, t.LatMax, t.LonMin, t.LonMax = &b.LatMin, &b.LatMax, &b.LonMin, &b.LonMax
		}
	}
}
