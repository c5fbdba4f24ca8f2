package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/bagconv/bagconv/internal/export/cloud"
	"github.com/bagconv/bagconv/internal/export/view"
	"github.com/bagconv/bagconv/storage"
)

// at returns the first message of a stream from a time on, and up to another, by the index. Its data are its own; nil
// is no message.
func (g *gatherer) at(ctx context.Context, s *stream, from, to int64) (m *storage.Message, err error) {
	query := storage.ReaderCapabilities(g.r).Query
	if query == nil {
		return nil, fmt.Errorf("the format has no index of times (%w)", storage.ErrUnsupported)
	}
	if from == 0 && to == 0 {
		from = -1 // both 0 are all times
	}
	for found, err := range query.Query(ctx, storage.Query{Topics: s.ids, Start: from, End: to, Limit: 1}) {
		if err != nil {
			return nil, err
		}
		own := *found
		own.Data = slices.Clone(found.Data)
		return &own, nil
	}
	return nil, nil
}

// isCamera reports whether the messages of a stream have pictures.
func (s *stream) isCamera() bool {
	v := s.kind.view
	return v != nil && v.FrameReader() != nil
}

// cameras makes the thumbnails of all cameras.
func (g *gatherer) cameras(ctx context.Context) ([]Camera, error) {
	var list []*stream
	for _, s := range g.streams {
		if s.isCamera() && g.count(s) > 0 {
			list = append(list, s)
		}
	}
	if n := len(list); n > maxCameras {
		g.leave("camera", n-maxCameras)
		list = list[:maxCameras]
	}
	out, doubts, errs := make([]Camera, len(list)), make([]string, len(list)), make([]error, len(list))
	var wg sync.WaitGroup
	room := make(chan struct{}, g.workers())
	for i, s := range list {
		wg.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			n := min(max(maxThumbnails/len(list), leastThumbnails), mostThumbnails)
			out[i], doubts[i], errs[i] = g.camera(ctx, s, n)
		})
	}
	wg.Wait()
	size := 0
	for i, c := range out {
		if doubts[i] != "" {
			g.doubt("%s", doubts[i])
		}
		kept := c.Samples[:0]
		for _, t := range c.Samples {
			if size+len(t.JPEG) <= maxJPEG {
				size += len(t.JPEG)
				kept = append(kept, t)
			}
		}
		if n := len(c.Samples) - len(kept); n > 0 {
			g.leave("thumbnail", n)
		}
		out[i].Samples = kept
	}
	return out, errors.Join(errs...)
}

// camera makes up to n thumbnails of a camera. doubt says which pictures could not be shown.
func (g *gatherer) camera(ctx context.Context, s *stream, n int) (c Camera, doubt string, err error) {
	c = Camera{Topic: g.text(s.topic.Name), Samples: []Thumbnail{}}
	eye := newEye(s.kind.view)
	begin, end := g.span(s)
	slots := spread(begin, end, n)
	failed, first := 0, error(nil)
	for k := range mostThumbnails {
		i := scattered(k, mostThumbnails) // the first ones are far apart, should the reading stop
		if i >= n || slots[i+1]-1 < slots[i] || g.spentEnough() {
			continue
		}
		m, err := g.at(ctx, s, slots[i], slots[i+1]-1)
		switch {
		case ctx.Err() != nil:
			return c, "", ctx.Err()
		case err != nil:
			return c, fmt.Sprintf("no more pictures of %s: %v", c.Topic, err), nil
		case m == nil:
			continue
		}
		t, err := eye.picture(m, &c)
		if err != nil {
			if failed++; first == nil {
				first = err
			}
			if c.Note = g.text(err.Error()); errors.Is(err, errVideo) {
				c.Note = videoNote
				return c, "", nil
			}
			continue
		}
		t.Time = g.seconds(m.LogTime)
		c.Samples = append(c.Samples, t)
	}
	if len(c.Samples) > 0 {
		c.Note = ""
	}
	slices.SortFunc(c.Samples, func(a, b Thumbnail) int { return cmp.Compare(a.Time, b.Time) })
	if failed > 0 {
		doubt = fmt.Sprintf("%d of %d pictures of %s cannot be shown: %v", failed, failed+len(c.Samples), c.Topic, first)
	}
	return c, doubt, nil
}

// errVideo is about a picture that only the pictures before it explain.
var errVideo = errors.New("a part of a video")

const videoNote = "video: this report decodes none; bagconv export --images video writes a file"

// An eye reads the pictures of a stream. It is for one goroutine.
type eye struct {
	v       *view.View
	scratch []byte
}

func newEye(v *view.View) *eye {
	return &eye{v: v.With("height", "width", "encoding", "is_bigendian", "step", "data", "format")}
}

// picture makes a thumbnail of a message, and describes the camera.
func (e *eye) picture(m *storage.Message, c *Camera) (t Thumbnail, err error) {
	data, err := e.v.Reader.Message(m.Data, m.LogTime, &e.scratch)
	if err != nil {
		return t, err
	}
	x := e.v.Open(data)
	defer x.Close()
	var p *canvas
	switch e.v.Name {
	case "sensor_msgs/Image":
		raw := x.Picture()
		c.Format, c.Width, c.Height = shorten(raw.Encoding), int(raw.Width), int(raw.Height)
		if err := x.Err(); err != nil {
			return t, err
		}
		p, err = rawCanvas(raw)
	case "sensor_msgs/CompressedImage":
		format := x.TextAt("format")
		c.Format = shorten(format)
		stored := x.BytesAt("data")
		if err := x.Err(); err != nil {
			return t, err
		}
		p, err = storedCanvas(format, stored)
		if isVideo(err) {
			return t, errVideo
		}
	default:
		c.Format = shorten(x.TextAt("format") + x.TextAt("encoding"))
		return t, errVideo
	}
	if err == nil {
		c.Width, c.Height = p.width, p.height
		t, err = p.thumbnail()
	}
	return t, err
}

