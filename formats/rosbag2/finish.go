package rosbag2

import (
	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/storage"
	"strings"
)

// finish writes what is known only at the end.
func (w *writer) finish() error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if err := w.settle(true); err != nil {
		return err
	}
	for _, p := range w.parts {
		if err := p.finish(); err != nil {
			return err
		}
	}
	if !w.single {
		meta, err := w.metadata(w.parts...)
		if err != nil {
			return err
		}
		if w.add != nil {
			if meta, err = w.add.Extend(meta); err != nil {
				return err
			}
		}
		if w.packing.mode == ros2bag.ModeFile {
			meta.SetPacked()
		}
		if err := meta.WriteFile(w.fs, w.out.Temp(), w.sync); err != nil {
			return err
		}
	}
	return nil
}

// writeDefinitions fills message_definitions: one row for each type whose definition
// is known; the text of a type without fields is empty. A topic whose definition is another than that of the row is marked, so that the
// definition goes into custom_data.
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

// define reports whether a row for the definition of a topic is missing among those by type,
// and adds it to them. If there is another one, or none is possible, it is the topic's own.
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

// definitionRow is the topic_type of a topic's definition: the service or action, if the text is that
// of it, else the type of the topic.
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
	return db.Run("INSERT INTO message_definitions (topic_type, encoding, encoded_message_definition, type_description_hash) VALUES (?, ?, ?, ?)",
		t.definitionRow(), t.Schema.Encoding, string(t.Schema.Data), t.Metadata[storage.MetaTypeHash])
}

// metadata is what metadata.yaml has about all parts, and the metadata table of each one.
func (w *writer) metadata(parts ...*outPart) (*ros2bag.Metadata, error) {
	list := make([]ros2bag.Part, len(parts))
	for i, p := range parts {
		list[i] = p.Part
	}
	topics := make([]ros2bag.Topic, len(w.topics))
	for i := range w.topics {
		t := &w.topics[i]
		topics[i] = ros2bag.Topic{Name: t.Name, Type: t.Type, Format: t.Encoding, Hash: t.Metadata[storage.MetaTypeHash], QoS: t.QoS}
		for _, p := range parts {
			topics[i].Messages += p.of(i)
		}
	}
	m := w.profile.Metadata(db3, w.options, topics, list)
	if w.packing.mode == ros2bag.ModeMessage {
		m.Compression, m.Mode = compress.Zstd.Name(), w.packing.mode
	}
	if w.custom == nil { // all parts have the same definitions, and so the same
		var kept []ros2bag.CustomTopic
		for i := range w.topics {
			if c, ok := ros2bag.KeepTopic(&w.topics[i].Topic, w.topics[i].ownSchema); ok {
				kept = append(kept, c)
			}
		}
		value, err := ros2bag.EncodeCustom(kept)
		if err != nil {
			return nil, err
		}
		w.custom = &value
	}
	if value := *w.custom; value != "" {
		if m.Custom == nil {
			m.Custom = map[string]string{}
		}
		m.Custom[ros2bag.CustomKey] = value
	}
	return m, nil
}
