package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A writer writes one export. See storage.Writer and storage.BlockWriter.
type writer struct {
	ctx    context.Context
	kind   *kind
	set    settings
	path   string
	place  place
	names  *names
	single bool // the output is the table of the only topic

	joined *joiner // nil: each topic has a table of its own
	chain  *chain  // nil: none is asked for

	topics     []*topic
	refused    []topicKey // topics whose definition does not fit
	hand       func(storage.PendingBlock) error
	blockBytes int   // of messages in a block
	grown      int   // what blockBytes becomes, twice as much with each block
	openBytes  int   // of messages in all blocks that are not full
	rounds     bool  // all blocks are handed out together
	last       int64 // log time of the last message
	spare      sync.Mutex
	spares     []*block
	batches    batches

	err      error // the first one; every further call returns it
	started  bool  // a message came
	finished bool
}

// A place is where the files of an export are written.
type place interface {
	// create begins a file at a path with slashes.
	create(name string) (io.WriteCloser, error)

	// begin is called before the first message, when the topics are known.
	begin(w *writer) error

	// finish ends the output when all files of topics are closed. path is where it can be read until commit.
	finish(w *writer, topics []IndexTopic, whole []IndexFile) (path string, err error)

	commit() error

	// close removes what was not committed.
	close() error
}

// topicKey is what a topic is known by.
type topicKey struct{ name, typ, encoding string }

// Limits of a block, and of the blocks that take messages.
const (
	maxRows     = 128 << 10
	maxBlock    = 8 << 20
	minBlock    = 1 << 20
	spareBlocks = 2
)

// blockBytes returns how many bytes of messages a block has, of what a writer may keep.
func blockBytes(memory int64) int {
	return min(max(int(cmp.Or(memory, 8*maxBlock)/8), minBlock), maxBlock)
}

// create starts an export. See storage.Format.
func create(ctx context.Context, k *kind, options storage.Options, path string, o storage.WriteOptions) (storage.Writer,
	error) {
	set, err := settingsOf(options, &o)
	if err == nil && k.single(path) {
		err = set.single(o.Values)
	}
	if err != nil {
		return nil, &storage.Error{Format: k.format.Name, Path: path, Offset: -1, What: "option", Err: err}
	}
	w := &writer{ctx: ctx, kind: k, set: set, path: path, single: k.single(path), names: newNames()}
	w.blockBytes = blockBytes(o.Memory)
	if set.join.on() && k.open == nil {
		err := &storage.OptionError{Name: nameResample, What: "arrays of NumPy are no table",
			Hint: "choose another format, such as " + Default}
		return nil, &storage.Error{Format: k.format.Name, Path: path, Offset: -1, What: "option", Err: err}
	}
	if set.Places && k.open == nil {
		err := &storage.OptionError{Name: nameBlobs, What: "arrays of NumPy have no bytes", Hint: "omit it"}
		return nil, &storage.Error{Format: k.format.Name, Path: path, Offset: -1, What: "option", Err: err}
	}
	if iox.IsURL(path) && k.open == nil {
		return nil, &storage.Error{Format: k.format.Name, Path: path, Offset: -1, What: "create",
			Hint: "write to a disk, and copy the folder; or choose another format",
			Err: fmt.Errorf("%w: the number of rows is at the begin of an array, and an object cannot be changed",
				storage.ErrUnsupported)}
	}
	w.join()
	if set.chain[0] != "" && !w.single {
		w.chain = &chain{target: set.chain[0], source: set.chain[1], parents: map[string]string{}}
	}
	if w.place, err = newFolder(w, &o); err != nil {
		return nil, err
	}
	if w.single {
		return &tableWriter{w, w, w, w}, nil
	}
	return w, nil
}

// join makes the output one table of all topics, if that is asked for.
func (w *writer) join() {
	if w.set.join.on() {
		w.joined = &joiner{set: w.set.join}
	}
}

// A tableWriter is a Writer of a single table, which has no place for attachments and metadata records.
type tableWriter struct {
	storage.Writer
	storage.BlockWriter
	storage.LossLister
	placeWriter
}

// A placeWriter is the recording.PlaceWriter of this package.
type placeWriter interface {
	WriteAt(m *storage.Message, file string, offset int64) error
	WantsPlaces() bool
}

// Identity returns that a table has one type. See storage.Writer.
func (w *writer) Identity() storage.Identity { return storage.IdentityType }

// CreateTopic begins the files of a topic. A topic whose messages cannot be read is refused with
// storage.ErrUnsupported. See storage.Writer.
func (w *writer) CreateTopic(t storage.Topic) (storage.TopicID, error) {
	if w.err != nil {
		return 0, w.err
	}
	key := topicKey{t.Name, t.Type, t.Encoding}
	if slices.Contains(w.refused, key) {
		return 0, w.wrap("topic "+t.Name, storage.ErrUnsupported) // without its definition it would be another one
	}
	if w.single && len(w.topics) > 0 && w.joined == nil {
		return 0, w.fail(fmt.Errorf(
			"%s is the table of one topic, and %s and %s are selected; name a folder, or one of them with -t",
			w.path, w.topics[0].Name, t.Name))
	}
	out := &topic{Topic: t, w: w}
	out.QoS, out.Metadata, out.Schema.Data = slices.Clone(t.QoS), maps.Clone(t.Metadata), slices.Clone(t.Schema.Data)
	if err := w.begin(out); errors.Is(err, storage.ErrUnsupported) || errors.Is(err, storage.ErrCorrupt) {
		w.refused = append(w.refused, key)
		return 0, err
	} else if err != nil {
		return 0, w.fail(err)
	}
	w.topics = append(w.topics, out)
	return storage.TopicID(len(w.topics) - 1), nil
}

