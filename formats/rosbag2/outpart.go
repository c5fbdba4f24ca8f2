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
	ros2bag.Part
	w    *writer
	path string // where it is written

	file   storage.File       // nil when it is closed
	stream *streamFile        // the same, if the part is compressed as a whole or goes to a store
	db     *sqlite.DB         // nil while the loader has the file
	loader *sqlitefile.Loader // nil when the rows are settled

	run     *rowRun      // being filled, if messages are compressed one by one
	pending atomic.Int64 // runs that are handed out and not appended
	ended   bool         // it gets no more messages
	notes   notes        // what checkpoints have written
	whole   bool         // it is finished

	bytes  int64   // of messages
	topics []int64 // messages by topic
}

// addPart begins a part.
func (w *writer) addPart() error {
	p := &outPart{w: w, path: w.out.Temp()}
	if p.Name = base(w.out.Final()); !w.single {
		n := len(w.parts)
		if w.add != nil {
			n += w.add.First
		}
		p.Name = db3.PartName(p.Name, n)
		p.path = filepath.Join(p.path, p.Name)
		if w.packing.mode == ros2bag.ModeFile {
			p.path = ros2bag.PackedName(p.path)
			p.stream = &streamFile{level: w.packing.level, foxy: w.packing.foxy}
		}
	}
	if p.stream == nil && iox.IsURL(p.path) {
		p.stream = &streamFile{}
	}
	w.parts = append(w.parts, p)
	return p.create()
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
	p.loader, err = sqlitefile.Open(p.file, sqlitefile.Options{Memory: w.memory, Temp: func() (storage.File, error) {
		return iox.TempFile(w.fs, filepath.Dir(p.path))
	}})
	if err != nil {
		return err
	}
	if p.stream != nil {
		err = p.stream.begin()
	}
	p.handOut()
	return err
}

// empties are databases with tables and without rows, by what SQLite is told when it makes them: it takes as long for
// them as for all else in a small recording. They may be used from several goroutines.
type empties struct {
	mu   sync.Mutex
	made map[emptyKind][]byte
}

type emptyKind struct {
	schema int
	distro string
}

// maxEmpties is how many of them are kept, of some 40 kB each: of a program's own distributions there may be any number.
const maxEmpties = 32

var emptyDatabases = empties{made: map[emptyKind][]byte{}}

// write writes an empty database into the file of a part.
func (e *empties) write(p *outPart) error {
	kind := emptyKind{p.w.profile.Schema, p.w.profile.DistroOf(p.w.options)}
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
	if w.profile.Schema >= 3 {
		tables = append(tables, createSchema)
	}
	if w.profile.Schema >= 4 {
		tables = append(tables, createTopics4+")")
	} else {
		tables = append(tables, createTopics2+")")
	}
	// No reader of an older schema looks at the last two.
	tables = append(tables, createMessages, createMetadata, createDefinitions, createIndex)
	if err := p.db.Exec(strings.Join(tables, ";")); err != nil {
		return err
	}
	if w.profile.Schema >= 3 {
		if err := p.db.Run("INSERT INTO schema (schema_version, ros_distro) VALUES (?, ?)", int64(w.profile.Schema), w.profile.DistroOf(w.options)); err != nil {
			return err
		}
	}
	if err := p.db.Exec("COMMIT"); err != nil {
		return err
	}
	return p.closeEngine()
}

// handOut has the pages of messages handed to who writes them. Messages that are compressed
// one by one are handed out before they are pages.
func (p *outPart) handOut() {
	switch {
	case p.w.packing.mode == ros2bag.ModeFile:
		p.loader.OnBuffer(p.handRun)
	case p.w.hand != nil && p.w.packing.mode == "":
		p.loader.OnBuffer(p.w.hand)
	}
}

// add adds a message.
func (p *outPart) add(m *storage.Message) error {
	if p.w.packing.mode == ros2bag.ModeMessage {
		return p.addRow(int64(m.Topic)+1, m.LogTime, m.Data)
	}
	return p.loader.Add(int64(m.Topic)+1, m.LogTime, m.Data)
}

// flush ends the messages, and hands out what is left of them.
func (p *outPart) flush() error {
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

// note counts a message that was added.
func (p *outPart) note(m *storage.Message) {
	p.Add(m.LogTime)
	p.bytes += int64(len(m.Data))
	if int(m.Topic) >= len(p.topics) {
		p.topics = append(p.topics, make([]int64, len(p.w.topics)-len(p.topics))...)
	}
	p.topics[m.Topic]++
}

// of is how many messages of a topic the part has.
func (p *outPart) of(topic int) int64 {
	if topic >= len(p.topics) {
		return 0
	}
	return p.topics[topic]
}

// open lets SQLite have the file.
func (p *outPart) open() (err error) {
	if err := p.openFile(0); err != nil {
		return err
	}
	if p.db, err = sqlite.Open(sqlite.Options{File: sqlite.Plain{File: p.file}}); err != nil {
		return err
	}
	return p.db.Exec(fmt.Sprintf("PRAGMA page_size=%d; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE", pageSize))
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
	if p.file, err = p.w.fs.OpenFile(p.path, access|flag, 0o666); err != nil {
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

// settle ends the rows. keep leaves the file open for finish.
func (p *outPart) settle(keep bool) error {
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
	if keep || iox.IsURL(p.path) { // where nothing is opened again
		return nil
	}
	err := p.file.Close()
	p.file = nil
	return err
}

// finish writes the small tables and closes the file, unless a checkpoint has done that.
func (p *outPart) finish() error {
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
	meta, err := p.w.metadata(p)
	if err != nil {
		return err
	}
	text, err := meta.Encode(false)
	if err != nil {
		return err
	}
	if err := p.db.Run("INSERT INTO metadata (metadata_version, metadata) VALUES (?, ?)", int64(meta.Version), text); err != nil {
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
	return p.close(p.w.sync)
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
		qos := ros2bag.QoSText(t.QoS, w.profile.QoSNames)
		var err error
		if w.profile.Schema >= 4 {
			err = p.db.Run("INSERT INTO topics (id, name, type, serialization_format, offered_qos_profiles, type_description_hash) VALUES (?, ?, ?, ?, ?, ?)",
				int64(i)+1, t.Name, t.Type, t.Encoding, qos, t.Metadata[storage.MetaTypeHash])
		} else {
			err = p.db.Run("INSERT INTO topics (id, name, type, serialization_format, offered_qos_profiles) VALUES (?, ?, ?, ?, ?)",
				int64(i)+1, t.Name, t.Type, t.Encoding, qos)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
