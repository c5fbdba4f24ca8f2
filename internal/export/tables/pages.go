package tables

import (
	"fmt"
	"math"
	"sync"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/bagconv/bagconv/internal/export/columns"
)

// pageBytes are the bytes of the values of a page, about; with a dictionary repeated times as many, which take less in
// the file.
const pageBytes, repeated = 1 << 20, 8

// A pageEncoder makes the chunks of a row group: its memory is used again.
type pageEncoder struct {
	shredder
	dict       dictionary
	repeats    bool   // the chunk has the dictionary
	page       []byte // before compression
	plain      []byte // its values
	packed     []byte
	compressed []byte
	out        []byte // all pages
	level      int
	group      *rowGroup
	levels     struct { // of the last page of a regular leaf: its count and block
		of    [2]int
		bytes []byte
	}
}

var pageEncoders = sync.Pool{New: func() any { return new(pageEncoder) }}

// A rowGroup is a Part of Parquet. Offsets count from its first byte.
type rowGroup struct {
	of     *parquet
	rows   int
	pages  []byte
	chunks []chunk
	sorted bool // by the first column, a time
}

func (g *rowGroup) Rows() int { return g.rows }
func (g *rowGroup) Size() int { return len(g.pages) }

// A chunk is the pages of a leaf in a row group.
type chunk struct {
	format.ColumnChunk
	offsets format.OffsetIndex
	bounds  format.ColumnIndex
	unknown bool // a page has values without bounds
}

// chunk encodes a leaf of rows.
func (e *pageEncoder) chunk(l *leaf, cols []*columns.Column, rows int) error {
	e.begin(l, cols)
	e.group.chunks = append(e.group.chunks, chunk{})
	c := &e.group.chunks[len(e.group.chunks)-1]
	m := &c.MetaData
	m.Type, m.PathInSchema, m.Codec = l.physical, l.path, format.Zstd
	if e.level < 0 {
		m.Codec = format.Uncompressed
	}
	if l.def > 0 {
		m.Encoding = append(m.Encoding, format.RLE)
	}
	begin := len(e.out)
	all, err := e.dictionary(c, rows)
	if err != nil {
		return err
	}
	m.DataPageOffset = int64(len(e.out))
	indexes := e.dict.indexes
	for row := 0; row < rows; {
		limit := e.group.of.pageBytes
		if e.repeats {
			limit *= repeated
		}
		end := e.shredder.page(row, rows, limit)
		e.quiet = e.regular()
		e.shred(row, end)
		var own []int32
		if e.repeats {
			own, indexes = indexes[:e.values], indexes[e.values:]
		}
		if err := e.data(c, row, own, all); err != nil {
			return err
		}
		row = end
	}
	m.TotalCompressedSize = int64(len(e.out) - begin)
	return nil
}

// dictionary writes the page with the dictionary of a chunk, if it has one, and returns the bounds of its values.
func (e *pageEncoder) dictionary(c *chunk, rows int) (all bounds, err error) {
	f := e.l.field
	e.dict.begin(e.group.of.fewest)
	if e.repeats = mayRepeat(f) && e.findRepeats(rows); !e.repeats {
		if k := valueEncoding(e.l); k != format.Plain {
			c.MetaData.Encoding = append(c.MetaData.Encoding, k)
		} else {
			c.MetaData.Encoding = append(c.MetaData.Encoding, format.Plain)
		}
		return bounds{}, nil
	}
	m := &c.MetaData
	m.Encoding = append(m.Encoding, format.Plain, format.RLEDictionary)
	m.DictionaryPageOffset = int64(len(e.out))
	e.page = append(e.page[:0], e.dict.plain...)
	h := format.PageHeader{Type: format.DictionaryPage,
		DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: int32(e.dict.n), Encoding: format.Plain})}
	if err := e.write(c, &h); err != nil {
		return bounds{}, err
	}
	return boundsOf(f, e.l.physical, e.dict.plain), nil
}

// findRepeats fills the dictionary with the values of all rows; false: they do not repeat.
func (e *pageEncoder) findRepeats(rows int) bool {
	for row := 0; row < rows; {
		end := min(rows, row+4096)
		e.quiet = true
		e.shred(row, end)
		for _, s := range e.spans {
			if !e.dict.add(e.l, e.column(), s) {
				return false
			}
		}
		row = end
	}
	return e.dict.n > 0
}

// valueEncoding returns the encoding of values that do not repeat.
func valueEncoding(l *leaf) format.Encoding {
	if l.physical == format.Int32 || l.physical == format.Int64 {
		return format.DeltaBinaryPacked
	}
	return format.Plain
}

