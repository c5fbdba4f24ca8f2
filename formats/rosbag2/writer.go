package rosbag2

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/sqlitefile"
	"github.com/bagconv/bagconv/storage"
)

// A Writer writes one recording: a folder with one part, or a single file.
type Writer struct {
	ctx     context.Context
	fs      storage.FS
	out     *iox.Output
	single  bool
	sync    bool
	profile profile
	options map[string]string // recording-level metadata

	name    string // of the database, within the folder or not
	file    storage.File
	gather  *gatherFile
	db      *db
	loader  *sqlitefile.Loader // takes the rows of messages while db is closed
	sorters int                // temporary files so far

	topics  []outTopic
	index   map[topicKey]storage.TopicID
	start   int64
	end     int64
	count   int64
	err     error // the first one; every further call gives it
	flushed bool  // the loader has all rows
	closed  bool
}

// outTopic is a topic with what is known when it is finished.
type outTopic struct {
	storage.Topic
	messages  int64
	ownSchema bool // message_definitions cannot hold its schema
}

// pageSize is that of every recording seen, and SQLite's default. Larger pages
// make small recordings ten times as big; see docs/benchmarks.md.
const pageSize = 4096

// Create starts a recording at path: a folder, or one file where the name ends
// in .db3. See storage.Format.
func Create(ctx context.Context, path string, o storage.WriteOptions) (storage.Writer, error) {
	w := &Writer{
		ctx: ctx, fs: iox.FS(o.FS), single: strings.HasSuffix(path, extDB), sync: !o.NoSync,
		options: maps.Clone(o.Metadata), index: map[topicKey]storage.TopicID{},
	}
	if err := w.create(path, o); err != nil {
		return nil, err
	}
	return w, nil
}

func (w *Writer) create(path string, o storage.WriteOptions) (err error) {
	if o.Compression != "" && o.Compression != "none" {
		return w.fail(path, fmt.Sprintf("compression %.40q", o.Compression), storage.ErrUnsupported)
	}
	var ok bool
	if w.profile, ok = findProfile(o.Profile); !ok {
		e := w.fail(path, fmt.Sprintf("profile %.40q", o.Profile), storage.ErrUnsupported)
		e.Hint = "known are " + strings.Join(profileNames(), ", ")
		return e
	}
	if w.out, err = iox.NewOutput(w.fs, path, o.Overwrite, w.sync); err != nil {
		return err
	}
	file := w.out.Temp()
	w.name = base(w.out.Final())
	if !w.single {
		w.name += "_0" + extDB
		if err := w.fs.Mkdir(file, 0o777); err != nil {
			return err
		}
		file = filepath.Join(file, w.name)
	}
	if err := w.openDatabase(file); err != nil {
		return errors.Join(w.wrap("", err), w.Abort())
	}
	return nil
}

// openDatabase makes the tables, empty, and leaves the messages to the loader.
func (w *Writer) openDatabase(path string) (err error) {
	if w.file, err = w.fs.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666); err != nil {
		return err
	}
	if err := w.openEngine(); err != nil {
		return err
	}
	tables := []string{"BEGIN"}
	if w.profile.schema >= 3 {
		tables = append(tables, createSchema)
	}
	if w.profile.schema >= 4 {
		tables = append(tables, createTopics4+")")
	} else {
		tables = append(tables, createTopics2+")")
	}
	// No reader of an older schema looks at the last two.
	tables = append(tables, createMessages, createMetadata, createDefinitions, createIndex)
	if err := w.db.exec(strings.Join(tables, ";")); err != nil {
		return err
	}
	if w.profile.schema >= 3 {
		if err := w.db.run("INSERT INTO schema (schema_version, ros_distro) VALUES (?, ?)", int64(w.profile.schema), w.distro()); err != nil {
			return err
		}
	}
	if err := w.db.exec("COMMIT"); err != nil {
		return err
	}
	if err := w.closeEngine(); err != nil {
		return err
	}
	w.loader, err = sqlitefile.Open(w.file, sqlitefile.Options{Temp: func() (storage.File, error) {
		return w.sorter()
	}})
	return err
}

// sorter makes a temporary file beside the database.
func (w *Writer) sorter() (*sorterFile, error) {
	w.sorters++
	return newSorterFile(w.fs, fmt.Sprintf("%s.sort%d", w.file.Name(), w.sorters))
}

// openEngine lets SQLite have the file.
func (w *Writer) openEngine() (err error) {
	if w.gather, err = newGatherFile(w.file); err != nil {
		return err
	}
	v := &vfs{file: w.gather, temp: func() (tempFile, error) { return w.sorter() }}
	if w.db, err = openDB(v); err != nil {
		return err
	}
	return w.db.exec(fmt.Sprintf("PRAGMA page_size=%d; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE", pageSize))
}

// closeEngine takes the file back from SQLite, with all that it has written.
func (w *Writer) closeEngine() error {
	if w.db == nil {
		return nil
	}
	err := w.db.close()
	w.db = nil
	if err == nil {
		err = w.gather.flush()
	}
	return err
}

// distro is what the recording says of itself, or the profile's name.
func (w *Writer) distro() string {
	if d := w.options[storage.MetaDistro]; d != "" {
		return d
	}
	return w.profile.distro
}

