package ingest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/frames"
	"github.com/bagconv/bagconv/internal/ingest/build"
	"github.com/bagconv/bagconv/internal/nearest"
	"github.com/bagconv/bagconv/storage"
)

// A table is a topic whose messages are the rows of columns.
type table struct {
	*known
	program                 *build.Program
	time, publish, sequence string // names of these columns; "": no such column
	told                    bool   // what its columns lack is reported
}

// The keys of the metadata of a table, as package export writes them.
const (
	keyTopic      = "bagconv.topic"
	keyType       = "bagconv.type"
	keyEncoding   = "bagconv.encoding"
	keyDefinedIn  = "bagconv.definition_encoding"
	keyDefinition = "bagconv.definition"
	keyBinary     = "bagconv.definition_base64"
	keyMD5Sum     = "bagconv.md5sum"
	keyTypeHash   = "bagconv.type_hash"
	keyQoS        = "bagconv.qos"
	keyMetadata   = "bagconv.metadata"
)

// tableOf returns the table of columns with these metadata, which may be empty. name and typ are
// what the input says of it elsewhere; "": nothing.
func (s *scan) tableOf(meta map[string]string, columns []columnName, name, typ string) (*table, error) {
	d, err := definitionOf(meta)
	if err != nil {
		return nil, err
	}
	for _, n := range []string{meta[keyTopic], s.o.Topic} {
		if name == "" {
			name = n
		}
	}
	for _, n := range []string{meta[keyType], s.o.Type} {
		if typ == "" {
			typ = n
		}
	}
	if _, named := meta[keyTopic]; name == "" && !named {
		return nil, fmt.Errorf("nothing names the topic of the table; --topic does: %w", storage.ErrUnsupported)
	}
	k, err := s.ofValues(name, typ, 0)
	if err == nil && d != nil && (k == nil || !k.own && !sameDefinition(&k.Topic, &d.Topic)) {
		d.Name, d.Type = name, typ
		if _, err = s.declare(d); err == nil {
			k, err = s.ofValues(name, typ, 0)
		}
	}
	if k == nil && err == nil {
		if typ == "" {
			return nil, noType(name)
		}
		k, err = s.standard(name, typ)
	}
	if err != nil {
		return nil, err
	}
	t := &table{known: k}
	if t.program, err = s.topics.program(k); err == nil {
		err = s.number(k)
	}
	if err != nil {
		return nil, err
	}
	return t, s.times(t, columns)
}

func sameDefinition(a, b *storage.Topic) bool {
	return a.Encoding == b.Encoding && (len(b.Schema.Data) == 0 || string(a.Schema.Data) == string(b.Schema.Data))
}

// definitionOf returns what metadata say of a topic; nil if they have no definition.
func definitionOf(meta map[string]string) (*frames.Definition, error) {
	d := &frames.Definition{}
	d.Encoding, d.Schema.Encoding = meta[keyEncoding], meta[keyDefinedIn]
	d.Schema.Data = []byte(meta[keyDefinition])
	if text := meta[keyBinary]; text != "" {
		var err error
		if d.Schema.Data, err = base64.StdEncoding.DecodeString(text); err != nil {
			return nil, fmt.Errorf("%s of the table is no base64: %w", keyBinary, storage.ErrCorrupt)
		}
	}
	if d.Encoding == "" || d.Schema.Encoding == "" || d.Schema.Encoding == "protobuf" && len(d.Schema.Data) == 0 {
		return nil, nil
	}
	d.Metadata = map[string]string{}
	if text := meta[keyMetadata]; text != "" {
		if err := json.Unmarshal([]byte(text), &d.Metadata); err != nil {
			return nil, fmt.Errorf("%s of the table is no JSON (%v): %w", keyMetadata, err, storage.ErrCorrupt)
		}
	}
	for key, name := range map[string]string{keyMD5Sum: storage.MetaMD5Sum, keyTypeHash: storage.MetaTypeHash} {
		if v := meta[key]; v != "" {
			d.Metadata[name] = v
		}
	}
	if text := meta[keyQoS]; text != "" {
		var list []frames.Profile
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			return nil, fmt.Errorf("%s of the table is no JSON (%v): %w", keyQoS, err, storage.ErrCorrupt)
		}
		for i := range list {
			q, err := list[i].QoS()
			if err != nil {
				return nil, fmt.Errorf("%s of the table: %v: %w", keyQoS, err, storage.ErrCorrupt)
			}
			d.QoS = append(d.QoS, q)
		}
	}
	return d, nil
}

