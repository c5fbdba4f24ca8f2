package rosbag2

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/storage"
)

// The tables, and what each schema added. Source: ros2/rosbag2
// rosbag2_storage_sqlite3/src/rosbag2_storage_sqlite3/sqlite_storage.cpp.
//
//	schema 1  topics(id, name, type, serialization_format)
//	          messages(id, topic_id, timestamp, data), and the index timestamp_idx from Dashing on
//	       2  topics + offered_qos_profiles
//	       3  schema(schema_version, ros_distro), metadata(id, metadata_version, metadata)
//	       4  topics + type_description_hash
//	          message_definitions(id, topic_type, encoding, encoded_message_definition, type_description_hash)
const (
	createTopics2 = "CREATE TABLE topics(id INTEGER PRIMARY KEY,name TEXT NOT NULL,type TEXT NOT " +
		"NULL,serialization_format TEXT NOT NULL,offered_qos_profiles TEXT NOT NULL"
	createTopics4  = createTopics2 + ",type_description_hash TEXT NOT NULL"
	createMessages = "CREATE TABLE messages(id INTEGER PRIMARY KEY,topic_id INTEGER NOT NULL,timestamp INTEGER NOT " +
		"NULL,data BLOB NOT NULL)"
	createSchema   = "CREATE TABLE schema(schema_version INTEGER PRIMARY KEY,ros_distro TEXT NOT NULL)"
	createMetadata = "CREATE TABLE metadata(id INTEGER PRIMARY KEY,metadata_version INTEGER NOT NULL,metadata TEXT " +
		"NOT NULL)"
	createDefinitions = "CREATE TABLE message_definitions(id INTEGER PRIMARY KEY,topic_type TEXT NOT NULL,encoding TEXT " +
		"NOT NULL,encoded_message_definition TEXT NOT NULL,type_description_hash TEXT NOT NULL)"
	createIndex = "CREATE INDEX timestamp_idx ON messages (timestamp ASC)"
)

// tables is what tables and columns a database has.
type tables struct {
	schema     int  // 1 to 4, or what the table schema says
	timeIndex  bool // there is an index that begins with the timestamp
	indexName  string
	format     bool // topics.serialization_format; one pre-release lacks it
	qos        bool
	hash       bool
	definition bool // message_definitions
	metadata   bool
}

// topicRow is a row of topics.
type topicRow struct {
	id                           int64
	name, typ, format, qos, hash string
}

// definition is a row of message_definitions. Its text is the definition of all topics of the type.
type definition struct {
	encoding string
	text     []byte
}

// readTables reads all but the messages.
func (p *part) readTables(d *sqlite.DB, warn ros2bag.Warner) error {
	if err := p.readSchema(d); err != nil {
		return err
	}
	columns := []string{"id", "name", "type"}
	for _, c := range []struct {
		have bool
		name string
	}{{p.tables.format, "serialization_format"}, {p.tables.qos, "offered_qos_profiles"},
		{p.tables.hash, "type_description_hash"}} {
		if c.have {
			columns = append(columns, c.name)
		} else {
			columns = append(columns, "''")
		}
	}
	err := d.Query("SELECT "+strings.Join(columns, ",")+" FROM topics ORDER BY id", func(s *sqlite.Stmt) error {
		if n := len(p.topics); n > 0 && s.Int(0) <= p.topics[n-1].id {
			return fmt.Errorf("topic id %d comes after %d: %w", s.Int(0), p.topics[n-1].id, storage.ErrCorrupt)
		}
		p.topics = append(p.topics, topicRow{s.Int(0), s.Text(1), s.Text(2), s.Text(3), s.Text(4), s.Text(5)})
		return nil
	})
	if err != nil {
		return fmt.Errorf("table of topics: %w", err)
	}
	if !p.tables.format {
		for i := range p.topics {
			p.topics[i].format = "cdr"
		}
	}
	if p.tables.definition {
		p.defs = map[string]definition{}
		err := d.Query("SELECT topic_type, encoding, encoded_message_definition FROM message_definitions ORDER BY id",
			func(s *sqlite.Stmt) error {
				if _, ok := p.defs[s.Text(0)]; !ok {
					p.defs[s.Text(0)] = definition{s.Text(1), slices.Clone(s.Bytes(2))}
				}
				return nil
			})
		if err = p.damaged(err, warn, "the table of message definitions ends early"); err != nil {
			return err
		}
	}
	if p.tables.metadata {
		err := d.Query("SELECT metadata FROM metadata ORDER BY id DESC LIMIT 1", func(s *sqlite.Stmt) error {
			p.last = s.Text(0)
			return nil
		})
		if err = p.damaged(err, warn, "the table of metadata cannot be read"); err != nil {
			return err
		}
	}
	return p.readRange(d)
}