// begin decides what becomes of a topic, and begins its files.
func (w *writer) begin(t *topic) error {
	r, err := readerOf(&t.Topic)
	if err != nil {
		return err
	}
	if w.joined != nil {
		return w.joined.add(w, t, r)
	}
	more, whole, err := w.beside(t, r)
	if err != nil {
		return err
	}
	switch {
	case whole:
	case w.kind.open == nil:
		x, err := newArrays(w, t, r)
		if err != nil {
			return err
		}
		t.products = append(t.products, x)
	default:
		x, err := newTable(w, &t.Topic, r, w.tableName(t))
		if err != nil {
			return err
		}
		t.products = append(t.products, x)
		if x.program.Places() && len(more) == 0 {
			t.placed = &placedTable{x: x, t: t, batch: w.batches.take(x)}
		}
	}
	t.products = append(t.products, more...)
	return nil
}

// tableName returns where the table of a topic is.
func (w *writer) tableName(t *topic) string {
	if w.single {
		return path.Base(filepath.ToSlash(w.path))
	}
	if w.set.layout == "hive" {
		return w.names.hive(t.Name, w.kind.ext) + w.kind.ext
	}
	return w.names.take(t.Name, w.kind.ext) + w.kind.ext
}

// Write adds a message to the block of its topic. See storage.Writer.
func (w *writer) Write(m *storage.Message) error {
	if w.err != nil {
		return w.err
	}
	if int64(m.Topic) >= int64(len(w.topics)) {
		return w.fail(fmt.Errorf("there is no topic %d", m.Topic))
	}
	if err := w.beginOnce(); err != nil {
		return w.fail(err)
	}
	if w.joined != nil {
		return w.writeJoined(m)
	}
	t := w.topics[m.Topic]
	if t.placed != nil {
		return w.writePlaced(t, m, "", 0)
	}
	if b := t.open; b != nil && len(b.data)+len(m.Data) > w.blockBytes {
		if err := w.handOutFull(t); err != nil {
			return err
		}
	}
	if t.open == nil {
		t.open = w.take(t)
	}
	t.open.add(m, w.blockBytes)
	w.openBytes += len(m.Data)
	w.last = m.LogTime
	if len(t.open.rows) == maxRows || len(t.open.data) >= w.blockBytes || t.single {
		return w.handOutFull(t)
	}
	if w.openBytes > w.blockBytes*3/2 {
		return w.relieve()
	}
	return nil
}

// WriteAt adds a message that lies in a file. See recording.PlaceWriter.
func (w *writer) WriteAt(m *storage.Message, file string, offset int64) error {
	if w.err != nil || w.joined != nil || int64(m.Topic) >= int64(len(w.topics)) || w.topics[m.Topic].placed == nil {
		return w.Write(m)
	}
	if err := w.beginOnce(); err != nil {
		return w.fail(err)
	}
	return w.writePlaced(w.topics[m.Topic], m, file, offset)
}

// WantsPlaces reports whether tables have places. See recording.PlaceWriter.
func (w *writer) WantsPlaces() bool { return w.set.Places }

// writePlaced adds a message to a table with places.
func (w *writer) writePlaced(t *topic, m *storage.Message, file string, offset int64) error {
	size, err := t.placed.add(m, file, offset)
	if err != nil { // it is full
		if err = w.handOutFull(t); err == nil {
			size, err = t.placed.add(m, file, offset)
		}
		if err != nil {
			return w.fail(err)
		}
	}
	w.openBytes += size
	if w.last = m.LogTime; t.placed.size >= w.blockBytes || len(t.placed.rows) >= maxRows ||
		w.rounds && w.openBytes > w.blockBytes*3/2 {
		return w.handOutFull(t)
	}
	return nil
}

// handOutFull hands out what a topic has, in rounds together with what all others have.
func (w *writer) handOutFull(t *topic) error {
	if w.blockBytes < w.grown {
		w.blockBytes = min(2*w.blockBytes, w.grown)
	}
	if !w.rounds {
		return w.handOut(t)
	}
	for _, t := range w.topics {
		if err := w.handOut(t); err != nil {
			return err
		}
	}
	return w.handTo(&mark{w.place.(*stream), w.last})
}

// beginOnce makes what needs to know all topics.
func (w *writer) beginOnce() error {
	if w.started {
		return nil
	}
	w.started = true
	if w.joined != nil {
		if err := w.joined.begin(w); err != nil {
			return err
		}
	}
	if err := w.set.used(); err != nil {
		return err
	}
	return w.place.begin(w)
}

