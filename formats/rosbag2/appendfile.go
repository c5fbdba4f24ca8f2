package rosbag2

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/internal/inplace"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/storage"
)

// A fileWriter adds rows to a database that is a recording by itself, in one transaction of SQLite: pages that
// change stand in its rollback journal until Commit removes it; see sqlite.Rollback.
type fileWriter struct {
	state chunked.State
	path  string
	fs    storage.FS
	old   *oldFile

	file     *inplace.File // locked
	rollback *sqlite.Rollback
	db       *sqlite.DB // nil after Commit
	insert   *sqlite.Stmt

	topics []addedTopic // index = TopicID
	index  map[ros2bag.TopicKey]bool
	lastID int64        // of topics in the database
	added  ros2bag.Part // the messages
}

// An addedTopic is a topic of a fileWriter.
type addedTopic struct {
	outTopic
	id       int64 // in the database
	old      bool  // which has it already
	messages int64
}

// fileCache is how much SQLite keeps of the pages that change, in bytes, before it writes
// some of them.
const fileCache = 32 << 20

// appendToFile starts to add to the database at path.
func appendToFile(ctx context.Context, path string, o storage.WriteOptions) (_ storage.Writer,
	_ []storage.Topic, err error) {
	w := &fileWriter{path: path, index: map[ros2bag.TopicKey]bool{}}
	w.state = chunked.State{Ctx: ctx, Fail: w.wrap}
	if err := options.Check(&o); err != nil {
		return nil, nil, w.wrap("option", err)
	}
	if o.Compression != "" && o.Compression != "none" || o.SegmentSize > 0 || o.SegmentDuration > 0 {
		return nil, nil, w.wrap("what is added to a single file, compressed or in segments", storage.ErrUnsupported)
	}
	w.fs = iox.FS(o.FS)
	if w.file, err = lockFile(ctx, w.fs, path, o.NoSync); err != nil {
		return nil, nil, w.wrap("database to be added to", err)
	}
	if w.old, err = readOldFile(ctx, w.fs, path); err == nil {
		err = w.begin(o)
	}
	if err != nil {
		return nil, nil, errors.Join(w.wrap("database to be added to", err), w.Close())
	}
	for i := range w.old.rows {
		w.lastID = max(w.lastID, w.old.rows[i].id)
	}
	return w, w.old.topics, nil
}

// lossHint is the next step if something would be lost.
const lossHint = "make a sound copy first: bagconv recover IN OUT"

