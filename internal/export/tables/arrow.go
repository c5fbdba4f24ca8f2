package tables

import (
	"encoding/binary"
	"io"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/bagconv/bagconv/internal/export/columns"
)

// An arrowTable is a file or a stream of Arrow IPC, on its way. Each part is a record batch.
type arrowTable struct {
	schema *arrow.Schema
	out    interface {
		Write(b arrow.RecordBatch) error
		io.Closer
	}
	texts map[*columns.Field]*texts // of the enums

	mu    sync.Mutex
	spare [][]byte // memory of values that are written, to be used again: pages of new memory cost as much as a copy
}

// Memory of so many bytes and more is used again, and so many pieces of it are kept.
const (
	leastSpare = 256 << 10
	mostSpares = 4
)

// copied returns a copy of values.
func (t *arrowTable) copied(b []byte) []byte {
	if len(b) < leastSpare {
		return slices.Clone(b)
	}
	return append(t.take(len(b)), b...)
}

// take returns memory for n bytes; nil if no memory can be used again.
func (t *arrowTable) take(n int) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, s := range t.spare {
		if cap(s) >= n {
			t.spare = slices.Delete(t.spare, i, i+1)
			return s[:0]
		}
	}
	return nil
}

// recycle takes the memory of values back.
func (t *arrowTable) recycle(list [][]byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.spare = append(t.spare, list...)
	if more := len(t.spare) - mostSpares; more > 0 {
		t.spare = slices.Delete(t.spare, 0, more)
	}
}

// texts are the texts of a dictionary: it only grows, so that batches before know theirs.
type texts struct {
	list  []string
	index map[string]int32 // of texts that are not names
}

// NewArrowFile begins a file of Arrow IPC. An enum is a string there: the dictionary of a file is whole before its
// first record batch, and numbers without a name come later.
func NewArrowFile(w io.Writer, schema []columns.Field, meta []KeyValue, o Options) (Table, error) {
	t := newArrow(schema, meta, o, typer{plain: true})
	out, err := ipc.NewFileWriter(w, ipc.WithSchema(t.schema))
	t.out = out
	return t, err
}

// NewArrowStream begins a stream of Arrow IPC. An enum has a dictionary; numbers without a name that come later make a
// longer one, which replaces it. Some readers know no other change.
func NewArrowStream(w io.Writer, schema []columns.Field, meta []KeyValue, o Options) (Table, error) {
	t := newArrow(schema, meta, o, typer{})
	t.out = ipc.NewWriter(w, ipc.WithSchema(t.schema))
	return t, nil
}

func newArrow(schema []columns.Field, meta []KeyValue, o Options, types typer) *arrowTable {
	return &arrowTable{schema: types.schema(schema, withConstants(meta, o.Constants)), texts: map[*columns.Field]*texts{}}
}

// An arrowPart is a Part of Arrow: buffers as the file has them.
type arrowPart struct {
	of    *arrowTable
	rows  int
	size  int
	cols  []*array.Data
	enums []enumPart
	large [][]byte // values that table.copied has copied
}

// An enumPart is a column whose dictionary is not known before the parts before it are written.
type enumPart struct {
	data    *array.Data
	field   *columns.Field
	indexes []byte
	unnamed []string
}

func (p *arrowPart) Rows() int { return p.rows }
func (p *arrowPart) Size() int { return p.size }

// Encode makes a record batch.
func (t *arrowTable) Encode(b *columns.Batch) (Part, error) {
	p := &arrowPart{of: t, rows: b.Len()}
	for i, c := range b.Columns() {
		p.cols = append(p.cols, p.data(c, t.schema.Field(i).Type))
	}
	return p, nil
}