// damaged turns damage into a warning, and leaves other errors.
func (p *part) damaged(err error, warn ros2bag.Warner, what string) error {
	if storage.IsDamage(err) {
		return warn("corrupt", p.cut == "", "%s: %v", what, err)
	}
	return err
}

// readSchema finds out which tables and columns there are.
func (p *part) readSchema(d *sqlite.DB) error {
	t := &p.tables
	names := map[string]bool{}
	err := d.Query("SELECT type, name, tbl_name, sql FROM sqlite_master", func(s *sqlite.Stmt) error {
		kind, name, table := s.Text(0), s.Text(1), s.Text(2)
		switch {
		case kind == "table":
			names[name] = true
		case kind == "index" && table == "messages":
			_, columns, _ := strings.Cut(strings.ToLower(s.Text(3)), "(")
			if strings.HasPrefix(strings.TrimLeft(columns, "\"`[ "), "timestamp") {
				t.timeIndex, t.indexName = true, name
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("database schema: %w", err)
	}
	if len(names) == 0 && p.total > 2*int64(p.head.Page) {
		return fmt.Errorf("the database schema is empty: %w", storage.ErrCorrupt)
	}
	if !names["topics"] || !names["messages"] {
		return fmt.Errorf("the database has no tables topics and messages: it is not a rosbag2 recording: %w",
			storage.ErrUnsupported)
	}
	columns, err := columnsOf(d, "topics")
	if err != nil {
		return err
	}
	t.format = slices.Contains(columns, "serialization_format")
	t.qos = slices.Contains(columns, "offered_qos_profiles")
	t.hash = slices.Contains(columns, "type_description_hash")
	t.schema = 1
	if t.qos {
		t.schema = 2
	}
	if names["metadata"] {
		columns, err := columnsOf(d, "metadata")
		if err != nil {
			return err
		}
		t.metadata = slices.Contains(columns, "metadata") && slices.Contains(columns, "id")
	}
	if names["message_definitions"] {
		columns, err := columnsOf(d, "message_definitions")
		if err != nil {
			return err
		}
		t.definition = true
		for _, c := range []string{"id", "topic_type", "encoding", "encoded_message_definition"} {
			t.definition = t.definition && slices.Contains(columns, c)
		}
	}
	if names["schema"] {
		err := d.Query("SELECT schema_version, ros_distro FROM schema LIMIT 1", func(s *sqlite.Stmt) error {
			t.schema, p.distro = int(s.Int(0)), s.Text(1)
			return nil
		})
		if err != nil && !storage.IsDamage(err) {
			return err
		}
	}
	return nil
}

func columnsOf(d *sqlite.DB, table string) (names []string, err error) {
	err = d.Query("PRAGMA table_info("+table+")", func(s *sqlite.Stmt) error {
		names = append(names, strings.ToLower(strings.TrimSpace(s.Text(1))))
		return nil
	})
	return names, err
}

// readRange finds the first and last rowid.
func (p *part) readRange(d *sqlite.DB) error {
	first, some, err := d.One("SELECT rowid FROM messages ORDER BY rowid LIMIT 1")
	if err != nil {
		return fmt.Errorf("the first message: %w", err)
	}
	end, _, err := d.One("SELECT rowid FROM messages ORDER BY rowid DESC LIMIT 1")
	if err != nil {
		return fmt.Errorf("the last message: %w", err)
	}
	p.first, p.end, p.empty = first, end, !some
	return nil
}

// dense is the number of messages if no rowid is missing between the first and
// the last, as rosbag2 writes them.
func (p *part) dense() int64 {
	if p.empty {
		return 0
	}
	if n := uint64(p.end) - uint64(p.first) + 1; p.end >= p.first && n <= uint64(p.real()) {
		return int64(n)
	}
	return -1
}

// topicIDs maps topics.id to TopicID.
type topicIDs struct {
	all    map[int64]storage.TopicID
	dense  []int32 // index id; -1: no topic
	sparse map[int64]storage.TopicID
}

func newTopicIDs(m map[int64]storage.TopicID) topicIDs {
	greatest := int64(-1)
	for id := range m {
		if id < 0 || id > int64(8*len(m)+1024) {
			return topicIDs{all: m, sparse: m}
		}
		greatest = max(greatest, id)
	}
	t := topicIDs{all: m, dense: make([]int32, greatest+1)}
	for i := range t.dense {
		t.dense[i] = -1
	}
	for id, v := range m {
		t.dense[id] = int32(v)
	}
	return t
}

// get is the TopicID of a row, and whether there is one. Ids of real recordings
// count from 1, so that the map is for odd files only.
func (t *topicIDs) get(id int64) (storage.TopicID, bool) {
	if uint64(id) < uint64(len(t.dense)) {
		v := t.dense[id]
		return storage.TopicID(v), v >= 0
	}
	v, ok := t.sparse[id]
	return v, ok
}
