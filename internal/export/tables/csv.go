package tables

import (
	"encoding/base64"
	"encoding/binary"
	"io"
	"math"
	"strconv"

	"github.com/bagconv/bagconv/internal/convert/render"
	"github.com/bagconv/bagconv/internal/export/columns"
)

// A csvTable is a file of CSV, on its way: a line with the names of all cells, then a line for each
// row. The members of structs are cells of their own; a list is JSON in one cell. The text of a
// value is as in package render, with these words:
//
//	time, duration    an integer of ns
//	bytes             base64
//	struct of no fields    true
//	null              an empty cell; an empty text is ""
type csvTable struct {
	w   io.Writer
	way [][]int // of each cell: indexes from the columns of the batch
}

// NewCSV begins a file of CSV. It has no place for metadata.
func NewCSV(w io.Writer, schema []columns.Field, _ []KeyValue, _ Options) (Table, error) {
	t := &csvTable{w: w}
	var head []byte
	for i := range schema {
		head = t.addCells(head, &schema[i], schema[i].Name, []int{i})
	}
	_, err := w.Write(append(head, '\n'))
	return t, err
}

// addCells adds the cells of a field, and their names to the first line.
func (t *csvTable) addCells(head []byte, f *columns.Field, name string, way []int) []byte {
	if f.Kind == columns.Struct {
		for i := range f.Children {
			child := &f.Children[i]
			head = t.addCells(head, child, name+"."+child.Name, append(way[:len(way):len(way)], i))
		}
		return head
	}
	if len(t.way) > 0 {
		head = append(head, ',')
	}
	t.way = append(t.way, way)
	return render.AppendCell(head, []byte(name))
}

// A csvPart is a Part of CSV: its lines.
type csvPart struct {
	of    *csvTable
	rows  int
	lines []byte
}

func (p *csvPart) Rows() int { return p.rows }
func (p *csvPart) Size() int { return len(p.lines) }

// Encode makes lines.
func (t *csvTable) Encode(b *columns.Batch) (Part, error) {
	p := &csvPart{of: t, rows: b.Len()}
	cols := b.Columns()
	for row := range p.rows {
		for i, way := range t.way {
			if i > 0 {
				p.lines = append(p.lines, ',')
			}
			p.lines = appendWay(p.lines, cols, way, row)
		}
		p.lines = append(p.lines, '\n')
	}
	return p, nil
}

// appendWay appends the cell at the end of a way.
func appendWay(dst []byte, cols []*columns.Column, way []int, row int) []byte {
	for {
		c := cols[way[0]]
		if c.Null(row) {
			return dst
		}
		if way = way[1:]; len(way) == 0 {
			return appendCell(dst, c, row)
		}
		cols = c.Children
	}
}

// appendCell appends a value as a cell.
func appendCell(dst []byte, c *columns.Column, i int) []byte {
	switch c.Field.Kind {
	case columns.Text, columns.Enum:
		return render.AppendCell(dst, textOf(c, i))
	case columns.List, columns.FixedList, columns.Map:
		at := len(dst)
		return render.QuoteCell(appendJSON(dst, c, i), at)
	case columns.Binary, columns.FixedBinary:
		if b := bytesOf(c, i); len(b) > 0 {
			return base64.StdEncoding.AppendEncode(dst, b)
		}
		return append(dst, `""`...)
	}
	return appendNumberText(dst, c, i, render.CSV)
}

// appendJSON appends a value in a list.
func appendJSON(dst []byte, c *columns.Column, i int) []byte {
	if c.Null(i) {
		return append(dst, "null"...)
	}
	switch c.Field.Kind {
	case columns.Text, columns.Enum:
		return render.AppendQuoted(dst, textOf(c, i))
	case columns.Binary, columns.FixedBinary:
		return append(base64.StdEncoding.AppendEncode(append(dst, '"'), bytesOf(c, i)), '"')
	case columns.Struct:
		dst = append(dst, '{')
		for k, child := range c.Children {
			if k > 0 {
				dst = append(dst, ',')
			}
			dst = append(render.AppendQuoted(dst, []byte(child.Field.Name)), ':')
			dst = appendJSON(dst, child, i)
		}
		return append(dst, '}')
	case columns.List, columns.FixedList, columns.Map:
		dst = append(dst, '[')
		from, to := elements(c, i)
		for k := from; k < to; k++ {
			if k > from {
				dst = append(dst, ',')
			}
			dst = appendJSON(dst, c.Children[0], k)
		}
		return append(dst, ']')
	}
	return appendNumberText(dst, c, i, render.JSON)
}

// appendNumberText appends a number or bool. In JSON an integer of 64 bits is a string.
func appendNumberText(dst []byte, c *columns.Column, i int, style render.Style) []byte {
	w := c.Field.Width()
	var b [8]byte
	copy(b[:], c.Values[i*w:(i+1)*w])
	bits := binary.LittleEndian.Uint64(b[:])
	signed := int64(bits<<(64-8*w)) >> (64 - 8*w)
	quote := w == 8 && style == render.JSON
	switch c.Field.Kind {
	case columns.Bool:
		return strconv.AppendBool(dst, bits != 0)
	case columns.Float32:
		return render.AppendFloat(dst, float64(math.Float32frombits(uint32(bits))), 32, style)
	case columns.Float64:
		return render.AppendFloat(dst, math.Float64frombits(bits), 64, style)
	case columns.Uint8, columns.Uint16, columns.Uint32:
		return strconv.AppendUint(dst, bits, 10)
	}
	if quote {
		dst = append(dst, '"')
	}
	if c.Field.Kind == columns.Uint64 {
		dst = strconv.AppendUint(dst, bits, 10)
	} else {
		dst = strconv.AppendInt(dst, signed, 10)
	}
	if quote {
		dst = append(dst, '"')
	}
	return dst
}

// textOf returns a text, or the text of an enum.
func textOf(c *columns.Column, i int) []byte {
	if c.Field.Kind == columns.Text {
		return bytesOf(c, i)
	}
	return []byte(enumText(c, int(binary.LittleEndian.Uint32(c.Values[4*i:]))))
}

// enumText returns the text of an index.
func enumText(c *columns.Column, index int) string {
	if names := c.Field.Texts; index < len(names) {
		return names[index]
	}
	return c.Texts[index-len(c.Field.Texts)]
}

func bytesOf(c *columns.Column, i int) []byte {
	if c.Field.Kind == columns.FixedBinary {
		return c.Values[i*c.Field.Size : (i+1)*c.Field.Size]
	}
	return c.Values[c.Offsets[i]:c.Offsets[i+1]]
}

// Append writes lines.
func (t *csvTable) Append(part Part) error {
	p, ok := part.(*csvPart)
	if !ok || p.of != t {
		return errForeignPart
	}
	_, err := t.w.Write(p.lines)
	return err
}

// Close does nothing: a file of CSV has no end.
func (t *csvTable) Close() error { return nil }
