package export

import (
	"fmt"
	"io"
	"path"
	"strconv"
	"sync"

	"github.com/bagconv/bagconv/internal/export/cloud"
	"github.com/bagconv/bagconv/internal/export/picture"
	"github.com/bagconv/bagconv/internal/export/view"
)

// frames is a product: a file for each message, and frames.csv with their times.
type frames struct {
	*viewer
	place *folder
	dir   string         // in the output
	kind  string         // see IndexFile
	list  io.WriteCloser // frames.csv
	count int64
	make  func(x *view.Values, dst []byte, m *made) (ext string, data []byte, err error) // in dst, if it can

	spares spareFiles
}

// spareFiles keeps a few buffers that files were made in. It is safe for concurrent use.
type spareFiles struct {
	mu   sync.Mutex
	list [][]byte
}

// take returns an empty buffer.
func (s *spareFiles) take() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.list)
	if n == 0 {
		return nil
	}
	b := s.list[n-1]
	s.list = s.list[:n-1]
	return b
}

func (s *spareFiles) put(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.list) < 2 && cap(b) <= 2*maxBlock {
		s.list = append(s.list, b[:0])
	}
}

// A frame is a file to be written.
type frame struct {
	log, stamp int64
	ext        string
	data       []byte
}

// framesName lists the files of a topic.
const framesName = "frames.csv"

// newFrames begins the folder of a topic.
func newFrames(w *writer, d *folder, v *viewer, topic, kind string) (*frames, error) {
	x := &frames{viewer: v, place: d, kind: kind, dir: w.names.take(topic, "")}
	var err error
	if x.list, err = d.create(path.Join(x.dir, framesName)); err != nil {
		return nil, err
	}
	_, err = x.list.Write([]byte("index,log_time,stamp,file\n"))
	return x, err
}

func (x *frames) encode(b *block) (*made, error) {
	return x.makeEach(b, x.kind+"-unsupported", "messages are in no file", x.frame), nil
}

// frame makes the file of a message.
func (x *frames) frame(m *made, row *row, data []byte) error {
	values := x.Open(data)
	defer values.Close()
	f := frame{log: row.log, stamp: values.TimeAt("header.stamp")}
	var err error
	if f.ext, f.data, err = x.make(values, x.spares.take(), m); err != nil {
		return err
	}
	if err := values.All(); err != nil {
		return err
	}
	m.parts = append(m.parts, f)
	return nil
}

func (x *frames) append(part any) error {
	f := part.(frame)
	time := f.stamp
	if time == 0 {
		time = f.log
	}
	name, err := x.place.writeFrame(x.dir, strconv.FormatInt(time, 10), f.ext, f.data)
	if err != nil {
		return err
	}
	x.spares.put(f.data)
	line := strconv.AppendInt(nil, x.count, 10)
	line = strconv.AppendInt(append(line, ','), f.log, 10)
	if line = append(line, ','); f.stamp != 0 {
		line = strconv.AppendInt(line, f.stamp, 10)
	}
	line = append(append(append(line, ','), name...), '\n')
	x.count++
	_, err = x.list.Write(line)
	return err
}

func (x *frames) finish() ([]IndexFile, error) {
	return []IndexFile{{Path: path.Join(x.dir, framesName), Kind: x.kind, Rows: x.count}}, x.list.Close()
}

// beside returns what a topic becomes beside its table, and whether that is all of it.
func (w *writer) beside(t *topic, r *reader) (more []product, whole bool, err error) {
	d, ok := w.place.(*folder)
	if w.single || !ok || !w.set.besides() {
		return nil, false, nil
	}
	v := viewerOf(&t.Topic, r)
	if v == nil {
		return nil, false, nil
	}
	if w.set.video {
		if p := w.video(t, v); p != nil {
			t.single = true
			return []product{p}, true, nil
		}
	}
	p, whole, err := w.frames(d, t, v)
	if err != nil || whole {
		t.single = p != nil
		if p != nil {
			more = append(more, p)
		}
		return more, whole, err
	}
	if c := w.chainOf(t, v); c != nil {
		more = append(more, c)
	}
	track, err := w.track(t, v)
	if track != nil {
		more = append(more, track)
	}
	return more, false, err
}

