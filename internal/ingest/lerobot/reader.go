package lerobot

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/export/mp4"
	"github.com/bagconv/bagconv/internal/export/picture"
	"github.com/bagconv/bagconv/internal/ingest/parquet"
	"github.com/bagconv/bagconv/storage"
)

// The types of topics.
const (
	jointsType = "sensor_msgs/msg/JointState"
	imageType  = "sensor_msgs/msg/CompressedImage"
	videoType  = "foxglove_msgs/msg/CompressedVideo"
	textType   = "std_msgs/msg/String"
)

// videoText is the definition of foxglove_msgs/msg/CompressedVideo.
const videoText = "builtin_interfaces/Time timestamp\nstring frame_id\nuint8[] data\nstring format\n" +
	"================================================================================\nMSG: " +
	"builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"

// A reader is a data set as a recording.
type reader struct {
	*dataset
	about *storage.Info
	task  storage.TopicID // of the text of tasks

	episode int
	frame   int64
	data    *table // of the episode; nil: none
	at      place  // of data
	rows    int64  // of data that were read
	index   []*parquet.Rows
	columns []column
	films   map[string]*film
	ready   []storage.Message // of the frame
	damage  []storage.Warning
	err     error
}

// A column is a feature with its topic.
type column struct {
	*feature
	topic storage.TopicID
	rows  *parquet.Rows
}

// A film is a video that is open.
type film struct {
	*mp4.File
	file storage.File
	at   place
}

// topicOf returns the name of the topic of a feature.
func topicOf(key string) string { return "/" + strings.ReplaceAll(key, ".", "/") }

// open reads what describes a data set, and makes its topics.
func open(fsys storage.FS, dir string) (*reader, error) {
	d, err := openDataset(fsys, dir)
	if err != nil {
		return nil, err
	}
	r := &reader{dataset: d, at: place{-1, -1}, films: map[string]*film{}}
	r.about = &storage.Info{Format: "lerobot", Version: d.info.Version, Path: dir, Files: []string{dir},
		Metadata: map[string]string{}}
	if d.info.RobotType != "" {
		r.about.Metadata["robot_type"] = d.info.RobotType
	}
	for i := range d.features {
		f := &d.features[i]
		typ := jointsType
		switch f.DType {
		case "image":
			typ = imageType
		case "video":
			if typ, err = r.videoType(f); err != nil {
				return nil, errors.Join(err, r.Close())
			}
		}
		id, err := r.topic(topicOf(f.key), typ)
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		r.columns = append(r.columns, column{feature: f, topic: id})
	}
	if r.task, err = r.topic("/task", textType); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	for i, e := range d.episodes {
		for k := range r.about.Topics {
			n := e.length
			if storage.TopicID(k) == r.task {
				n = 1
			}
			r.about.Topics[k].Messages += n
			r.about.Messages += n
		}
		if i == 0 {
			r.about.Start = e.start
		}
		r.about.Start, r.about.End = min(r.about.Start, e.start), max(r.about.End, e.start+d.duration(max(0, e.length-1)))
	}
	return r, nil
}

// videoType returns the type of the topic of a video, by the first one of it.
func (r *reader) videoType(f *feature) (string, error) {
	if len(r.episodes) == 0 {
		return videoType, nil
	}
	film, err := r.film(f.key, r.episodes[0].videos[f.key].place)
	if err == nil && film.Codec == mp4.JPEG {
		return imageType, nil
	}
	return videoType, err
}

// topic makes a topic with its definition.
func (r *reader) topic(name, typ string) (storage.TopicID, error) {
	t := storage.Topic{Name: name, Type: typ, Encoding: "cdr"}
	if typ == videoType {
		t.Schema = storage.Schema{Encoding: "ros2msg", Data: []byte(videoText)}
	} else {
		res, err := mapping.New(mapping.Options{Encoding: "cdr"}).Map(&t)
		if err != nil {
			return 0, err
		}
		t = res.Topic
	}
	id := storage.TopicID(len(r.about.Topics))
	r.about.Topics = append(r.about.Topics, storage.TopicInfo{Topic: t, ID: id})
	return id, nil
}

// Info describes the data set. See storage.Reader.
func (r *reader) Info() *storage.Info { return r.about.Clone() }

