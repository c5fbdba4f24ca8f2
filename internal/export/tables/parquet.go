package tables

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"sync/atomic"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/internal/export/columns"
)

// A parquet is a file of Parquet, on its way.
type parquet struct {
	out    counter
	level  int
	leaves []*leaf
	meta   format.FileMetaData
	chunks [][]chunk    // by row group
	last   atomic.Int64 // bytes of a row group

	pageBytes, fewest int
}

// A counter counts the bytes that are written.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) write(p []byte) error {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return err
}

const magic = "PAR1"

var zstd = compress.Lookup("zstd")

// NewParquet begins a file of Parquet for a schema of package columns; meta is its metadata.
func NewParquet(w io.Writer, schema []columns.Field, meta []KeyValue, o Options) (Table, error) {
	if most := zstd.MaxLevel(); o.Level < -1 || o.Level > most {
		return nil, fmt.Errorf("zstd has no level %d, but levels from 1 to %d; -1 is no compression", o.Level, most)
	}
	s := shape(schema)
	p := &parquet{out: counter{w: w}, level: o.Level, leaves: s.leaves, pageBytes: pageBytes, fewest: fewest}
	p.meta = format.FileMetaData{Version: 2, Schema: s.elements, CreatedBy: "bagconv",
		ColumnOrders: make([]format.ColumnOrder, len(s.leaves))}
	for i := range p.meta.ColumnOrders {
		p.meta.ColumnOrders[i].Value = &format.TypeDefinedOrder{}
	}
	meta = withConstants(meta, o.Constants)
	text, err := arrowText(schema, meta)
	if err != nil {
		return nil, err
	}
	for _, kv := range append(meta, KeyValue{"ARROW:schema", text}) {
		p.meta.KeyValueMetadata = append(p.meta.KeyValueMetadata, format.KeyValue{Key: kv.Key, Value: kv.Value})
	}
	return p, p.out.write([]byte(magic))
}

// Encode makes a row group.
func (p *parquet) Encode(b *columns.Batch) (Part, error) {
	cols := b.Columns()
	g := &rowGroup{of: p, rows: b.Len(), sorted: len(cols) > 0 && sortedTimes(cols[0])}
	if g.rows == 0 {
		return g, nil
	}
	e := pageEncoders.Get().(*pageEncoder)
	defer pageEncoders.Put(e)
	e.level, e.group, e.out = p.level, g, make([]byte, 0, p.last.Load())
	for _, l := range p.leaves {
		if err := e.chunk(l, cols, g.rows); err != nil {
			return nil, err
		}
		g.chunks[len(g.chunks)-1].end(l.field)
	}
	g.pages, e.out, e.group = e.out, nil, nil
	p.last.Store(int64(len(g.pages) + len(g.pages)/16))
	return g, nil
}

// sortedTimes reports whether a column has times that never go back.
func sortedTimes(c *columns.Column) bool {
	if c.Field.Kind != columns.Time {
		return false
	}
	times := numbers[int64](c.Values)
	for i := 1; i < len(times); i++ {
		if times[i] < times[i-1] {
			return false
		}
	}
	return true
}

// Append writes a row group.
func (p *parquet) Append(part Part) error {
	g, ok := part.(*rowGroup)
	if !ok || g.of != p {
		return errForeignPart
	}
	if g.rows == 0 {
		return nil
	}
	base := p.out.n
	group := format.RowGroup{NumRows: int64(g.rows), FileOffset: base, TotalCompressedSize: int64(len(g.pages)),
		Ordinal: int16(min(len(p.chunks), math.MaxInt16))}
	if g.sorted {
		group.SortingColumns = []format.SortingColumn{{ColumnIdx: 0}}
	}
	for i := range g.chunks {
		c := &g.chunks[i]
		m := &c.MetaData
		m.DataPageOffset += base
		if m.DictionaryPageOffset > 0 || m.Encoding[len(m.Encoding)-1] == format.RLEDictionary {
			m.DictionaryPageOffset += base
		}
		for k := range c.offsets.PageLocations {
			c.offsets.PageLocations[k].Offset += base
		}
		group.TotalByteSize += m.TotalUncompressedSize
	}
	p.meta.NumRows += int64(g.rows)
	p.meta.RowGroups = append(p.meta.RowGroups, group)
	p.chunks = append(p.chunks, g.chunks)
	return p.out.write(g.pages)
}

// Close writes the page indexes and the footer.
//
//	the bounds of each page of each chunk, then the places of the pages of each chunk
//	FileMetaData (Thrift), u32 its length, "PAR1"
func (p *parquet) Close() error {
	for _, chunks := range p.chunks {
		for i := range chunks {
			c := &chunks[i]
			if c.unknown {
				continue
			}
			at := p.out.n
			if err := p.thrift(&c.bounds); err != nil {
				return err
			}
			c.ColumnIndexOffset, c.ColumnIndexLength = at, int32(p.out.n-at)
		}
	}
	for k, chunks := range p.chunks {
		group := &p.meta.RowGroups[k]
		for i := range chunks {
			c := &chunks[i]
			at := p.out.n
			if err := p.thrift(&c.offsets); err != nil {
				return err
			}
			c.OffsetIndexOffset, c.OffsetIndexLength = at, int32(p.out.n-at)
			group.Columns = append(group.Columns, c.ColumnChunk)
		}
	}
	at := p.out.n
	if err := p.thrift(&p.meta); err != nil {
		return err
	}
	return p.out.write(append(binary.LittleEndian.AppendUint32(nil, uint32(p.out.n-at)), magic...))
}

func (p *parquet) thrift(v any) error {
	b, err := thrift.Marshal(&thrift.CompactProtocol{}, v)
	if err != nil {
		return err
	}
	return p.out.write(b)
}
