package rosbag2

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/storage"
)

// A writer writes one recording: a folder with one part or, if it is cut into
// segments, several; or a single file.
type writer struct {
	ctx      context.Context
	fs       storage.FS
	out      *iox.Output
	add      *ros2bag.Addition // nil: it makes a recording
	path     string            // of the recording
	single   bool
	sync     bool
	memory   int64 // for sorting the index; 0 is the loader's default
	profile  ros2bag.Profile
	options  map[string]string // recording-level metadata
	size     int64             // of a segment, in bytes of messages; 0: any
	duration int64             // of a segment, ns; 0: any
	packing  packing

	runs  sync.Pool  // of *rowRun
	parts []*outPart // the last one takes the messages
	hand  func(storage.PendingBlock) error

	topics   []outTopic
	custom   *string // of custom_data, once all topics are there
	index    map[topicKey]storage.TopicID
	err      error // the first one; every further call returns it
	live     bool  // there are checkpoints
	flushed  bool  // the last part has all its rows
	finished bool  // it can be committed
}

// outTopic is a topic with what is known when it is finished.
type outTopic struct {
	storage.Topic
	ownSchema bool // message_definitions cannot hold its schema
}

// pageSize is that of every recording seen, and SQLite's default. Larger pages
// make small recordings ten times as big; see docs/benchmarks/sqlite.md.
const pageSize = 4096

// createWriter starts a recording at path: a folder, or one file if the name ends
// in .db3. See storage.Format.
func createWriter(ctx context.Context, path string, o storage.WriteOptions) (storage.Writer, error) {
	if o.Append {
		if st, err := iox.FS(o.FS).Stat(path); err != nil {
			return nil, err
		} else if !st.IsDir() {
			return appendToFile(ctx, path, o)
		}
	}
	w := &writer{
		path: path, ctx: ctx, fs: iox.FS(o.FS), single: strings.HasSuffix(path, db3.Ext), sync: !o.NoSync, memory: o.Memory,
		options: maps.Clone(o.Metadata), index: map[topicKey]storage.TopicID{},
		size: o.SegmentSize, duration: o.SegmentDuration,
	}
	if err := w.create(path, o); err != nil {
		return nil, err
	}
	return w, nil
}

func (w *writer) create(path string, o storage.WriteOptions) (err error) {
	if o.Append {
		return w.appendTo(path, o)
	}
	if err := options.Check(&o); err != nil {
		return w.fail(path, "option", err)
	}
	if w.single && (o.SegmentSize > 0 || o.SegmentDuration > 0) {
		e := w.fail(path, "segments", storage.ErrUnsupported)
		e.Hint = "a single file cannot have segments; write a folder"
		return e
	}
	if o.Values[storage.NameStorage] == otherStorage {
		e := w.fail(path, "storage "+otherStorage, storage.ErrUnsupported)
		e.Hint = "a folder can have it, whose format is " + otherFormat
		return e
	}
	if w.packing, err = packingOf(&o, w.single); err != nil {
		return w.fail(path, "option", err)
	}
	w.profile = ros2bag.ProfileFor(&o)
	if w.out, err = iox.NewOutput(w.fs, path, o.Overwrite, w.sync); err != nil {
		return err
	}
	if !w.single {
		if err := w.fs.Mkdir(w.out.Temp(), 0o777); err != nil {
			return errors.Join(err, w.out.Abort())
		}
	}
	if err := w.addPart(); err != nil {
		return errors.Join(w.wrap("", err), w.Close())
	}
	return nil
}

// Identity returns that readers know topics by name, type and encoding. See storage.Writer.
func (w *writer) Identity() storage.Identity { return storage.IdentityType }

// CreateTopic adds a row to topics. The same name with another type or encoding
// is a topic of its own. Readers cannot distinguish two of the same name, type and
// encoding, so the second is refused with storage.ErrUnsupported. See
// storage.Writer.
func (w *writer) CreateTopic(t storage.Topic) (storage.TopicID, error) {
	if w.err != nil {
		return 0, w.err
	}
	if t.Encoding == "" {
		t.Encoding = encoding
	}
	if err := w.add.Continue(&t); err != nil {
		return 0, w.fail(w.path, "", err)
	}
	key := topicKey{t.Name, t.Type, t.Encoding}
	if _, ok := w.index[key]; ok {
		return 0, w.fail(w.path, fmt.Sprintf("a second topic %.200q of type %.200q", t.Name, t.Type), storage.ErrUnsupported)
	}
	t.QoS = slices.Clone(t.QoS)
	t.Metadata = maps.Clone(t.Metadata)
	t.Schema.Data = slices.Clone(t.Schema.Data)
	id := storage.TopicID(len(w.topics))
	w.topics, w.custom = append(w.topics, outTopic{Topic: t}), nil
	w.index[key] = id
	return id, nil
}

// rowOverhead is more than what a row of messages has besides its data.
const rowOverhead = 64