// Damage returns what is odd. See storage.Reader.
func (r *reader) Damage() (d storage.Damage) {
	d.Warnings = slices.Concat(r.remarks, r.damage)
	return d
}

// ReadNext returns the next message: frame by frame, all topics of each. See storage.Reader.
func (r *reader) ReadNext() (*storage.Message, error) {
	for len(r.ready) == 0 {
		if r.err != nil {
			return nil, r.err
		}
		if r.episode >= len(r.episodes) {
			r.err = io.EOF
			return nil, r.err
		}
		if r.err = r.nextFrame(); r.err != nil {
			return nil, r.err
		}
	}
	m := &r.ready[0]
	r.ready = r.ready[1:]
	return m, nil
}

// nextFrame makes the messages of a frame.
func (r *reader) nextFrame() error {
	e := &r.episodes[r.episode]
	if r.frame >= e.length {
		r.episode, r.frame = r.episode+1, 0
		return nil
	}
	if r.frame == 0 {
		if err := r.seek(e); err != nil {
			return err
		}
	}
	ns := e.start + int64(math.Round(float64(r.frame)/r.info.FPS*1e9))
	r.ready = r.ready[:0]
	if err := r.check(e, ns); err != nil {
		return err
	}
	for i := range r.columns {
		c := &r.columns[i]
		data, err := r.value(c, e, ns)
		if err != nil {
			return fmt.Errorf("%s: episode %d, frame %d: %w", c.key, e.index, r.frame, err)
		}
		if data != nil {
			r.add(c.topic, ns, data)
		}
	}
	r.frame++
	r.rows++
	return nil
}

func (r *reader) add(topic storage.TopicID, ns int64, data []byte) {
	r.ready = append(r.ready, storage.Message{Topic: topic, LogTime: ns, PublishTime: ns, Data: data})
}

// check checks that the row is the row of the frame, and makes the message of the task.
func (r *reader) check(e *episode, ns int64) error {
	var got [3]int64
	for i, rows := range r.index {
		if !rows.Next() || len(rows.Ints()) != 1 {
			return errors.Join(rows.Err(), corrupt("%s ends before frame %d of episode %d", r.data.name, r.frame, e.index))
		}
		got[i] = rows.Ints()[0]
	}
	if got[0] != e.index || got[1] != r.frame {
		return corrupt("%s has frame %d of episode %d in the place of frame %d of episode %d", r.data.name, got[1], got[0],
			r.frame, e.index)
	}
	if r.frame > 0 {
		return nil
	}
	task, ok := r.tasks[got[2]]
	if !ok {
		return corrupt("episode %d has task %d, which there is not", e.index, got[2])
	}
	r.add(r.task, ns, stringMessage(nil, task))
	return nil
}

// seek goes to the first row of an episode.
func (r *reader) seek(e *episode) error {
	if r.data == nil || r.at != e.data || r.rows > e.row {
		if err := r.openData(e.data); err != nil {
			return err
		}
	}
	for ; r.rows < e.row; r.rows++ {
		for _, c := range r.columns {
			if c.rows != nil && !c.rows.Next() {
				return errors.Join(c.rows.Err(), corrupt("%s ends before episode %d", r.data.name, e.index))
			}
		}
		for _, rows := range r.index {
			if !rows.Next() {
				return errors.Join(rows.Err(), corrupt("%s ends before episode %d", r.data.name, e.index))
			}
		}
	}
	return nil
}

