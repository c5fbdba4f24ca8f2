package lerobot

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/export/align"
	"github.com/bagconv/bagconv/internal/export/mp4"
	"github.com/bagconv/bagconv/internal/export/view"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/storage"
)

// The names of features.
const (
	nameState    = "observation.state"
	nameAction   = "action"
	imagesPrefix = "observation.images."
)

// A Writer writes the episodes of a recording, and at the end a data set of them. It is for one goroutine.
type Writer struct {
	ctx    context.Context
	fs     storage.FS
	format string
	path   string
	m      *Mapping
	ffmpeg string
	whole  bool // a data set, and not its Episodes

	out     *iox.Output
	dir     string // of the Episodes
	temp    string // of files without a name
	scratch string // a folder to be removed at the end; "": none

	topics  []*stream // by TopicID; topics outside the mapping have no use
	streams []*stream // the streams of the mapping
	clock   *clock
	cameras []*camera
	vectors []vector
	set     Episodes
	ready   bool

	episode  *Episode // that is written; nil: none
	rowsOut  *bufio.Writer
	rowsFile storage.File
	tallies  []*tally
	pending  [][]float64 // of action next and delta: the vectors of the row before
	notes    []string
	other    storage.TopicID // where losses go that concern all

	finished bool
	err      error
}

// A vector is a feature of numbers with what it is made of.
type vector struct {
	name  string
	parts []part
	of    string // "next", "delta": of the state
}

// create begins the output.
func create(ctx context.Context, f *storage.Format, path string, o storage.WriteOptions) (*Writer, error) {
	fail := func(err error) (*Writer, error) {
		return nil, &storage.Error{Format: f.Name, Path: path, Offset: -1, What: "option", Err: err}
	}
	if err := f.Options.Check(&o); err != nil {
		return fail(err)
	}
	m, err := ParseMapping(o.Values[nameMap])
	if o.Values[nameMap] == "" {
		err = mapError(0, "", helpMap, "a data set needs a mapping file")
	}
	if err != nil {
		return fail(err)
	}
	w := &Writer{ctx: ctx, fs: iox.FS(o.FS), format: f.Name, path: path, m: m, ffmpeg: mp4.FindFFmpeg(),
		whole: f.Name == formatName}
	limit := 64 << 20
	if o.Memory > 0 {
		limit = int(min(o.Memory/2, 256<<20))
	}
	w.clock = &clock{m: m, rule: align.Rule{Method: m.Sync, MaxGap: m.MaxGap}, rows: w, limit: limit}
	if w.out, err = iox.NewOutput(w.fs, path, o.Overwrite, !o.NoSync); err != nil {
		return nil, err
	}
	w.dir, w.temp = w.out.Temp(), w.out.TempDir()
	if w.whole {
		// The episodes are not in the output: they go when the data set is made of them.
		if w.scratch, err = tempFolder(w.out, path); err != nil {
			return nil, errors.Join(err, w.out.Abort())
		}
		w.dir, w.temp = w.scratch, w.scratch
	} else if err := w.fs.Mkdir(w.dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, errors.Join(err, w.out.Abort())
	}
	return w, nil
}

// tempFolder makes a folder for episodes: beside the output, or, if that is in a store, in the folder for temporary
// files.
func tempFolder(out *iox.Output, path string) (string, error) {
	if iox.IsURL(path) {
		return os.MkdirTemp("", "bagconv-episodes-")
	}
	dir := out.Temp() + ".episodes"
	return dir, os.Mkdir(dir, 0o777)
}

// CreateTopic begins a topic. See storage.Writer.
func (w *Writer) CreateTopic(t storage.Topic) (storage.TopicID, error) {
	if w.err != nil {
		return 0, w.err
	}
	id := storage.TopicID(len(w.topics))
	s := &stream{topic: t, id: id, at: -1}
	if slices.Contains(w.m.Topics(), t.Name) {
		if i := slices.IndexFunc(w.streams, func(s *stream) bool { return s.topic.Name == t.Name }); i >= 0 {
			return 0, fmt.Errorf("a second topic %s, of type %s and not %s, in a data set: %w", t.Name, t.Type,
				w.streams[i].topic.Type, storage.ErrUnsupported)
		}
		var err error
		if s.reader, err = view.ReaderOf(&t); err != nil {
			return 0, err
		}
		w.streams = append(w.streams, s)
	}
	w.topics = append(w.topics, s)
	return id, nil
}