// CreateTopic adds a row to topics. The same name with another type or encoding
// is a topic of its own. The same name, type and encoding again gives the id
// that it has, with the QoS profiles joined and new metadata added. See
// storage.Writer.
func (w *Writer) CreateTopic(t storage.Topic) (storage.TopicID, error) {
	if w.err != nil {
		return 0, w.err
	}
	if t.Encoding == "" {
		t.Encoding = encoding
	}
	key := topicKey{t.Name, t.Type, t.Encoding}
	if id, ok := w.index[key]; ok {
		w.topics[id].join(t)
		return id, nil
	}
	t.QoS = slices.Clone(t.QoS)
	t.Metadata = maps.Clone(t.Metadata)
	t.Schema.Data = slices.Clone(t.Schema.Data)
	id := storage.TopicID(len(w.topics))
	w.topics = append(w.topics, outTopic{Topic: t})
	w.index[key] = id
	return id, nil
}

// join adds a second publisher to a topic.
func (have *outTopic) join(t storage.Topic) {
	for k, v := range t.Metadata {
		if _, ok := have.Metadata[k]; !ok {
			if have.Metadata == nil {
				have.Metadata = map[string]string{}
			}
			have.Metadata[k] = v
		}
	}
	if have.Schema.Data == nil {
		have.Schema = storage.Schema{Encoding: t.Schema.Encoding, Data: slices.Clone(t.Schema.Data)}
	}
	have.QoS = append(have.QoS, t.QoS...)
}

// writeTopics fills the table of topics. It is the last moment: a topic may get
// another publisher until then.
func (w *Writer) writeTopics() error {
	for i := range w.topics {
		t := &w.topics[i]
		qos := qosText(t.QoS, w.profile.qosNames)
		var err error
		if w.profile.schema >= 4 {
			err = w.db.run("INSERT INTO topics (id, name, type, serialization_format, offered_qos_profiles, type_description_hash) VALUES (?, ?, ?, ?, ?, ?)",
				int64(i)+1, t.Name, t.Type, t.Encoding, qos, t.Metadata[storage.MetaTypeHash])
		} else {
			err = w.db.run("INSERT INTO topics (id, name, type, serialization_format, offered_qos_profiles) VALUES (?, ?, ?, ?, ?)",
				int64(i)+1, t.Name, t.Type, t.Encoding, qos)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rowOverhead is more than what a row of messages has besides its data.
const rowOverhead = 64

// Write adds a row to messages. See storage.Writer.
func (w *Writer) Write(m *storage.Message) error {
	if w.err != nil {
		return w.err
	}
	if int(m.Topic) >= len(w.topics) {
		return w.keep(fmt.Errorf("internal error: a message of topic %d, of %d: %w", m.Topic, len(w.topics), storage.ErrUnsupported))
	}
	if len(m.Data) > maxRow-rowOverhead {
		return w.keep(fmt.Errorf("a message of %d bytes on topic %.200q; SQLite holds at most %d: %w", len(m.Data), w.topics[m.Topic].Name, maxRow-rowOverhead, storage.ErrUnsupported))
	}
	if w.count&255 == 0 && w.ctx.Err() != nil {
		return w.keep(w.ctx.Err())
	}
	if w.flushed {
		return w.keep(errors.New("internal error: a message after Flush"))
	}
	if err := w.loader.Add(int64(m.Topic)+1, m.LogTime, m.Data); err != nil {
		return w.keep(err)
	}
	if w.count == 0 {
		w.start, w.end = m.LogTime, m.LogTime
	}
	w.start, w.end = min(w.start, m.LogTime), max(w.end, m.LogTime)
	w.count++
	w.topics[m.Topic].messages++
	return nil
}

// OnBlock has the pages of messages handed to f. See storage.BlockWriter.
func (w *Writer) OnBlock(f func(storage.PendingBlock) error) { w.loader.OnBuffer(f) }

// Flush ends the rows and hands out the last pages, those of the index too. See
// storage.BlockWriter.
func (w *Writer) Flush() error {
	if w.err != nil {
		return w.err
	}
	w.flushed = true
	return w.keep(w.loader.Flush())
}

// Close finishes the database, writes metadata.yaml and moves the recording to
// its name. See storage.Writer.
func (w *Writer) Close() error {
	if w.closed {
		return w.err
	}
	if w.err == nil {
		_ = w.keep(w.finish())
	}
	if w.err != nil {
		w.err = errors.Join(w.err, w.Abort())
		return w.err
	}
	w.closed = true
	w.err = errors.New("the recording is closed")
	return nil
}

// closeDatabase closes the engine and the file.
func (w *Writer) closeDatabase(sync bool) error {
	err := w.closeEngine()
	if w.loader != nil {
		err = errors.Join(err, w.loader.Close())
		w.loader = nil
	}
	if w.file == nil {
		return err
	}
	if err == nil && sync {
		err = w.file.Sync()
	}
	err = errors.Join(err, w.file.Close())
	w.file = nil
	return err
}

// Abort removes what was written. See storage.Aborter.
func (w *Writer) Abort() error {
	if w.closed {
		return nil
	}
	w.closed = true
	if w.err == nil {
		w.err = errors.New("the recording was aborted")
	}
	// The engine's complaints about a file that is thrown away do not matter.
	_ = w.closeDatabase(false)
	return w.out.Abort()
}

// keep makes err the error of all further calls.
func (w *Writer) keep(err error) error {
	if err != nil && w.err == nil {
		w.err = w.wrap("", err)
	}
	return w.err
}

func (w *Writer) wrap(what string, err error) error {
	var e *storage.Error
	if errors.As(err, &e) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return w.fail(w.out.Final(), what, err)
}

func (w *Writer) fail(path, what string, err error) *storage.Error {
	return &storage.Error{Format: formatName, Path: path, Offset: -1, What: what, Err: err}
}

var (
	_ storage.Aborter     = (*Writer)(nil)
	_ storage.BlockWriter = (*Writer)(nil)
)