// openData opens a file of rows.
func (r *reader) openData(at place) error {
	if r.data != nil {
		if err := r.data.file.Close(); err != nil {
			return err
		}
		r.data = nil
	}
	name, err := pathOf(r.info.DataPath, "", at)
	if err != nil {
		return err
	}
	if r.data, err = r.openTable(name); err != nil {
		return err
	}
	r.at, r.rows, r.index = at, 0, nil
	for _, key := range []string{"episode_index", "frame_index", "task_index"} {
		rows, err := r.data.Rows(key)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		r.index = append(r.index, rows)
	}
	for i := range r.columns {
		c := &r.columns[i]
		path := []string{c.key}
		switch c.DType {
		case "video":
			continue
		case "image":
			path = append(path, "bytes")
		}
		if c.rows, err = r.data.Rows(path[0], path[1:]...); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// value makes the message of a feature; nil: no value in this frame.
func (r *reader) value(c *column, e *episode, ns int64) ([]byte, error) {
	if c.DType == "video" {
		return r.videoFrame(c, e, ns)
	}
	if !c.rows.Next() {
		return nil, errors.Join(c.rows.Err(), corrupt("%s ends early", r.data.name))
	}
	if c.DType != "image" {
		values := c.rows.Floats()
		if len(values) != len(c.names) {
			return nil, corrupt("%d numbers, and %d in info.json", len(values), len(c.names))
		}
		return jointState(nil, ns, c.names, values), nil
	}
	if list := c.rows.Bytes(); len(list) == 1 {
		return compressedImage(nil, ns, imageFormat(list[0]), list[0]), nil
	}
	r.warn("image-elsewhere", "images of "+c.key+" are not in the tables, and are left out")
	return nil, nil
}

// imageFormat names the format of an image file.
func imageFormat(data []byte) string {
	switch ending := picture.Ending(data); ending {
	case "jpg":
		return "jpeg"
	default:
		return ending
	}
}

// film opens a video, or returns the one that is open.
func (r *reader) film(key string, at place) (*film, error) {
	if f := r.films[key]; f != nil {
		if f.at == at {
			return f, nil
		}
		delete(r.films, key)
		if err := f.file.Close(); err != nil {
			return nil, err
		}
	}
	name, err := pathOf(r.info.VideoPath, key, at)
	if err != nil {
		return nil, err
	}
	t, err := r.fs.Open(filepath.Join(r.dir, filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	st, err := t.Stat()
	if err == nil {
		var m *mp4.File
		if m, err = mp4.Open(t, st.Size()); err == nil {
			r.films[key] = &film{m, t, at}
			return r.films[key], nil
		}
		err = fmt.Errorf("%s: %w", name, err)
	}
	return nil, errors.Join(err, t.Close())
}

// formats are the names of codecs in messages.
var formats = map[mp4.Codec]string{mp4.H264: "h264", mp4.H265: "h265", mp4.AV1: "av1", mp4.VP9: "vp9"}

// videoFrame makes the message of a frame of a video: the frames of an episode follow each other in the file.
func (r *reader) videoFrame(c *column, e *episode, ns int64) ([]byte, error) {
	f, err := r.film(c.key, e.videos[c.key].place)
	if err != nil {
		return nil, err
	}
	first := int64(math.Round(e.videos[c.key].from * r.info.FPS))
	i := first + r.frame
	if i >= int64(len(f.Samples)) {
		return nil, corrupt("a video of %d frames, and the episode begins at %d", len(f.Samples), first)
	}
	want := (e.videos[c.key].from + float64(r.frame)/r.info.FPS) * 1e9
	if s := f.Samples[i]; math.Abs(float64(s.Time)-want) > 1e5 {
		r.warn("video-time", "frames of "+c.key+" are more than 1e-4 s from their time in the video, or in another order")
	} else if r.frame == 0 && !s.Key {
		r.warn("video-key", "episodes of "+c.key+
			" do not begin with a key frame: what comes before the next one cannot be decoded")
	}
	data, err := f.Frame(nil, int(i))
	if err != nil {
		return nil, err
	}
	if f.Codec == mp4.JPEG {
		return compressedImage(nil, ns, "jpeg", data), nil
	}
	return compressedVideo(nil, ns, formats[f.Codec], data), nil
}

// warn keeps a warning, once.
func (r *reader) warn(code, text string) {
	if !slices.ContainsFunc(r.damage, func(w storage.Warning) bool { return w.Code == code && w.Message == text }) {
		r.damage = append(r.damage, storage.Warning{Code: code, Message: text, Offset: -1})
	}
}

// Close closes all files. See storage.Reader.
func (r *reader) Close() (err error) {
	if r.data != nil {
		err = r.data.file.Close()
		r.data = nil
	}
	for _, key := range slices.Sorted(maps.Keys(r.films)) {
		err = errors.Join(err, r.films[key].file.Close())
	}
	clear(r.films)
	if r.err == nil {
		r.err = fmt.Errorf("the data set is closed: %w", storage.ErrUnsupported)
	}
	r.ready = nil
	return err
}