// data copies a column into buffers of Arrow.
func (p *arrowPart) data(c *columns.Column, t arrow.DataType) *array.Data {
	buffers := []*memory.Buffer{nil}
	if c.Nulls > 0 {
		buffers[0] = p.buffer(appendBits(nil, c.Valid))
	}
	if c.Offsets != nil {
		buffers = append(buffers, p.buffer(arrow.Int32Traits.CastToBytes(slices.Clone(c.Offsets))))
	}
	var below []arrow.ArrayData
	plainEnum := c.Field.Kind == columns.Enum && t.ID() == arrow.STRING
	switch k := c.Field.Kind; k {
	case columns.Struct, columns.List, columns.FixedList, columns.Map:
		children := childTypes(t)
		for i, child := range c.Children {
			below = append(below, p.data(child, children[i]))
		}
	case columns.Bool:
		buffers = append(buffers, p.buffer(appendBits(nil, c.Values)))
	case columns.Enum:
		if plainEnum {
			offsets, text := enumTexts(c)
			buffers = append(buffers, p.buffer(offsets), p.buffer(text))
			break
		}
		buffers = append(buffers, p.buffer(slices.Clone(c.Values)))
	default:
		values := p.of.copied(c.Values)
		if len(values) >= leastSpare {
			p.large = append(p.large, values)
		}
		buffers = append(buffers, p.buffer(values))
	}
	d := array.NewData(t, c.Len, buffers, below, c.Nulls, 0)
	if c.Field.Kind == columns.Enum && !plainEnum {
		p.enums = append(p.enums, enumPart{d, c.Field, buffers[1].Bytes(), slices.Clone(c.Texts)})
	}
	return d
}

// enumTexts returns the texts of all values, one behind the other, and where each begins.
func enumTexts(c *columns.Column) (offsets, text []byte) {
	offsets = binary.LittleEndian.AppendUint32(nil, 0)
	for i := range c.Len {
		if !c.Null(i) {
			text = append(text, textOf(c, i)...)
		}
		offsets = binary.LittleEndian.AppendUint32(offsets, uint32(len(text)))
	}
	return offsets, text
}

func (p *arrowPart) buffer(b []byte) *memory.Buffer {
	p.size += len(b)
	return memory.NewBufferBytes(b)
}

// childTypes returns the types of what is in a value.
func childTypes(t arrow.DataType) (list []arrow.DataType) {
	for _, f := range t.(arrow.NestedType).Fields() {
		list = append(list, f.Type)
	}
	return list
}

// Append writes a record batch, and before it what is new in its dictionaries.
func (t *arrowTable) Append(part Part) error {
	p, ok := part.(*arrowPart)
	if !ok || p.of != t {
		return errForeignPart
	}
	if p.rows == 0 {
		return nil
	}
	for i := range p.enums {
		t.setDictionary(&p.enums[i])
	}
	cols := make([]arrow.Array, len(p.cols))
	for i, d := range p.cols {
		cols[i] = array.MakeFromData(d)
	}
	err := t.out.Write(array.NewRecordBatch(t.schema, cols, int64(p.rows)))
	t.recycle(p.large)
	p.large = nil
	return err
}

// setDictionary gives a column the dictionary that its table has by now, with the texts that only the column has
// behind it.
func (t *arrowTable) setDictionary(e *enumPart) {
	known := t.texts[e.field]
	if known == nil {
		known = &texts{list: slices.Clone(e.field.Texts), index: map[string]int32{}}
		t.texts[e.field] = known
	}
	names := len(e.field.Texts)
	moved := make([]int32, len(e.unnamed))
	for i, text := range e.unnamed {
		index, ok := known.index[text]
		if !ok {
			index = int32(len(known.list))
			known.list, known.index[text] = append(known.list, text), index
		}
		moved[i] = index
	}
	if len(moved) > 0 {
		for p := e.indexes; len(p) >= 4; p = p[4:] {
			if i := int(binary.LittleEndian.Uint32(p)); i >= names {
				binary.LittleEndian.PutUint32(p, uint32(moved[i-names]))
			}
		}
	}
	list := array.NewStringBuilder(memory.DefaultAllocator)
	list.AppendValues(known.list, nil)
	e.data.SetDictionary(list.NewArray().Data())
}

// Close ends the file or stream.
func (t *arrowTable) Close() error { return t.out.Close() }
