package rosbag2

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/internal/sqlitefile"
	"github.com/bagconv/bagconv/storage"
)

// An outPart is a database in the making. SQLite makes its tables, empty; the
// loader takes the rows of messages; settle ends them and closes the file, so that
// a recording of many parts has few of them open; finish has SQLite fill in all
// that is small, when the recording has all its topics.
type outPart struct {
	about *ros2bag.OutPart
	w     *writer
	path  string // where it is written

	file   storage.File       // nil when it is closed
	stream *streamFile        // the same, if the part is compressed as a whole or goes to a store
	db     *sqlite.DB         // nil while the loader has the file
	loader *sqlitefile.Loader // nil when the rows are settled

	run     *rowRun      // being filled, if messages are compressed one by one
	pending atomic.Int64 // runs that are handed out and not appended
	ended   bool         // it gets no more messages
	notes   notes        // what checkpoints have written
	whole   bool         // it is finished
}

// begin begins a part.
func (w *writer) begin(about *ros2bag.OutPart, path string) (ros2bag.PartWriter, error) {
	p := &outPart{about: about, w: w, path: path}
	switch {
	case w.Packed:
		p.stream = &streamFile{level: w.packing.level, foxy: w.packing.foxy}
	case iox.IsURL(path):
		p.stream = &streamFile{}
	}
	return p, p.create()
}

// create makes the tables, empty, and leaves the messages to the loader.
func (p *outPart) create() (err error) {
	w := p.w
	if err := p.openFile(os.O_CREATE | os.O_EXCL); err != nil {
		return err
	}
	if err := emptyDatabases.write(p); err != nil {
		return err
	}
	p.loader, err = sqlitefile.Open(p.file, sqlitefile.Options{Memory: w.Options.Memory,
		Temp: func() (storage.File, error) {
			return iox.TempFile(w.FS, filepath.Dir(p.path))
		}})
	if err != nil {
		return err
	}
	if p.stream != nil {
		err = p.stream.begin()
	}
	p.OnBlock(w.State.OnBlock)
	return err
}

// empties are databases with tables and without rows. Making one takes as long as all else in a
// small recording. They may be used from several goroutines.
type empties struct {
	mu   sync.Mutex
	made map[emptyKind][]byte
}

type emptyKind struct {
	schema int
	distro string
}

// maxEmpties is how many empty databases are kept, of some 40 kB each. A program may have any
// number of distributions of its own.
const maxEmpties = 32

var emptyDatabases = empties{made: map[emptyKind][]byte{}}

// write writes an empty database into the file of a part.
func (e *empties) write(p *outPart) error {
	kind := emptyKind{p.w.Profile.Schema, p.w.distro()}
	e.mu.Lock()
	image := e.made[kind]
	e.mu.Unlock()
	if image != nil {
		_, err := p.file.WriteAt(image, 0)
		return err
	}
	if err := p.makeTables(); err != nil || p.stream != nil {
		return err
	}
	st, err := p.file.Stat()
	if err != nil {
		return err
	}
	image = make([]byte, st.Size())
	if err := iox.ReadFull(p.file, image, 0); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.made) < maxEmpties {
		e.made[kind] = image
	}
	return nil
}

// makeTables has SQLite make the tables.
func (p *outPart) makeTables() error {
	w := p.w
	if err := p.open(); err != nil {
		return err
	}
	tables := []string{"BEGIN"}
	if w.Profile.Schema >= 3 {
		tables = append(tables, createSchema)
	}
	if w.Profile.Schema >= 4 {
		tables = append(tables, createTopics4+")")
	} else {
		tables = append(tables, createTopics2+")")
	}
	// No reader of an older schema looks at the last two.
	tables = append(tables, createMessages, createMetadata, createDefinitions, createIndex)
	if err := p.db.Exec(strings.Join(tables, ";")); err != nil {
		return err
	}
	if w.Profile.Schema >= 3 {
		if err := p.db.Run("INSERT INTO schema (schema_version, ros_distro) VALUES (?, ?)", int64(w.Profile.Schema),
			w.distro()); err != nil {
			return err
		}
	}
	if err := p.db.Exec("COMMIT"); err != nil {
		return err
	}
	return p.closeEngine()
}

// distro is the distribution that the tables name.
func (w *writer) distro() string { return w.Profile.DistroOf(w.Options.Metadata) }

// OnBlock hands the pages of messages to f. Messages that are compressed one by one are handed out
// before they are pages. See ros2bag.PartWriter.
func (p *outPart) OnBlock(f func(storage.PendingBlock) error) {
	switch {
	case p.w.packing.mode == ros2bag.ModeFile:
		p.loader.OnBuffer(p.handRun)
	case f != nil && p.w.packing.mode == "":
		p.loader.OnBuffer(f)
	}
}

// add adds a row.
func (p *outPart) add(topic, stamp int64, data []byte) error {
	if p.w.packing.mode == ros2bag.ModeMessage {
		return p.addRow(topic, stamp, data)
	}
	return p.loader.Add(topic, stamp, data)
}

// Cut ends the messages of a part that another part follows. See ros2bag.PartWriter.
func (p *outPart) Cut() error {
	if p.w.live {
		if err := p.checkpoint(); err != nil {
			return err
		}
	}
	return p.Flush(false)
}

