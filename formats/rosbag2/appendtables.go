package rosbag2

import (
	"strings"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/storage"
)

// finish adds the new topics, their definitions, and a row of metadata about all messages:
// readers take the last one.
func (w *fileWriter) finish() error {
	if err := w.state.Ctx.Err(); err != nil || !w.adds() {
		return err
	}
	meta := w.old.metadata()
	qosNames := ros2bag.ProfileOf(meta).QoSNames
	for i := range w.topics {
		if t := &w.topics[i]; !t.old {
			if err := w.addTopic(t, qosNames); err != nil {
				return err
			}
		}
	}
	if err := w.addDefinitions(); err != nil {
		return err
	}
	more, err := w.more()
	if err != nil {
		return err
	}
	if err := meta.AddTopics(more); err != nil {
		return err
	}
	all := w.old.all
	if all.Messages == 0 {
		all.Start, all.End = w.added.Start, w.added.End
	} else if w.added.Messages > 0 {
		all.Start, all.End = min(all.Start, w.added.Start), max(all.End, w.added.End)
	}
	all.Messages += w.added.Messages
	meta.SetParts([]ros2bag.Part{all})
	text, err := meta.Encode(false)
	if err != nil {
		return err
	}
	if err := w.db.Exec(ifMissing(createMetadata)); err != nil {
		return err
	}
	return w.db.Run("INSERT INTO metadata (metadata_version, metadata) VALUES (?, ?)", int64(meta.Version), text)
}

// ifMissing makes a table unless a table of its name exists. Recorders before Humble have fewer
// tables; their readers skip tables that they do not know.
func ifMissing(create string) string {
	return strings.Replace(create, "CREATE TABLE", "CREATE TABLE IF NOT EXISTS", 1)
}

// metadata returns the metadata of the recording: its last row, with the real numbers of messages,
// or what a recorder of its schema would have written.
func (f *oldFile) metadata() *ros2bag.Metadata {
	m := f.row
	if m == nil {
		m = &ros2bag.Metadata{Version: 5, StorageID: db3.ID, Distro: f.distro}
		if f.tables.schema <= 2 {
			m.Version = 4
		}
	}
	for i := range m.Topics {
		m.Topics[i].Messages = 0
	}
	have := &ros2bag.Metadata{}
	for i := range f.topics {
		have.Topics = append(have.Topics, ros2bag.TopicOf(&f.topics[i], f.counts[i]))
	}
	_ = m.AddTopics(have) // without custom_data there is nothing that fails
	return m
}

// more returns the metadata of what is added.
func (w *fileWriter) more() (*ros2bag.Metadata, error) {
	m := &ros2bag.Metadata{}
	var kept []ros2bag.CustomTopic
	for i := range w.topics {
		t := &w.topics[i]
		m.Topics = append(m.Topics, ros2bag.TopicOf(&t.Topic, t.messages))
		if c, ok := ros2bag.KeepTopic(&t.Topic, t.ownSchema); ok && !t.old {
			kept = append(kept, c)
		}
	}
	value, err := ros2bag.EncodeCustom(kept)
	if value != "" {
		m.Custom = map[string]string{ros2bag.CustomKey: value}
	}
	return m, err
}

// addTopic adds a row to the table of topics, in the columns that it has.
func (w *fileWriter) addTopic(t *addedTopic, qosNames bool) error {
	columns, values := []string{"id", "name", "type"}, []any{t.id, t.Name, t.Type}
	for _, c := range []struct {
		have  bool
		name  string
		value string
	}{
		{w.old.tables.format, "serialization_format", t.Encoding},
		{w.old.tables.qos, "offered_qos_profiles", ros2bag.QoSText(t.QoS, qosNames)},
		{w.old.tables.hash, "type_description_hash", t.Metadata[storage.MetaTypeHash]},
	} {
		if c.have {
			columns, values = append(columns, c.name), append(values, c.value)
		}
	}
	marks := strings.Repeat(",?", len(columns))[1:]
	return w.db.Run("INSERT INTO topics ("+strings.Join(columns, ",")+") VALUES ("+marks+")", values...)
}

// addDefinitions adds the definitions of types that the table does not have. It marks new topics
// whose definition differs from the table's.
func (w *fileWriter) addDefinitions() error {
	rows := map[string]storage.Schema{}
	for typ, d := range w.old.defs {
		rows[typ] = storage.Schema{Encoding: d.encoding, Data: d.text}
	}
	for i := range w.topics {
		t := &w.topics[i]
		insert := !t.old && t.define(rows)
		if !insert {
			continue
		}
		if err := w.db.Exec(ifMissing(createDefinitions)); err != nil {
			return err
		}
		if err := insertDefinition(w.db, &t.outTopic); err != nil {
			return err
		}
	}
	return nil
}