// Write adds a row to messages. See storage.Writer.
func (w *writer) Write(m *storage.Message) error {
	if w.err != nil {
		return w.err
	}
	if int(m.Topic) >= len(w.topics) {
		return w.keep(fmt.Errorf("internal error: a message of topic %d, of %d: %w", m.Topic, len(w.topics), storage.ErrUnsupported))
	}
	if len(m.Data) > sqlite.MaxRow-rowOverhead {
		return w.keep(tooLarge(len(m.Data), w.topics[m.Topic].Name))
	}
	if w.flushed {
		return w.keep(errors.New("internal error: a message after Flush"))
	}
	p := w.parts[len(w.parts)-1]
	if p.Messages&255 == 0 && w.ctx.Err() != nil {
		return w.keep(w.ctx.Err())
	}
	if p.Messages > 0 && w.full(p, m) {
		if err := w.cut(p); err != nil {
			return w.keep(err)
		}
		p = w.parts[len(w.parts)-1]
	}
	if err := p.add(m); err != nil {
		return w.keep(err)
	}
	p.note(m)
	return nil
}

func tooLarge(size int, topic string) error {
	return fmt.Errorf("a message of %d bytes on topic %.200q; SQLite allows at most %d: %w", size, topic, sqlite.MaxRow-rowOverhead, storage.ErrUnsupported)
}

// full reports whether a message would make a part larger or longer than a segment.
func (w *writer) full(p *outPart, m *storage.Message) bool {
	if w.size > 0 && p.bytes+int64(len(m.Data)) > w.size {
		return true
	}
	return w.duration > 0 && uint64(max(p.End, m.LogTime))-uint64(min(p.Start, m.LogTime)) > uint64(w.duration)
}

// cut ends the rows of a part and begins the next one. Pages of the old part may
// still be on their way to its file while the new one is filled.
func (w *writer) cut(p *outPart) error {
	if w.live {
		if err := p.checkpoint(); err != nil {
			return err
		}
	}
	if err := p.flush(); err != nil {
		return err
	}
	if err := w.addPart(); err != nil {
		return err
	}
	return w.settle(false)
}

// settle finishes the rows of all parts whose pages are written, of all of them
// if all is set.
func (w *writer) settle(all bool) error {
	for _, p := range w.parts {
		if p.loader == nil || !all && !p.settled() {
			continue
		}
		if err := p.settle(all); err != nil {
			return err
		}
	}
	return nil
}

// OnBlock has the pages of messages handed to f. See storage.BlockWriter.
func (w *writer) OnBlock(f func(storage.PendingBlock) error) {
	w.hand = f
	w.parts[len(w.parts)-1].handOut()
}

// Flush ends the rows and hands out the last pages, those of the index too. See
// storage.BlockWriter.
func (w *writer) Flush() error {
	if w.err != nil {
		return w.err
	}
	w.flushed = true
	return w.keep(w.parts[len(w.parts)-1].flush())
}

// Finish finishes the database and writes metadata.yaml. See storage.Writer.
func (w *writer) Finish() (string, error) {
	if w.err == nil {
		_ = w.keep(w.finish())
	}
	if w.err != nil {
		return "", w.err
	}
	w.finished = true
	w.err = errEnded
	if w.add != nil {
		return "", nil
	}
	return w.out.Temp(), nil
}

// Commit moves the recording to its name. See storage.Writer.
func (w *writer) Commit() error {
	if !w.finished {
		if _, err := w.Finish(); err != nil {
			return err
		}
	}
	w.finished = false // a second time is an error
	commit := w.out.Commit
	if w.add != nil {
		commit = w.commitAdded
	}
	if err := commit(); err != nil {
		w.err = w.wrap("", err)
		return w.err
	}
	return nil
}

// Close removes what was not committed. See storage.Writer.
func (w *writer) Close() error {
	w.finished = false
	if w.err == nil {
		w.err = errEnded
	}
	// The engine's complaints about a file that is thrown away do not matter.
	for _, p := range w.parts {
		_ = p.close(false)
	}
	if w.add != nil {
		return w.add.Close()
	}
	return w.out.Abort()
}

// errEnded is the error of calls after Finish, Commit or Close.
var errEnded = errors.New("the recording is closed")

// keep makes err the error of all further calls.
func (w *writer) keep(err error) error {
	if err != nil && w.err == nil {
		w.err = w.wrap("", err)
	}
	return w.err
}

func (w *writer) wrap(what string, err error) error {
	var e *storage.Error
	if errors.As(err, &e) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return w.fail(w.path, what, err)
}

func (w *writer) fail(path, what string, err error) *storage.Error {
	return &storage.Error{Format: formatName, Path: path, Offset: -1, What: what, Err: err}
}

var (
	_ storage.Writer       = (*writer)(nil)
	_ storage.BlockWriter  = (*writer)(nil)
	_ storage.Checkpointer = (*writer)(nil)
)
