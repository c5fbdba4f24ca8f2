package catalogue

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/storage"
)

// applicationID is in the header of the database, at byte 68: "bagc".
const applicationID = 0x62616763

// sqliteTypes are the types of the kinds.
var sqliteTypes = map[kind]string{text: "TEXT", integer: "INTEGER", real: "REAL", truth: "INTEGER"}

// columnsOf returns the definitions and the names of columns.
func columnsOf[R any](list []column[R]) (definitions, names []string) {
	for _, c := range list {
		d := c.name + " " + sqliteTypes[c.kind]
		if !c.nullable {
			d += " NOT NULL"
		}
		definitions, names = append(definitions, d), append(names, c.name)
	}
	return definitions, names
}

// A sqliteWriter fills the tables. The rows of topics stand in order of their recordings.
type sqliteWriter struct {
	db               *sqlite.DB
	recording, topic *sqlite.Stmt
	id               int64
	recordingArgs    []any
	topicArgs        []any
}

// writeSQLite makes the database in a temporary file, as its pages are not written in order.
func writeSQLite(fsys storage.FS, dir string, w io.Writer, fill func(Writer) error) (err error) {
	f, err := iox.TempFile(fsys, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	db, err := sqlite.Open(sqlite.Options{File: sqlite.Plain{File: f}})
	if err != nil {
		return err
	}
	s := &sqliteWriter{db: db}
	err = s.begin()
	if err == nil {
		err = fill(s)
	}
	s.free()
	if err == nil {
		err = s.end()
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return err
}

// begin makes the tables.
func (s *sqliteWriter) begin() (err error) {
	recordings, recordingNames := columnsOf(recordingColumns)
	topics, topicNames := columnsOf(topicColumns)
	err = s.db.Exec(fmt.Sprintf(`PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;
PRAGMA temp_store=MEMORY; PRAGMA application_id=%d; PRAGMA user_version=%d;
BEGIN;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO meta VALUES ('program', 'bagconv index'), ('schema_version', '%d');
CREATE TABLE recordings (id INTEGER PRIMARY KEY, %s);
CREATE TABLE topics (recording INTEGER NOT NULL REFERENCES recordings(id), %s);
CREATE VIEW catalogue AS SELECT %s, %s FROM recordings LEFT JOIN topics ON recording = id;`,
		applicationID, Version, Version, strings.Join(recordings, ", "), strings.Join(topics, ", "),
		strings.Join(recordingNames, ", "), strings.Join(topicNames, ", ")))
	if err != nil {
		return err
	}
	if s.recording, err = s.db.Prepare("INSERT INTO recordings VALUES (?" + strings.Repeat(", ?", len(recordings)) +
		")"); err != nil {
		return err
	}
	s.topic, err = s.db.Prepare("INSERT INTO topics VALUES (?" + strings.Repeat(", ?", len(topics)) + ")")
	return err
}

// Add adds a recording. See Writer.
func (s *sqliteWriter) Add(r *Recording) error {
	s.id++
	s.recordingArgs = append(s.recordingArgs[:0], s.id)
	for _, c := range recordingColumns {
		s.recordingArgs = append(s.recordingArgs, value(c.at(r)))
	}
	if err := insert(s.recording, s.recordingArgs); err != nil {
		return err
	}
	for i := range r.Topics {
		s.topicArgs = append(s.topicArgs[:0], s.id)
		for _, c := range topicColumns {
			s.topicArgs = append(s.topicArgs, value(c.at(&r.Topics[i])))
		}
		if err := insert(s.topic, s.topicArgs); err != nil {
			return err
		}
	}
	return nil
}

func insert(s *sqlite.Stmt, args []any) error {
	if err := s.Bind(args...); err != nil {
		return err
	}
	_, err := s.Step()
	s.Reset()
	return err
}

// Close does nothing: the indexes are made when all rows are there.
func (s *sqliteWriter) Close() error { return nil }

func (s *sqliteWriter) free() {
	for _, stmt := range []*sqlite.Stmt{s.recording, s.topic} {
		if stmt != nil {
			stmt.Finalize()
		}
	}
}

func (s *sqliteWriter) end() error {
	return s.db.Exec(`CREATE INDEX recordings_path ON recordings(path);
CREATE INDEX recordings_start ON recordings(start_ns);
CREATE INDEX topics_recording ON topics(recording); CREATE INDEX topics_topic ON topics(topic); COMMIT;`)
}

// A sqliteReader goes through both tables at once.
type sqliteReader struct {
	db                *sqlite.DB
	recordings, topic *sqlite.Stmt
	pending           bool // topic stands on a row
	ended             bool // of topics
}

func openSQLite(f storage.File, size int64) (_ Reader, err error) {
	var head [sqlite.HeaderLen]byte
	if size < int64(len(head)) {
		return nil, ErrOther
	}
	if err := iox.ReadFull(f, head[:], 0); err != nil {
		return nil, err
	}
	if id := uint32(head[68])<<24 | uint32(head[69])<<16 | uint32(head[70])<<8 | uint32(head[71]); id != applicationID {
		return nil, ErrOther
	}
	if head[60] != 0 || head[61] != 0 || head[62] != 0 || head[63] != Version {
		return nil, ErrOld
	}
	r := &sqliteReader{}
	r.db, err = sqlite.Open(sqlite.Options{File: sqlite.Plain{File: f}, ReadOnly: true, MaxValue: 1 << 20})
	if err != nil {
		return nil, err
	}
	_, recordings := columnsOf(recordingColumns)
	_, topics := columnsOf(topicColumns)
	r.recordings, err = r.db.Prepare("SELECT id, " + strings.Join(recordings, ", ") + " FROM recordings ORDER BY rowid")
	if err == nil {
		r.topic, err = r.db.Prepare("SELECT recording, " + strings.Join(topics, ", ") + " FROM topics ORDER BY rowid")
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// Next returns the next recording. See Reader.
func (s *sqliteReader) Next() (*Recording, error) {
	more, err := s.recordings.Step()
	if err != nil {
		return nil, err
	}
	if !more {
		return nil, io.EOF
	}
	r := &Recording{}
	if err := scan(s.recordings, recordingColumns, r); err != nil {
		return nil, err
	}
	id := s.recordings.Int(0)
	for {
		if !s.pending && !s.ended {
			if s.pending, err = s.topic.Step(); err != nil {
				return nil, err
			}
			s.ended = !s.pending
		}
		if s.ended || s.topic.Int(0) > id {
			return r, nil
		}
		if s.topic.Int(0) < id || len(r.Topics) == MaxTopics {
			return nil, fmt.Errorf("the table topics is not in order of its recordings: %w", storage.ErrCorrupt)
		}
		var t Topic
		if err := scan(s.topic, topicColumns, &t); err != nil {
			return nil, err
		}
		r.Topics, s.pending = append(r.Topics, t), false
	}
}

// scan reads a row whose first column is a number of its own.
func scan[R any](s *sqlite.Stmt, list []column[R], r *R) error {
	for i, c := range list {
		var v any
		switch col := i + 1; {
		case s.IsNull(col):
		case c.kind == text:
			v = s.Text(col)
		case c.kind == real:
			v = s.Float(col)
		case s.IsInt(col):
			v = s.Int(col)
		}
		if !set(c.at(r), v) {
			return fmt.Errorf("column %s has a value of another type: %w", c.name, storage.ErrCorrupt)
		}
	}
	return nil
}

// Close frees the connection. See Reader.
func (s *sqliteReader) Close() error {
	for _, stmt := range []*sqlite.Stmt{s.recordings, s.topic} {
		if stmt != nil {
			stmt.Finalize()
		}
	}
	return s.db.Close()
}