// lockFile opens and locks a database against bagconv and SQLite, and undoes what a killed addition has left.
func lockFile(ctx context.Context, fsys storage.FS, path string, noSync bool) (_ *inplace.File, err error) {
	f, err := inplace.Open(ctx, path, inplace.Options{Format: formatName, Read: openReader, Hint: lossHint, FS: fsys,
		NoSync: noSync})
	if err != nil {
		return nil, err
	}
	if err = sqlite.Lock(f.File); err == nil {
		var added bool
		if added, err = addedJournal(fsys, path); added {
			err = sqlite.Undo(f.File, *rollbackOf(fsys, path, noSync))
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// rollbackOf returns how a database is changed. The journal lies beside the file that a link leads to.
func rollbackOf(fsys storage.FS, path string, noSync bool) *sqlite.Rollback {
	return &sqlite.Rollback{FS: fsys, Path: inplace.RealPath(path), NoSync: noSync}
}

// begin lets the engine have the database.
func (w *fileWriter) begin(o storage.WriteOptions) error {
	raw, err := w.file.Release(w.old.head.Size())
	if err != nil {
		return err
	}
	w.rollback = rollbackOf(w.fs, w.path, o.NoSync)
	main := sqlite.Changed{Plain: sqlite.Plain{File: raw}, WAL: w.old.head.WAL}
	if w.db, err = sqlite.Open(sqlite.Options{File: main, Foreign: true, Rollback: w.rollback}); err != nil {
		return err
	}
	cache := int64(fileCache)
	if o.Memory > 0 {
		cache = min(cache, o.Memory/2)
	}
	sync := "EXTRA" // after Commit a power cut loses nothing
	if o.NoSync {
		sync = "OFF"
	}
	err = w.db.Exec(fmt.Sprintf("PRAGMA synchronous=%s; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-%d; BEGIN", sync,
		cache>>10))
	if err != nil {
		return err
	}
	w.insert, err = w.db.Prepare("INSERT INTO messages (topic_id, timestamp, data) VALUES (?, ?, ?)")
	return err
}

// Identity returns that readers know topics by name, type and encoding. See storage.Writer.
func (w *fileWriter) Identity() storage.Identity { return storage.IdentityType }

// CreateTopic makes a topic known, or continues a topic that is there. See Writer.CreateTopic.
func (w *fileWriter) CreateTopic(t storage.Topic) (storage.TopicID, error) {
	if err := w.state.Usable(); err != nil {
		return 0, err
	}
	if t.Encoding == "" {
		t.Encoding = encoding
	}
	if err := ros2bag.Continue(w.old.topics, &t); err != nil {
		return 0, w.wrap("", err)
	}
	key := ros2bag.TopicKey{Name: t.Name, Type: t.Type, Encoding: t.Encoding}
	if w.index[key] {
		return 0, w.wrap(fmt.Sprintf("a second topic %.200q of type %.200q", t.Name, t.Type), storage.ErrUnsupported)
	}
	w.index[key] = true
	t.QoS, t.Metadata, t.Schema.Data = slices.Clone(t.QoS), maps.Clone(t.Metadata), slices.Clone(t.Schema.Data)
	added := addedTopic{outTopic: outTopic{Topic: t}}
	i := slices.IndexFunc(w.old.rows, func(r topicRow) bool {
		return ros2bag.TopicKey{Name: r.name, Type: r.typ,
			Encoding: r.format} == key
	})
	if i >= 0 {
		added.id, added.old = w.old.rows[i].id, true
	} else {
		w.lastID++
		added.id = w.lastID
	}
	w.topics = append(w.topics, added)
	return storage.TopicID(len(w.topics) - 1), nil
}

// Write adds a row to messages. See storage.Writer.
func (w *fileWriter) Write(m *storage.Message) error {
	if err := w.state.Usable(); err != nil {
		return err
	}
	switch {
	case int(m.Topic) >= len(w.topics):
		return w.stop(fmt.Errorf("internal error: a message of topic %d, of %d: %w", m.Topic, len(w.topics),
			storage.ErrUnsupported))
	case len(m.Data) > sqlite.MaxRow-rowOverhead:
		return w.stop(tooLarge(len(m.Data), w.topics[m.Topic].Name))
	case w.added.Messages&255 == 0 && w.state.Ctx.Err() != nil:
		return w.stop(w.state.Ctx.Err())
	}
	t := &w.topics[m.Topic]
	if err := w.insert.Bind(t.id, m.LogTime, m.Data); err != nil {
		return w.stop(err)
	}
	if _, err := w.insert.Step(); err != nil {
		return w.stop(err)
	}
	w.insert.Reset()
	t.messages++
	w.added.Add(m.LogTime)
	return nil
}

// Finish adds the rows of other tables. See storage.Writer.
func (w *fileWriter) Finish() (storage.Output, error) {
	return w.state.Finish(func() error { return w.wrap("", w.finish()) }, "")
}

// Commit ends the transaction, if the reader finds all that it has found before. See storage.Writer.
func (w *fileWriter) Commit() error {
	err := w.state.Commit(w.Finish, func() error {
		if !w.adds() {
			return nil
		}
		return w.commit()
	})
	if err != nil {
		return err
	}
	return w.Close()
}

func (w *fileWriter) commit() error {
	w.insert.Finalize()
	w.insert = nil
	var lost error
	w.rollback.Prove = func() error {
		lost = w.prove()
		return lost
	}
	if err := w.db.Exec("COMMIT"); err != nil {
		return cmp.Or(lost, err)
	}
	err := w.db.Close()
	w.db = nil
	return err
}

// prove makes the proof that nothing is lost: as the file is now, its journal hides what is added.
func (w *fileWriter) prove() error {
	after := inplace.NewView(w.fs)
	after.Hide(w.rollback.Path + sqlite.JournalSuffix)
	proof := inplace.Proof{Format: formatName, Path: w.rollback.Path, Open: openReader, Hint: lossHint,
		Before: inplace.NewView(w.fs), After: after}
	return proof.Run(w.state.Ctx)
}

// adds reports whether there is anything to be committed.
func (w *fileWriter) adds() bool {
	return w.added.Messages > 0 || slices.ContainsFunc(w.topics, func(t addedTopic) bool { return !t.old })
}

// Close removes what was not committed. See storage.Writer.
func (w *fileWriter) Close() (err error) {
	w.state.Close()
	if w.insert != nil {
		w.insert.Finalize()
		w.insert = nil
	}
	if w.db != nil {
		_ = w.db.Drop() // what it has to say about pages that are dropped does not matter
		w.db = nil
	}
	if w.file != nil {
		err = errors.Join(err, w.file.Close())
		w.file = nil
	}
	return err
}

// stop makes err the error of all further calls.
func (w *fileWriter) stop(err error) error { return w.state.Stop(w.wrap("", err)) }

func (w *fileWriter) wrap(what string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return db3.Wrap(w.path, what, err)
}

var _ storage.Writer = (*fileWriter)(nil)

// An oldFile is what is known of a database before anything is added.
type oldFile struct {
	topics []storage.Topic
	counts []int64    // messages of each
	rows   []topicRow // of the table of topics
	head   sqlite.Header
	tables tables
	defs   map[string]definition
	row    *ros2bag.Metadata // the last row of the table of metadata; nil: the table has no rows
	distro string
	all    ros2bag.Part // the messages
}

// readOldFile reads a database that must be a sound recording by itself, in which no process
// writes.
func readOldFile(ctx context.Context, fsys storage.FS, path string) (old *oldFile, err error) {
	if _, err := fsys.Stat(filepath.Join(filepath.Dir(path), ros2bag.MetadataName)); err == nil {
		return nil, fmt.Errorf("a part of a folder with %s: add to the folder: %w", ros2bag.MetadataName,
			storage.ErrUnsupported)
	}
	src, err := openEager(ctx, path, storage.ReadOptions{FS: fsys, Strict: true}, eagerBytes)
	if storage.IsDamage(err) {
		return nil, fmt.Errorf("it is damaged (%w): make a sound copy first: bagconv recover IN OUT", err)
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	r := src.(*reader)
	if len(r.parts) != 1 {
		return nil, fmt.Errorf("%d databases: %w", len(r.parts), storage.ErrUnsupported)
	}
	p := r.parts[0]
	if st, err := fsys.Stat(path + walSuffix); p.overlay != nil || err == nil && st.Size() > 0 {
		return nil, fmt.Errorf("a log or a journal lies beside it: have the recorder end, or merge the recordings "+
			"into a new one: %w", storage.ErrUnsupported)
	}
	if p.temp != nil || p.zstdRows {
		return nil, fmt.Errorf("it is compressed: merge the recordings into a new one: %w", storage.ErrUnsupported)
	}
	old = &oldFile{
		rows: p.topics, head: p.head, tables: p.tables, defs: p.defs, row: r.row, distro: p.distro,
		all: ros2bag.Part{Name: base(path), Start: r.start, End: r.end},
	}
	for i := range r.Topics.List {
		old.topics = append(old.topics, r.Topics.List[i].Topic)
		old.counts = append(old.counts, r.Topics.List[i].Messages)
		old.all.Messages += r.Topics.List[i].Messages
	}
	return old, nil
}
