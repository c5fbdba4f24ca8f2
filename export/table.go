package export

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"

	"github.com/bagconv/bagconv/internal/export/columns"
	"github.com/bagconv/bagconv/internal/export/tables"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
)

// A table is a product: a file with a row for each message.
type table struct {
	*reader
	program *columns.Program
	file    io.WriteCloser
	name    string // in the output
	out     tables.Table
	rows    int64
	batches *batches
}

// A rowsPart is a part of a table, with its rows.
type rowsPart struct {
	tables.Part
	rows int
}

// newTable begins the table of a topic at a path below the output.
func newTable(w *writer, t *storage.Topic, r *reader, name string) (*table, error) {
	program, err := columns.Compile(r.Type, w.columnsOf(r))
	if err != nil {
		return nil, errors.Join(storage.ErrUnsupported, err)
	}
	x := &table{reader: r, program: program, name: name, batches: &w.batches}
	if x.file, err = w.place.create(name); err != nil {
		return nil, err
	}
	x.out, err = w.kind.open(x.file, program.Schema(), about(t), w.tableOptions(r.Type.Constants))
	return x, err
}

// tableOptions returns the options of a table of messages whose type has these constants.
func (w *writer) tableOptions(constants []schema.Constant) tables.Options {
	o := tables.Options{Constants: constants}
	if w.set.codec == "none" {
		o.Level = -1
	}
	return o
}

// columnsOf returns the options of the columns of a topic. A topic that has none of the fields that are asked for, or
// not the list, keeps all.
func (w *writer) columnsOf(r *reader) columns.Options {
	o := w.set.Options
	o.Columns = nil
	for i, path := range w.set.Columns {
		if _, err := r.Type.Resolve(path); err != nil {
			w.set.wrong[i] = err
			continue
		}
		o.Columns = append(o.Columns, path)
		w.set.matched[i] = true
	}
	if f := r.Type.Find(o.Explode); f == nil || !f.List {
		o.Explode = ""
	}
	w.set.exploded = w.set.exploded || o.Explode != ""
	return o
}

// about returns what a table says about its topic.
func about(t *storage.Topic) []tables.KeyValue {
	list := []tables.KeyValue{{Key: "bagconv.topic", Value: t.Name}, {Key: "bagconv.type", Value: t.Type},
		{Key: "bagconv.encoding", Value: t.Encoding}}
	add := func(key, value string) {
		if value != "" {
			list = append(list, tables.KeyValue{Key: "bagconv." + key, Value: value})
		}
	}
	add("definition_encoding", t.Schema.Encoding)
	switch {
	case t.Schema.Encoding != "protobuf":
		add("definition", string(t.Schema.Data))
	case len(t.Schema.Data) <= maxDescriptors:
		add("definition_base64", base64.StdEncoding.EncodeToString(t.Schema.Data))
	}
	add("md5sum", t.Metadata[storage.MetaMD5Sum])
	add("type_hash", t.Metadata[storage.MetaTypeHash])
	if len(t.QoS) > 0 {
		if text, err := json.Marshal(qosText(t.QoS)); err == nil {
			add("qos", string(text))
		}
	}
	add("metadata", otherMetadata(t))
	return list
}

// maxDescriptors bounds the descriptors of protobuf that a table has, in bytes.
const maxDescriptors = 1 << 20

// otherMetadata returns what else a topic has, such as whether it is latched, as an object of JSON; "": nothing.
func otherMetadata(t *storage.Topic) string {
	other := map[string]string{}
	for key, value := range t.Metadata {
		if key != storage.MetaMD5Sum && key != storage.MetaTypeHash && len(value) <= maxDescriptors {
			other[key] = value
		}
	}
	if len(other) == 0 {
		return ""
	}
	text, err := json.Marshal(other)
	if err != nil {
		return ""
	}
	return string(text)
}

func (x *table) encode(b *block) (*made, error) { return x.rowsOf(b, x.part) }

// part makes a part of the file of a batch.
func (x *table) part(batch *columns.Batch) (any, error) {
	part, err := x.out.Encode(batch)
	return rowsPart{part, batch.Len()}, err
}

// rowsOf makes the messages of a block batches, nearly always one, and parts of these.
func (x *table) rowsOf(b *block, part func(*columns.Batch) (any, error)) (*made, error) {
	m := &made{}
	batch := x.batches.take(x)
	defer x.batches.put(x, batch)
	end := func() error {
		if batch.Len() == 0 {
			return nil
		}
		p, err := part(batch)
		if err != nil {
			return err
		}
		m.parts = append(m.parts, p)
		loseDoubts(m, batch.Doubts())
		batch.Reset()
		return nil
	}
	var scratch []byte
	for i := range b.rows {
		r := &b.rows[i]
		data, err := x.message(b, i, &scratch)
		if err == nil {
			err = batch.Append(data, r.log, r.publish, uint64(r.sequence))
		}
		if errors.Is(err, columns.ErrFull) && batch.Len() > 0 {
			if err := end(); err != nil {
				return nil, err
			}
			err = batch.Append(data, r.log, r.publish, uint64(r.sequence))
		}
		if err != nil {
			m.refuse(err)
		}
	}
	return m, end()
}

// loseDoubts counts what the columns of a batch do not have as the messages have it.
func loseDoubts(m *made, d columns.Doubts) {
	m.lose("time-normalised", int64(d.Times),
		"times with a second or more of nanoseconds, or less than none, are normalised")
	m.lose("time-beyond", int64(d.Beyond), "times beyond 64 bits of nanoseconds are the last that there is, or the first")
	m.lose("text-replaced", int64(d.Text+d.Wide), "bytes of text that are no UTF-8 are U+FFFD; --text binary keeps them")
	m.lose("bool-normalised", int64(d.Bools), "bools that are neither 0 nor 1 are true")
	m.lose("map-keys", int64(d.Keys), "entries of maps have a key that comes again: the last one counts")
	m.lose("unknown-fields", int64(d.Unknown), "fields that the descriptor does not have are left out")
	m.lose("bytes-undefined", int64(d.Longer), "bytes that the definition does not have are left out")
}

func (x *table) append(part any) error {
	p := part.(rowsPart)
	x.rows += int64(p.rows)
	err := x.out.Append(p.Part)
	if f, ok := x.file.(*streamTopic); ok && err == nil {
		err = f.flush()
	}
	return err
}

func (x *table) finish() ([]IndexFile, error) {
	err := x.out.Close()
	return []IndexFile{{Path: x.name, Kind: "table", Rows: x.rows}}, errors.Join(err, x.file.Close())
}
