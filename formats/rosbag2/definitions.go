package rosbag2

import (
	"strings"

	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/storage"
)

// writeDefinitions fills message_definitions: one row for each type whose definition is known;
// the text of a type without fields is empty. A topic whose definition differs from the row's
// is marked, so that its definition goes into custom_data.
func (p *outPart) writeDefinitions() error {
	w := p.w
	rows := map[string]storage.Schema{}
	for i := range w.topics {
		if t := &w.topics[i]; t.define(rows) {
			if err := insertDefinition(p.db, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// define adds a row for the definition of a topic to the rows by type, and reports whether it was
// missing. t.ownSchema is set if the row has another definition, or no row can hold this one.
func (t *outTopic) define(rows map[string]storage.Schema) (missing bool) {
	if len(t.Schema.Data) == 0 && t.Schema.Encoding == "" {
		return false
	}
	typ := t.definitionRow()
	have, ok := rows[typ]
	switch {
	case t.Schema.Encoding != "ros2msg" && t.Schema.Encoding != "ros2idl":
		t.ownSchema = true
	case ok:
		t.ownSchema = have.Encoding != t.Schema.Encoding || string(have.Data) != string(t.Schema.Data)
	default:
		rows[typ] = t.Schema
		return true
	}
	return false
}

// definitionRow is the topic_type of a topic's definition: the service or action, if the text defines
// it, else the type of the topic.
func (t *outTopic) definitionRow() string {
	for line := range strings.Lines(string(t.Schema.Data)) {
		if strings.TrimSpace(line) == "---" {
			return definitionType(t.Type)
		}
	}
	return t.Type
}

// insertDefinition adds a row to message_definitions.
func insertDefinition(db *sqlite.DB, t *outTopic) error {
	return db.Run("INSERT INTO message_definitions (topic_type, encoding, encoded_message_definition, "+
		"type_description_hash) VALUES (?, ?, ?, ?)",
		t.definitionRow(), t.Schema.Encoding, string(t.Schema.Data), t.Metadata[storage.MetaTypeHash])
}
