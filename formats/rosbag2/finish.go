package rosbag2

import (
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"

	"github.com/bagconv/bagconv/storage"
)

// finish writes what is known only at the end, and gives the recording its name.
func (w *Writer) finish() error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if !w.flushed {
		if err := w.loader.Flush(); err != nil {
			return err
		}
	}
	if err := w.loader.Finish(); err != nil {
		return err
	}
	// SQLite again, for all that is small.
	if err := w.openEngine(); err != nil {
		return err
	}
	if err := w.db.exec("BEGIN"); err != nil {
		return err
	}
	if err := w.writeTopics(); err != nil {
		return err
	}
	if err := w.writeDefinitions(); err != nil {
		return err
	}
	meta, err := w.metadata()
	if err != nil {
		return err
	}
	text, err := meta.encode(false)
	if err != nil {
		return err
	}
	if err := w.db.run("INSERT INTO metadata (metadata_version, metadata) VALUES (?, ?)", int64(meta.Version), string(text)); err != nil {
		return err
	}
	if err := w.db.exec("COMMIT"); err != nil {
		return err
	}
	if err := w.closeDatabase(w.sync); err != nil {
		return err
	}
	if !w.single {
		text, err := meta.encode(true)
		if err != nil {
			return err
		}
		if err := w.writeFile(filepath.Join(w.out.Temp(), metadataName), text); err != nil {
			return err
		}
	}
	return w.out.Commit()
}

// writeDefinitions fills message_definitions: one row for each type. A topic
// whose definition is another than that of the row is marked, so that the
// definition goes into custom_data.
func (w *Writer) writeDefinitions() error {
	rows := map[string]storage.Schema{}
	for i := range w.topics {
		t := &w.topics[i]
		if len(t.Schema.Data) == 0 {
			continue
		}
		typ := definitionType(t.Type)
		have, ok := rows[typ]
		known := t.Schema.Encoding == "ros2msg" || t.Schema.Encoding == "ros2idl"
		switch {
		case !known:
			t.ownSchema = true
		case ok:
			t.ownSchema = have.Encoding != t.Schema.Encoding || string(have.Data) != string(t.Schema.Data)
		default:
			rows[typ] = t.Schema
			err := w.db.run("INSERT INTO message_definitions (topic_type, encoding, encoded_message_definition, type_description_hash) VALUES (?, ?, ?, ?)",
				typ, t.Schema.Encoding, string(t.Schema.Data), t.Metadata[storage.MetaTypeHash])
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// metadata is what metadata.yaml and the metadata table say. Decoders take the
// times as unsigned: a start before 1970 is written as 0 there, and a recording
// without messages starts at the end of time, as rosbag2's own do.
func (w *Writer) metadata() (*metadata, error) {
	m := &metadata{
		Version: w.profile.version, StorageID: "sqlite3", Start: math.MaxInt64, Messages: w.count,
		Paths: []string{w.name}, Custom: maps.Clone(w.options), Distro: w.distro(),
	}
	if w.count > 0 {
		m.Start = max(w.start, 0)
		m.Duration = int64(min(uint64(w.end)-uint64(w.start), math.MaxInt64))
	}
	m.Files = []metadataFile{{Path: w.name, Start: m.Start, Duration: m.Duration, Messages: w.count}}
	for i := range w.topics {
		t := &w.topics[i]
		m.Topics = append(m.Topics, metadataTopic{
			Name: t.Name, Type: t.Type, Format: t.Encoding, Hash: t.Metadata[storage.MetaTypeHash], QoS: t.QoS, Messages: t.messages,
		})
	}
	delete(m.Custom, storage.MetaDistro)
	value, err := customJSON(w.topics)
	if err != nil {
		return nil, err
	}
	if value != "" {
		if m.Custom == nil {
			m.Custom = map[string]string{}
		}
		m.Custom[customKey] = value
	}
	return m, nil
}

func (w *Writer) writeFile(path string, data []byte) error {
	f, err := w.fs.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && w.sync {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
