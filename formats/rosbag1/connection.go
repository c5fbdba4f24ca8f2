package rosbag1

import (
	"slices"

	"github.com/bagconv/bagconv/storage"
)

// metaTopic is the key of Topic.Metadata for the topic name in the connection
// header, if it is not the name in the record. The record has the name after
// resolving and renaming, the connection header what the publisher announced.
const metaTopic = "topic"

// emptyMD5 is the md5sum of a type without fields, such as std_msgs/Empty.
const emptyMD5 = "d41d8cd98f00b204e9800998ecf8427e"

// A connection is one CONNECTION record.
type connection struct {
	id    uint32
	at    int64 // where the file has it: its record, or the chunk that it is in
	topic storage.Topic
	count int64  // messages, by the index or the scan
	data  []byte // of its record, if Reader.records is set
	lacks string // first field that other readers need and that is not there; "": no field
}

// parseConnection makes a connection of a record's header and data. Everything
// is copied. Fields of the connection header without a place of their own become
// metadata.
func parseConnection(h *header, data []byte) (*connection, error) {
	c := &connection{id: h.conn, topic: storage.Topic{
		Name:     string(h.topic),
		Encoding: encoding,
		Metadata: map[string]string{},
	}}
	var definition []byte
	have := map[string]bool{}
	for b := data; len(b) > 0; {
		name, value, rest, err := nextField(b)
		if err != nil {
			return nil, err
		}
		b = rest
		have[string(name)] = true
		switch string(name) {
		case "type":
			c.topic.Type = string(value)
		case "message_definition":
			definition = value
		case metaTopic:
			if string(value) != c.topic.Name {
				c.topic.Metadata[metaTopic] = string(value)
			}
		default:
			c.topic.Metadata[string(name)] = string(value)
		}
	}
	for _, name := range []string{"message_definition", storage.MetaMD5Sum, "type"} {
		if !have[name] {
			c.lacks = name
		}
	}
	if len(definition) > 0 || c.topic.Metadata[storage.MetaMD5Sum] == emptyMD5 {
		c.topic.Schema = storage.Schema{Encoding: schemaEncoding, Data: append([]byte(nil), definition...)}
	}
	return c, nil
}

// checkFields warns of a connection that lacks a field which other readers need.
func (r *reader) checkFields(c *connection, at int64) error {
	if c.lacks == "" {
		return nil
	}
	return r.src.Warn("connection", at, false,
		"connection %d, topic %.200q, has no field %s; other programs may refuse the bag", c.id, c.topic.Name, c.lacks)
}

// same reports whether two records define the same connection. Texts are left
// out: tools that rebuild a definition change its line ends.
func (c *connection) same(o *connection) bool {
	return c.topic.Name == o.topic.Name && c.topic.Type == o.topic.Type &&
		c.topic.Metadata[storage.MetaMD5Sum] == o.topic.Metadata[storage.MetaMD5Sum]
}

// connections is the table of a bag's connections. It is fixed, and safe for
// concurrent use, once freeze was called.
type connections struct {
	list   []*connection // after freeze: by id; index = TopicID
	byID   map[uint32]*connection
	dense  []storage.TopicID // by id, TopicID + 1; 0: no connection
	sparse map[uint32]storage.TopicID
}

// maxDense is how far the ids of a bag may reach to be looked up by index.
const maxDense = 1 << 16

func newConnections() connections {
	return connections{byID: map[uint32]*connection{}}
}

// add takes c in unless its id is there already, and returns what is there.
func (t *connections) add(c *connection) *connection {
	if old := t.byID[c.id]; old != nil {
		return old
	}
	t.byID[c.id] = c
	t.list = append(t.list, c)
	return c
}

// freeze assigns TopicIDs to the connections, in the order of id.
func (t *connections) freeze() {
	slices.SortFunc(t.list, func(a, b *connection) int {
		if a.id < b.id {
			return -1
		}
		return 1
	})
	t.sparse = map[uint32]storage.TopicID{}
	for i, c := range t.list {
		if c.id < maxDense {
			for len(t.dense) <= int(c.id) {
				t.dense = append(t.dense, 0)
			}
			t.dense[c.id] = storage.TopicID(i) + 1
		} else {
			t.sparse[c.id] = storage.TopicID(i)
		}
	}
}

// lookup returns the topic of a connection id.
func (t *connections) lookup(id uint32) (storage.TopicID, bool) {
	if int64(id) < int64(len(t.dense)) {
		topic := t.dense[id]
		return topic - 1, topic != 0
	}
	topic, ok := t.sparse[id]
	return topic, ok
}