// isVideo reports whether a compressed image is a part of a video.
func isVideo(err error) bool {
	return errors.Is(err, storage.ErrUnsupported) && strings.Contains(err.Error(), "part of a video")
}

// cloudFields are what a cloud is read by.
var cloudFields = []string{"height", "width", "fields", "is_bigendian", "point_step", "row_step", "data",
	"header.frame_id"}

// clouds returns the cloud in the middle of the stream that has the most messages.
func (g *gatherer) clouds(ctx context.Context) ([]Cloud, error) {
	var s *stream
	others := 0
	for _, one := range g.streams {
		if one.name() == "sensor_msgs/PointCloud2" && g.count(one) > 0 {
			if others++; s == nil || g.count(one) > g.count(s) {
				s = one
			}
		}
	}
	if s == nil {
		return []Cloud{}, nil
	}
	if others > 1 {
		g.note("clouds of %d other topics", others-1)
	}
	begin, end := g.span(s)
	half := spread(begin, end, 2)
	m, err := g.at(ctx, s, half[1], end)
	if m == nil && err == nil {
		m, err = g.at(ctx, s, begin, end)
	}
	var c Cloud
	if err == nil && m != nil {
		c, err = g.cloud(s, m)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		g.doubt("no cloud of %s: %v", s.topic.Name, err)
		return []Cloud{}, nil
	case m == nil || c.Points == 0:
		g.note("the cloud of %s: the one in the middle has no points", s.topic.Name)
		return []Cloud{}, nil
	}
	return []Cloud{c}, nil
}

// maxCoordinate is how far a point may be, metres: from here to the sun.
const maxCoordinate = 1.5e11

// cloud thins the cloud of a message.
func (g *gatherer) cloud(s *stream, m *storage.Message) (c Cloud, err error) {
	v := s.kind.view.With(cloudFields...)
	var scratch []byte
	data, err := v.Reader.Message(m.Data, m.LogTime, &scratch)
	if err != nil {
		return c, err
	}
	x := v.Open(data)
	defer x.Close()
	in := x.Cloud()
	frame := x.TextAt("header.frame_id")
	if err := x.All(); err != nil {
		return c, err
	}
	some, err := in.Sample(maxPoints)
	if err != nil || len(some.XYZ) == 0 {
		return c, err
	}
	if slices.ContainsFunc(some.XYZ, func(v float64) bool { return math.Abs(v) > maxCoordinate }) {
		return c, fmt.Errorf("a point is more than %g m away", maxCoordinate)
	}
	c = Cloud{Topic: g.text(s.topic.Name), Frame: g.text(frame), Time: g.seconds(m.LogTime), All: some.All, By: some.By}
	if far := c.pack(&some); far > 0 {
		g.note("%d points of the cloud of %s that are far from the others", far, s.topic.Name)
	}
	return c, nil
}

// pack turns the points into 16 bits each, from their median, and returns how many are left out, as they are farther
// than twice the distance of nearly all.
func (c *Cloud) pack(some *cloud.Sample) (far int) {
	n := len(some.Shade)
	column := make([]float64, n)
	for axis := range 3 {
		for i := range n {
			column[i] = some.XYZ[3*i+axis]
		}
		slices.Sort(column)
		c.Center[axis] = round(column[n/2], 1e3)
	}
	distance := func(i int) (d float64) {
		for axis := range 3 {
			d = max(d, math.Abs(some.XYZ[3*i+axis]-c.Center[axis]))
		}
		return d
	}
	for i := range n {
		column[i] = distance(i)
	}
	slices.Sort(column)
	limit := max(2*column[n*99/100], 1e-3)
	limit = min(limit, max(column[n-1], 1e-3))
	c.Scale = limit / math.MaxInt16
	low, high := shadeRange(some.Shade)
	for i := range n {
		if distance(i) > limit {
			far++
			continue
		}
		for axis := range 3 {
			v := uint16(int16(math.Round((some.XYZ[3*i+axis] - c.Center[axis]) / c.Scale)))
			c.XYZ = append(c.XYZ, byte(v), byte(v>>8))
		}
		shade := 255 * (some.Shade[i] - low) / (high - low)
		if shade-shade != 0 {
			shade = 0
		}
		c.Shade = append(c.Shade, uint8(min(max(shade, 0), 255)))
	}
	c.Points = n - far
	return far
}

// shadeRange returns the values that are black and white: nearly the least and the greatest.
func shadeRange(values []float64) (low, high float64) {
	sorted := slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return v-v != 0 })
	slices.Sort(sorted)
	if len(sorted) == 0 || sorted[0] == sorted[len(sorted)-1] {
		return 0, 1
	}
	low, high = sorted[len(sorted)*2/100], sorted[len(sorted)*98/100]
	if low == high {
		low, high = sorted[0], sorted[len(sorted)-1]
	}
	return low, high
}