// Write takes a message. See storage.Writer.
func (w *Writer) Write(m *storage.Message) error {
	if w.err != nil {
		return w.err
	}
	if int64(m.Topic) >= int64(len(w.topics)) {
		return w.fail(fmt.Errorf("there is no topic %d", m.Topic))
	}
	if err := w.begin(); err != nil {
		return w.fail(err)
	}
	s := w.topics[m.Topic]
	if s.reader == nil {
		return nil
	}
	if err := w.clock.take(s, m); err != nil {
		return w.fail(err)
	}
	return nil
}

// begin finds what the mapping names, when all topics are known.
func (w *Writer) begin() error {
	if w.ready {
		return nil
	}
	w.ready = true
	for _, v := range w.m.vectors() {
		x := vector{name: v.Name}
		for _, f := range v.Fields {
			p, err := w.part(f)
			if err != nil {
				return err
			}
			x.parts = append(x.parts, p)
		}
		w.vectors = append(w.vectors, x)
	}
	if w.m.ActionOf != "" {
		w.vectors = append([]vector{{name: nameAction, of: w.m.ActionOf}}, w.vectors...)
	}
	for _, c := range w.m.Cameras {
		if err := w.camera(c); err != nil {
			return err
		}
	}
	if err := w.dividers(); err != nil {
		return err
	}
	w.clock.streams = w.streams
	for _, s := range w.streams {
		if len(s.cams) > 0 && len(s.fields) > 0 {
			return mapError(0, "cameras", "use another topic", "%s is a camera, and cannot be numbers as well", s.topic.Name)
		}
		w.other = s.id
	}
	return nil
}

// stream returns the stream of a topic.
func (w *Writer) stream(line int, key, topic string) (*stream, error) {
	var names []string
	for _, s := range w.topics {
		if s.topic.Name == topic && s.reader != nil {
			return s, nil
		}
		names = append(names, s.topic.Name)
	}
	slices.Sort(names)
	hint := "there are " + strings.Join(names, ", ")
	if len(names) == 0 {
		hint = "bagconv info IN lists the topics"
	}
	return nil, mapError(line, key, hint, "there is no topic %s that can be read, or it is not selected", topic)
}

// part finds a field, and makes it one of its stream.
func (w *Writer) part(f Field) (part, error) {
	s, err := w.stream(f.line, f.String(), f.Topic)
	if err != nil {
		return part{}, err
	}
	if i := slices.IndexFunc(s.fields, func(x *numbers) bool { return x.field.Path == f.Path }); i >= 0 {
		return part{s, i}, nil
	}
	x, err := newNumbers(s.reader.Type, f)
	if err != nil {
		return part{}, err
	}
	s.fields = append(s.fields, x)
	return part{s, len(s.fields) - 1}, nil
}

// camera finds the topic of a camera.
func (w *Writer) camera(c Camera) error {
	s, err := w.stream(c.line, "cameras", c.Topic)
	if err != nil {
		return err
	}
	if len(s.cams) == 0 {
		s.view = view.Of(&s.topic, s.reader)
		if s.view != nil {
			s.read = s.view.FrameReader()
		}
		if s.read == nil {
			return mapError(c.line, "cameras", "there are Image, CompressedImage, CompressedVideo and FFMPEGPacket",
				"%s has no pictures: it is %s", c.Topic, s.topic.Type)
		}
	}
	x := &camera{name: c.Name, w: w, s: s}
	s.cams = append(s.cams, x)
	w.cameras = append(w.cameras, x)
	return nil
}

// dividers finds what divides episodes, and the task of each.
func (w *Writer) dividers() error {
	if f := w.m.TaskFrom; f.Topic != "" {
		s, err := w.stream(f.line, "task", f.Topic)
		if err != nil {
			return err
		}
		if s.task, err = s.reader.Type.Path(f.Path); err != nil {
			return mapError(f.line, "task", "bagconv defs show IN "+f.Topic+" --tree shows the fields", "%v", err)
		}
		if s.task.Field.Kind != message.Text || s.task.Field.List {
			return mapError(f.line, "task", "bagconv defs show IN "+f.Topic+" --tree shows the fields", "%s is no text", f)
		}
	}
	d := &w.m.Episodes
	if d.By == "topic" {
		_, err := w.stream(0, "episodes", d.Topic)
		return err
	}
	if d.By != "value" {
		return nil
	}
	s, err := w.stream(d.Field.line, "episodes", d.Field.Topic)
	if err == nil {
		s.bound, err = newNumbers(s.reader.Type, d.Field)
	}
	return err
}