// writeJoined adds a message to the joined table.
func (w *writer) writeJoined(m *storage.Message) error {
	if err := w.joined.message(w.joined.topics[m.Topic], m); err != nil {
		return w.fail(err)
	}
	return nil
}

// relieve hands out the blocks that are larger than the average.
func (w *writer) relieve() error {
	if w.rounds {
		return w.handOutFull(nil)
	}
	blocks := 0
	for _, t := range w.topics {
		if t.open != nil {
			blocks++
		}
	}
	average := w.openBytes / blocks
	for _, t := range w.topics {
		if t.open != nil && len(t.open.data) >= average {
			if err := w.handOut(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// handOut gives the block of a topic to the caller, or encodes it here; there may be no block.
func (w *writer) handOut(t *topic) error {
	if t.placed != nil && len(t.placed.rows) > 0 {
		w.openBytes -= t.placed.size
		if err := w.handTo(t.placed.take()); err != nil {
			return err
		}
	}
	b := t.open
	if b == nil {
		return nil
	}
	t.open = nil
	w.openBytes -= len(b.data)
	return w.handTo(b)
}

// handTo gives a block to the caller, or encodes and appends it here.
func (w *writer) handTo(b storage.PendingBlock) (err error) {
	if w.hand != nil {
		err = w.hand(b)
	} else if err = b.Encode(); err == nil {
		err = b.Append()
	}
	if err != nil {
		return w.fail(err)
	}
	return nil
}

// take returns an empty block.
func (w *writer) take(t *topic) *block {
	w.spare.Lock()
	defer w.spare.Unlock()
	if n := len(w.spares); n > 0 {
		b := w.spares[n-1]
		w.spares = w.spares[:n-1]
		b.t, b.data, b.rows = t, b.data[:0], b.rows[:0]
		return b
	}
	return &block{t: t}
}

// recycle keeps a block to be used again.
func (w *writer) recycle(b *block) {
	clear(b.made)
	w.spare.Lock()
	defer w.spare.Unlock()
	if len(w.spares) < spareBlocks && cap(b.data) <= 2*maxBlock {
		w.spares = append(w.spares, b)
	}
}

// OnBlock hands full blocks to f. See storage.BlockWriter.
func (w *writer) OnBlock(f func(storage.PendingBlock) error) { w.hand = f }

// Flush hands out the blocks that are not full, if no more messages follow: nothing can be read before the end.
// See storage.BlockWriter.
func (w *writer) Flush(more bool) error {
	if w.err != nil || more {
		return w.err
	}
	for _, t := range w.topics {
		if err := w.handOut(t); err != nil {
			return err
		}
	}
	if w.joined == nil {
		return nil
	}
	if err := w.beginOnce(); err != nil {
		return w.fail(err)
	}
	if err := w.joined.end(); err != nil || w.joined.batch.Len() == 0 {
		return err
	}
	return w.handTo(w.joined.take())
}

// Finish ends the files. See storage.Writer.
func (w *writer) Finish() (out storage.Output, err error) {
	if w.err != nil {
		return out, w.err
	}
	w.hand = nil // nobody would append a block any more
	if w.single && len(w.topics) == 0 {
		return out, w.fail(errors.New("no topic can be written as a table"))
	}
	if err := w.beginOnce(); err != nil {
		return out, w.fail(err)
	}
	if err := w.Flush(false); err != nil {
		return out, err
	}
	topics := []IndexTopic{}
	for _, t := range w.topics {
		var all []IndexFile
		for _, p := range t.products {
			files, err := p.finish()
			if err != nil {
				return out, w.fail(err)
			}
			all = append(all, files...)
		}
		topics = append(topics, topicIndex(t, all))
	}
	var whole []IndexFile
	if w.joined != nil {
		f, err := w.joined.finish()
		if err != nil {
			return out, w.fail(err)
		}
		whole = append(whole, f)
	}
	if w.chain != nil {
		f, err := w.chain.finish(w)
		if err != nil {
			return out, w.fail(err)
		}
		whole = append(whole, f)
	}
	if out.Path, err = w.place.finish(w, topics, whole); err != nil {
		return out, w.fail(err)
	}
	w.finished = true
	return out, nil
}

// Commit gives the export its name. See storage.Writer.
func (w *writer) Commit() error {
	if !w.finished {
		if _, err := w.Finish(); err != nil {
			return err
		}
	}
	return w.place.commit()
}

// Close removes an export that was not committed. See storage.Writer.
func (w *writer) Close() error {
	if w.err == nil {
		w.err = errors.New("the export is closed")
	}
	for _, t := range w.topics {
		for _, p := range t.products {
			if p, ok := p.(interface{ abort() }); ok {
				p.abort()
			}
		}
	}
	return w.place.close()
}

// fail keeps the first error.
func (w *writer) fail(err error) error {
	if w.err == nil {
		w.err = err
	}
	return err
}

func (w *writer) wrap(what string, err error) error {
	return &storage.Error{Format: w.kind.format.Name, Path: w.path, Offset: -1, What: what, Err: err}
}