// data writes a page of what was shredded, from a row on. With a dictionary the values are indexes, and all are the
// bounds of all of it.
func (e *pageEncoder) data(c *chunk, row int, indexes []int32, all bounds) (err error) {
	l := e.l
	if err := e.beginPage(); err != nil {
		return err
	}
	own, encoding := all, format.RLEDictionary
	if e.repeats {
		if e.page, err = e.appendIndexes(e.page, indexes, e.dict.n); err != nil {
			return err
		}
		if e.values == 0 {
			own = bounds{}
		}
	} else {
		own = e.appendValues()
		encoding = valueEncoding(l)
	}
	nulls := e.nulls()
	h := format.PageHeader{Type: format.DataPage,
		DataPageHeader: thrift.New(format.DataPageHeader{NumValues: int32(e.count), Encoding: encoding,
			DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE})}
	at := len(e.out)
	if err := e.write(c, &h); err != nil {
		return err
	}
	c.offsets.PageLocations = append(c.offsets.PageLocations, format.PageLocation{Offset: int64(at),
		CompressedPageSize: int32(len(e.out) - at), FirstRowIndex: int64(row)})
	c.addBounds(l.field, own, e.values, nulls)
	c.MetaData.NumValues += int64(e.count)
	return nil
}

// beginPage begins a page with its levels. The levels of lists of the same size are the same in
// every page of as many.
func (e *pageEncoder) beginPage() (err error) {
	e.page = e.page[:0]
	regular := [2]int{e.count, e.l.block}
	if e.quiet && e.levels.of == regular {
		e.page = append(e.page, e.levels.bytes...)
		return nil
	}
	if e.quiet {
		e.defs, e.reps = fill(e.defs, e.count, 1), e.reps[:0]
		for n := 0; n < e.count; n += e.l.block {
			e.reps = fill(append(e.reps, 0), e.l.block-1, 1)
		}
	}
	if e.l.rep > 0 {
		if e.page, err = e.appendLevels(e.page, e.reps, e.l.rep); err != nil {
			return err
		}
	}
	if e.l.def > 0 {
		if e.page, err = e.appendLevels(e.page, e.defs, e.l.def); err != nil {
			return err
		}
	}
	if e.quiet {
		e.levels.of, e.levels.bytes = regular, append(e.levels.bytes[:0], e.page...)
	}
	return nil
}

// nulls returns how many levels of the page have no value.
func (e *pageEncoder) nulls() int { return e.count - e.values }

// appendValues appends the values of the page, and returns their bounds.
func (e *pageEncoder) appendValues() bounds {
	l, c := e.l, e.column()
	if c.Field.Kind == columns.Bool {
		e.plain = appendPlain(e.plain[:0], l, c, e.spans)
		e.page = appendBits(e.page, e.plain)
		return boundsOf(l.field, l.physical, e.plain)
	}
	if valueEncoding(l) == format.DeltaBinaryPacked {
		e.plain = appendPlain(e.plain[:0], l, c, e.spans)
		e.page = e.appendDelta(e.page, e.plain, l.physical)
		return boundsOf(l.field, l.physical, e.plain)
	}
	at := len(e.page)
	e.page = appendPlain(e.page, l, c, e.spans)
	return boundsOf(l.field, l.physical, e.page[at:])
}

// addBounds adds the bounds of a page.
func (c *chunk) addBounds(f *columns.Field, b bounds, values, nulls int) {
	x, s := &c.bounds, &c.MetaData.Statistics
	x.NullPages = append(x.NullPages, values == 0)
	x.MinValues, x.MaxValues = append(x.MinValues, b.low), append(x.MaxValues, b.high)
	x.NullCounts = append(x.NullCounts, int64(nulls))
	c.unknown = c.unknown || values > 0 && b.low == nil
	s.NullCount += int64(nulls)
	all := bounds{s.MinValue, s.MaxValue}.join(b, f)
	s.MinValue, s.MaxValue = all.low, all.high
}

// end fills in what is known behind the last page.
func (c *chunk) end(f *columns.Field) {
	if c.unknown && f.Kind != columns.Float32 && f.Kind != columns.Float64 { // a float there is NaN, in no bounds
		c.MetaData.Statistics.MinValue, c.MetaData.Statistics.MaxValue = nil, nil
	}
	up, down := true, true
	for i := 1; i < len(c.bounds.NullPages); i++ {
		a, b := c.bounds.MinValues, c.bounds.MaxValues
		if c.bounds.NullPages[i-1] || c.bounds.NullPages[i] || a[i] == nil || a[i-1] == nil {
			up, down = false, false
			break
		}
		up = up && compare(a[i-1], a[i], f) <= 0 && compare(b[i-1], b[i], f) <= 0
		down = down && compare(a[i-1], a[i], f) >= 0 && compare(b[i-1], b[i], f) >= 0
	}
	switch {
	case up:
		c.bounds.BoundaryOrder = format.Ascending
	case down:
		c.bounds.BoundaryOrder = format.Descending
	}
}

// write writes the page behind its header.
func (e *pageEncoder) write(c *chunk, h *format.PageHeader) (err error) {
	body := e.page
	if len(body) > math.MaxInt32 {
		return fmt.Errorf("a page of %d bytes has no place in Parquet", len(body))
	}
	if e.level >= 0 {
		if e.compressed, err = zstd.Encode(e.compressed[:0], body, max(1, e.level)); err != nil {
			return err
		}
		body = e.compressed
	}
	h.UncompressedPageSize, h.CompressedPageSize = int32(len(e.page)), int32(len(body))
	head, err := thrift.Marshal(&thrift.CompactProtocol{}, h)
	if err != nil {
		return err
	}
	c.MetaData.TotalUncompressedSize += int64(len(head) + len(e.page))
	e.out = append(append(e.out, head...), body...)
	return nil
}
