package catalogue

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/bagconv/bagconv/internal/export/columns"
	"github.com/bagconv/bagconv/internal/export/tables"
	"github.com/bagconv/bagconv/internal/ingest/parquet"
	"github.com/bagconv/bagconv/storage"
)

// metaKey is the key of the metadata of a Parquet file that has Version.
const metaKey = "bagconv.catalogue"

// A row group has so many rows or bytes, or little more.
const (
	groupRows  = 50_000
	groupBytes = 16 << 20
)

var columnKinds = map[kind]columns.Kind{text: columns.Text, integer: columns.Int64, real: columns.Float64,
	truth: columns.Bool}

// parquetSchema returns the columns of a recording, then the columns of a topic, which are null without one.
func parquetSchema() (schema []columns.Field) {
	for _, c := range recordingColumns {
		schema = append(schema, columns.Field{Name: c.name, Kind: columnKinds[c.kind], Nullable: c.nullable})
	}
	for _, c := range topicColumns {
		schema = append(schema, columns.Field{Name: c.name, Kind: columnKinds[c.kind], Nullable: true})
	}
	return schema
}

// A parquetWriter writes one table.
type parquetWriter struct {
	table tables.Table
	batch *columns.Batch
	size  int
}

func writeParquet(_ storage.FS, _ string, w io.Writer, fill func(Writer) error) error {
	schema := parquetSchema()
	t, err := tables.NewParquet(w, schema, []tables.KeyValue{{Key: metaKey, Value: strconv.Itoa(Version)}},
		tables.Options{})
	if err != nil {
		return err
	}
	p := &parquetWriter{table: t, batch: columns.NewRows(schema)}
	if err := fill(p); err != nil {
		return err
	}
	if err := p.flush(); err != nil {
		return err
	}
	return t.Close()
}

// Add adds a row for each topic, or one without a topic. See Writer.
func (p *parquetWriter) Add(r *Recording) error {
	for i := range max(1, len(r.Topics)) {
		top := p.batch.Top()
		for k, c := range recordingColumns {
			p.append(top[k], value(c.at(r)))
		}
		for k, c := range topicColumns {
			var v any
			if i < len(r.Topics) {
				v = value(c.at(&r.Topics[i]))
			}
			p.append(top[len(recordingColumns)+k], v)
		}
		p.batch.AddRow()
		if p.batch.Len() >= groupRows || p.size >= groupBytes {
			if err := p.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *parquetWriter) append(c *columns.Column, v any) {
	var b []byte
	switch v := v.(type) {
	case nil:
		c.AppendNull()
		return
	case string:
		b = []byte(v)
	case int64:
		b = binary.LittleEndian.AppendUint64(nil, uint64(v))[:c.Field.Width()]
	case float64:
		b = binary.LittleEndian.AppendUint64(nil, math.Float64bits(v))
	}
	c.AppendBytes(b)
	p.size += len(b)
}

// flush writes a row group.
func (p *parquetWriter) flush() error {
	part, err := p.table.Encode(p.batch)
	if err == nil {
		err = p.table.Append(part)
	}
	p.batch.Reset()
	p.size = 0
	return err
}

// Close does nothing: writeParquet ends the table.
func (p *parquetWriter) Close() error { return nil }

// A parquetReader puts the rows of a recording together again.
type parquetReader struct {
	rows    []*parquet.Rows // by the columns of recordings, then of topics
	pending bool            // rows stand on a row that is not taken
}

func openParquet(f storage.File, size int64) (Reader, error) {
	file, err := parquet.Open(f, size)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOther, err)
	}
	switch version, ok := file.Metadata[metaKey]; {
	case !ok:
		return nil, ErrOther
	case version != strconv.Itoa(Version):
		return nil, ErrOld
	}
	r := &parquetReader{}
	for _, field := range parquetSchema() {
		rows, err := file.Rows(field.Name)
		if err != nil {
			return nil, err
		}
		r.rows = append(r.rows, rows)
	}
	return r, nil
}

// step goes to the next row of all columns.
func (p *parquetReader) step() (bool, error) {
	for i, rows := range p.rows {
		more := rows.Next()
		if err := rows.Err(); err != nil {
			return false, err
		}
		if !more {
			if i > 0 {
				return false, fmt.Errorf("its columns have different numbers of rows: %w", storage.ErrCorrupt)
			}
			return false, nil
		}
	}
	return true, nil
}

// Next returns the next recording. See Reader.
func (p *parquetReader) Next() (r *Recording, err error) {
	for {
		if !p.pending {
			if p.pending, err = p.step(); err != nil {
				return nil, err
			}
			if !p.pending && r == nil {
				return nil, io.EOF
			}
			if !p.pending {
				return r, nil
			}
		}
		if r == nil {
			r = &Recording{}
			if err := take(p.rows, recordingColumns, r); err != nil {
				return nil, err
			}
		} else if path := p.rows[0].Bytes(); len(path) != 1 || string(path[0]) != r.Path || r.Topics == nil {
			return r, nil
		}
		if len(r.Topics) == MaxTopics {
			return nil, fmt.Errorf("%s has too many rows: %w", r.Path, storage.ErrCorrupt)
		}
		p.pending = false
		if topic := p.rows[len(recordingColumns):]; len(topic[0].Bytes()) > 0 {
			var t Topic
			if err := take(topic, topicColumns, &t); err != nil {
				return nil, err
			}
			r.Topics = append(r.Topics, t)
		}
	}
}

// take reads a row.
func take[R any](rows []*parquet.Rows, list []column[R], r *R) error {
	for i, c := range list {
		var v any
		switch c.kind {
		case text:
			if b := rows[i].Bytes(); len(b) == 1 {
				v = string(b[0])
			}
		case real:
			if f := rows[i].Floats(); len(f) == 1 {
				v = f[0]
			}
		default:
			if n := rows[i].Ints(); len(n) == 1 {
				v = n[0]
			}
		}
		if !set(c.at(r), v) {
			return fmt.Errorf("column %s lacks a value: %w", c.name, storage.ErrCorrupt)
		}
	}
	return nil
}

// Close does nothing: Open closes the file. See Reader.
func (p *parquetReader) Close() error { return nil }