// Flush ends the messages, and hands out the last pages and the pages of the index. See
// ros2bag.PartWriter.
func (p *outPart) Flush(bool) error {
	p.ended = true
	if p.w.packing.mode == ros2bag.ModeMessage {
		return p.handRows()
	}
	return p.loader.Flush()
}

// settled reports whether all messages are in the file, so that it can be settled.
func (p *outPart) settled() bool {
	if p.w.packing.mode == ros2bag.ModeMessage {
		return p.ended && p.pending.Load() == 0
	}
	return p.loader.Settled()
}

// open lets SQLite have the file.
func (p *outPart) open() (err error) {
	if err := p.openFile(0); err != nil {
		return err
	}
	if p.db, err = sqlite.Open(sqlite.Options{File: sqlite.Plain{File: p.file}}); err != nil {
		return err
	}
	return p.db.Exec(fmt.Sprintf(
		"PRAGMA page_size=%d; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE", pageSize))
}

// openFile opens the file, if it is closed.
func (p *outPart) openFile(flag int) (err error) {
	if p.file != nil {
		return nil
	}
	access := os.O_RDWR
	if p.stream != nil {
		access = os.O_WRONLY
	}
	if p.file, err = p.w.FS.OpenFile(p.path, access|flag, 0o666); err != nil {
		return err
	}
	if p.stream != nil {
		p.stream.File, p.file = p.file, p.stream
	}
	return nil
}

// closeEngine takes the file back from SQLite.
func (p *outPart) closeEngine() error {
	if p.db == nil {
		return nil
	}
	err := p.db.Close()
	p.db = nil
	return err
}

// Settle ends the rows, and closes the file unless all parts are ended. See ros2bag.PartWriter.
func (p *outPart) Settle(last bool) error {
	if p.loader == nil || !last && !p.settled() {
		return nil
	}
	if r := p.run; r != nil { // not handed out any more: nobody would append it
		p.run = nil
		p.pending.Add(1)
		if err := r.write(); err != nil {
			return err
		}
	}
	if n := p.pending.Load(); n > 0 {
		return fmt.Errorf("internal error: %d runs of messages are not written", n)
	}
	if err := p.loader.Finish(); err != nil {
		return err
	}
	p.loader, p.notes.pages = nil, p.loader.Spare()
	if p.stream != nil {
		p.stream.rows = false
	}
	if last || iox.IsURL(p.path) { // where nothing is opened again
		return nil
	}
	err := p.file.Close()
	p.file = nil
	return err
}

// Complete writes the small tables and closes the file, unless a checkpoint has done that. See
// ros2bag.PartWriter.
func (p *outPart) Complete() error {
	if p.whole {
		return nil
	}
	p.whole = true
	if err := p.open(); err != nil {
		return err
	}
	if err := p.db.Exec("BEGIN"); err != nil {
		return err
	}
	if !p.w.live {
		if err := p.writeTopics(); err != nil {
			return err
		}
	}
	if err := p.writeDefinitions(); err != nil {
		return err
	}
	meta, err := p.w.Metadata(p.about)
	if err != nil {
		return err
	}
	text, err := meta.Encode(false)
	if err != nil {
		return err
	}
	if err := p.db.Run("INSERT INTO metadata (metadata_version, metadata) VALUES (?, ?)", int64(meta.Version),
		text); err != nil {
		return err
	}
	if err := p.db.Exec("COMMIT"); err != nil {
		return err
	}
	if p.w.live { // if there are topics, all else is there: see load
		if err := p.db.Exec("BEGIN"); err != nil {
			return err
		}
		if err := p.writeTopics(); err != nil {
			return err
		}
		if err := p.db.Exec("COMMIT"); err != nil {
			return err
		}
	}
	if err := p.closeEngine(); err != nil {
		return err
	}
	if err := sqlitefile.Free(p.file, pageSize, p.notes.pages); err != nil {
		return err
	}
	if p.stream != nil {
		if err := p.stream.finish(); err != nil {
			return err
		}
	}
	return p.close(!p.w.Options.NoSync)
}

// Close drops what is open: the engine's complaints about a file that is thrown away do not
// matter. See ros2bag.PartWriter.
func (p *outPart) Close() error {
	_ = p.close(false)
	return nil
}

// close closes what is open.
func (p *outPart) close(sync bool) error {
	err := p.closeEngine()
	if p.loader != nil {
		err = errors.Join(err, p.loader.Close())
		p.loader = nil
	}
	if p.file == nil {
		return err
	}
	if err == nil && sync {
		err = iox.Sync(p.file)
	}
	err = errors.Join(err, p.file.Close())
	p.file = nil
	return err
}

// writeTopics fills the table of topics. It is the last moment: a topic may get
// another publisher until then.
func (p *outPart) writeTopics() error {
	w := p.w
	for i := range w.topics {
		t := &w.topics[i]
		qos := ros2bag.QoSText(t.QoS, w.Profile.QoSNames)
		var err error
		if w.Profile.Schema >= 4 {
			err = p.db.Run("INSERT INTO topics (id, name, type, serialization_format, offered_qos_profiles, "+
				"type_description_hash) VALUES (?, ?, ?, ?, ?, ?)",
				int64(i)+1, t.Name, t.Type, t.Encoding, qos, t.Metadata[storage.MetaTypeHash])
		} else {
			err = p.db.Run("INSERT INTO topics (id, name, type, serialization_format, offered_qos_profiles) VALUES (?, ?, ?, "+
				"?, ?)",
				int64(i)+1, t.Name, t.Type, t.Encoding, qos)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