// frames returns the pictures or clouds of a topic; whole is set if they take the place of its table.
func (w *writer) frames(d *folder, t *topic, v *viewer) (p product, whole bool, err error) {
	var rule, kind string
	var make func(*view.Values, []byte, *made) (string, []byte, error)
	switch {
	case v.Name == "sensor_msgs/Image" && v.Has("height", "width", "encoding", "is_bigendian", "step", "data"):
		rule, kind, make = w.set.images, "images", w.rawImage
	case v.Name == "sensor_msgs/CompressedImage" && v.Has("format", "data"):
		rule, kind, make = w.set.images, "images", w.storedImage
	case v.Name == "sensor_msgs/PointCloud2" && v.Has("height", "width", "fields", "is_bigendian", "point_step",
		"row_step", "data"):
		rule, kind, make = w.set.clouds, "clouds", w.cloudFile()
	}
	switch {
	case rule == "" || rule == "inline":
		return nil, false, nil
	case rule == "none":
		return nil, true, nil
	}
	v.Has("header.stamp")
	x, err := newFrames(w, d, v, t.Name, kind)
	if err != nil {
		return nil, false, err
	}
	x.make = make
	return x, true, nil
}

func (w *writer) pictures() picture.Options { return picture.Options{Debayer: w.set.debayer} }

// rawImage makes a file of a sensor_msgs/Image.
func (w *writer) rawImage(x *view.Values, dst []byte, m *made) (ext string, file []byte, err error) {
	r := x.Picture()
	if err := x.Err(); err != nil {
		return "", nil, err
	}
	if ext, file, err = r.AppendFile(dst, w.pictures()); err == nil && r.Excess() > 0 {
		m.lose("image-excess", 1, "bytes after the last row of the image are in no file")
	}
	return ext, file, err
}

// storedImage makes a file of a sensor_msgs/CompressedImage.
func (w *writer) storedImage(x *view.Values, dst []byte, _ *made) (ext string, file []byte, err error) {
	format := x.TextAt("format")
	data := x.BytesAt("data")
	if err := x.Err(); err != nil {
		return "", nil, err
	}
	ext, file, err = picture.Stored(format, data, w.pictures())
	if err == nil && len(file) > 0 && len(data) > 0 && &file[0] == &data[0] {
		file = append(dst, file...) // the message goes
	}
	return ext, file, err
}

// cloudFile returns what makes a file of a sensor_msgs/PointCloud2.
func (w *writer) cloudFile() func(x *view.Values, dst []byte, m *made) (ext string, file []byte, err error) {
	encoders := sync.Pool{New: func() any { return new(cloud.Encoder) }}
	o := cloud.Options{Compressed: w.set.clouds == "pcd-compressed", DropNaN: w.set.dropNaN}
	return func(x *view.Values, dst []byte, m *made) (ext string, file []byte, err error) {
		c := x.Cloud()
		if err := x.Err(); err != nil {
			return "", nil, err
		}
		e := encoders.Get().(*cloud.Encoder)
		defer encoders.Put(e)
		before := *e.Notes()
		if w.set.clouds == "ply" {
			ext = "ply"
			file, err = e.AppendPLY(dst, &c, o)
		} else {
			ext = "pcd"
			file, err = e.AppendPCD(dst, &c, o)
		}
		noteCloud(m, &before, e.Notes())
		return ext, file, err
	}
}

// noteCloud counts what an encoder has changed in one cloud.
func noteCloud(m *made, before, after *cloud.Notes) {
	for _, r := range after.Renamed[len(before.Renamed):] {
		m.lose("cloud-field-renamed", 1, fmt.Sprintf("the file format cannot have a field %q: it is %s", r.From, r.To))
	}
	once := func(before, after uint64, code, text string) {
		if after > before {
			m.lose(code, 1, text)
		}
	}
	once(before.Unused, after.Unused, "cloud-excess", "bytes behind the last row of the cloud are in no file")
	once(before.Rounded, after.Rounded, "cloud-rounded", "integers of 64 bits are rounded, as PLY has none")
	once(before.RowSteps, after.RowSteps, "cloud-row-step", "row_step is wrong; the points follow each other")
	once(before.Unplaced, after.Unplaced, "cloud-unplaced",
		"the cloud has no x, y and z, so that no point could be left out")
}