// A columnName is a column of a table, and whether it has timestamps.
type columnName struct {
	name string
	time bool
}

// times finds the columns that are ours and of no field: a name that is a field's has a _ in front.
// Without such a column the log time comes from a column called time, or from the first column of
// timestamps.
func (s *scan) times(t *table, columns []columnName) error {
	has := func(name string) bool {
		return slices.ContainsFunc(columns, func(c columnName) bool { return c.name == name })
	}
	ours := func(name string) string {
		for t.program.Has(name) {
			name = "_" + name
		}
		if has(name) {
			return name
		}
		return ""
	}
	t.time, t.publish, t.sequence = ours("log_time"), ours("publish_time"), ours("sequence")
	if t.time != "" {
		return nil
	}
	if has("time") {
		t.time = "time"
	}
	for _, c := range columns {
		if c.time && t.time == "" {
			t.time = c.name
		}
	}
	if t.time == "" {
		var names []string
		for _, c := range columns {
			names = append(names, c.name)
		}
		return fmt.Errorf("topic %s: the table has no column log_time, time, or one of timestamps, among %s: %w",
			t.Name, strings.Join(names, ", "), storage.ErrUnsupported)
	}
	s.remark("time-column", "topic %s: log times come from column %s", t.Name, t.time)
	return nil
}

// A batch is a part of a table: columns of one length.
type batch struct {
	*table
	rows                    *build.Rows
	time, publish, sequence *build.Column
}

// bind finds the columns of a part of a table, which are its own.
func (t *table) bind(columns []*build.Column) (*batch, error) {
	b := &batch{table: t}
	for _, c := range columns {
		for name, place := range map[string]**build.Column{t.time: &b.time, t.publish: &b.publish,
			t.sequence: &b.sequence} {
			if name != "" && c.Name == name {
				*place = c
			}
		}
	}
	if b.time == nil {
		return nil, fmt.Errorf("topic %s: the table has no column %s: %w", t.Name, t.time, storage.ErrCorrupt)
	}
	switch b.time.Kind {
	case build.Time, build.Signed, build.Unsigned:
	default:
		return nil, fmt.Errorf("topic %s: column %s has no times: %w", t.Name, t.time, storage.ErrUnsupported)
	}
	b.rows = t.program.Bind(columns, t.time, t.publish, t.sequence)
	return b, nil
}

// span returns the first and the last log time; count is how many rows have one.
func (b *batch) span() (first, last, count int64) {
	for i := range b.rows.Len() {
		ns, ok := b.time.Nanoseconds(i)
		if !ok {
			continue
		}
		if count == 0 {
			first, last = ns, ns
		}
		first, last, count = min(first, ns), max(last, ns), count+1
	}
	return first, last, count
}

// tell reports, once, which columns and fields have no counterpart.
func (s *scan) tell(b *batch) {
	if b.told {
		return
	}
	b.told = true
	if list := b.rows.Missing; len(list) > 0 {
		s.remark("columns-missing", "topic %s: no column has %s; they are zero", b.Name, nearest.Some(list, 8))
	}
	if list := b.rows.Unknown; len(list) > 0 {
		s.remark("columns-unknown", "topic %s: no field takes the columns %s", b.Name, nearest.Some(list, 8))
	}
}

// messages appends a message for each row.
func (b *batch) messages(to *storage.Batch, m *maker, o *outcomes) {
	out := o.of(b.id)
	for i := range b.rows.Len() {
		msg := storage.Message{Topic: b.id}
		var ok bool
		if msg.LogTime, ok = b.time.Nanoseconds(i); !ok {
			if out.refused++; out.first == nil {
				out.first = fmt.Errorf("column %s: %w: it has no time", b.table.time, build.ErrValue)
			}
			continue
		}
		msg.PublishTime = msg.LogTime
		if b.publish != nil {
			if ns, ok := b.publish.Nanoseconds(i); ok {
				msg.PublishTime = ns
			}
		}
		if b.sequence != nil {
			n, _ := b.sequence.Nanoseconds(i) // a whole number
			msg.Sequence = uint32(n)
		}
		msg.Data, ok = m.message(out, func(dst []byte) ([]byte, error) { return b.rows.Append(dst, i, &out.Doubts) })
		if ok {
			to.Messages = append(to.Messages, msg)
		}
	}
}
