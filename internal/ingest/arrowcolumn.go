package ingest

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/bagconv/bagconv/internal/ingest/build"
	"github.com/bagconv/bagconv/storage"
)

// arrowColumn returns an array as a column that shares its memory. All lengths and offsets are compared with the
// buffers, so that no value is beyond them.
func arrowColumn(name string, d arrow.ArrayData) (*build.Column, error) {
	c := &build.Column{Name: name, Len: d.Len(), First: d.Offset()}
	a := arrays{c: c, d: d, end: d.Offset() + d.Len()}
	if d.Len() < 0 || d.Offset() < 0 || d.Len() > math.MaxInt32 || d.Offset() > math.MaxInt32 {
		return nil, a.wrong("its length is negative, or more than 2^31")
	}
	if b := a.buffer(0); len(b) > 0 && d.NullN() != 0 {
		if len(b) < (a.end+7)/8 {
			return nil, a.wrong("its nulls are fewer than its values")
		}
		c.Valid = b
	}
	err := a.fill()
	return c, err
}

// arrays is an array that becomes a column.
type arrays struct {
	c   *build.Column
	d   arrow.ArrayData
	end int // of its values in its buffers
}

func (a *arrays) wrong(what string) error {
	return fmt.Errorf("column %q of %s: %s: %w", a.c.Name, a.d.DataType(), what, storage.ErrCorrupt)
}

func (a *arrays) buffer(i int) []byte {
	if list := a.d.Buffers(); i < len(list) && list[i] != nil {
		return list[i].Bytes()
	}
	return nil
}

// numbers takes the values of numbers of so many bits.
func (a *arrays) numbers(k build.Kind, bits int) error {
	a.c.Kind, a.c.Width, a.c.Values = k, bits/8, a.buffer(1)
	if bits == 1 {
		bits, a.c.Width = 1, 0
	}
	if int64(len(a.c.Values)) < (int64(a.end)*int64(bits)+7)/8 {
		return a.wrong("its values are fewer than its length")
	}
	return nil
}

// times takes times in a unit.
func (a *arrays) times(unit arrow.TimeUnit, bits int) error {
	a.c.Unit = int64(unit.Multiplier())
	return a.numbers(build.Time, bits)
}

func (a *arrays) fill() error {
	switch t := a.d.DataType().(type) {
	case *arrow.NullType:
		a.c.Kind = build.Nothing
	case *arrow.BooleanType:
		return a.numbers(build.Bool, 1)
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type:
		return a.numbers(build.Signed, t.(arrow.FixedWidthDataType).BitWidth())
	case *arrow.Uint8Type, *arrow.Uint16Type, *arrow.Uint32Type, *arrow.Uint64Type:
		return a.numbers(build.Unsigned, t.(arrow.FixedWidthDataType).BitWidth())
	case *arrow.Float16Type, *arrow.Float32Type, *arrow.Float64Type:
		return a.numbers(build.Float, t.(arrow.FixedWidthDataType).BitWidth())
	case *arrow.TimestampType:
		return a.times(t.Unit, 64)
	case *arrow.DurationType:
		return a.times(t.Unit, 64)
	case *arrow.StringType, *arrow.BinaryType:
		return a.texts(32)
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		return a.texts(64)
	case *arrow.StringViewType, *arrow.BinaryViewType:
		return a.views()
	case *arrow.FixedSizeBinaryType:
		return a.numbers(build.Bytes, 8*t.ByteWidth)
	case *arrow.StructType:
		a.c.Kind = build.Struct
		for i, f := range t.Fields() {
			if err := a.child(f.Name, i, a.end); err != nil {
				return err
			}
		}
	case *arrow.ListType, *arrow.MapType:
		return a.lists(32)
	case *arrow.LargeListType:
		return a.lists(64)
	case *arrow.FixedSizeListType:
		a.c.Kind, a.c.Width = build.List, int(t.Len())
		if a.c.Width > 0 && a.end > math.MaxInt32/a.c.Width {
			return a.wrong("it has more than 2^31 elements")
		}
		return a.child("item", 0, a.end*a.c.Width)
	case *arrow.DictionaryType:
		return a.dictionary(t)
	default:
		return fmt.Errorf("column %q: values of %s cannot be imported: %w", a.c.Name, t, storage.ErrUnsupported)
	}
	return nil
}

// child adds the column of a child that must have so many values.
func (a *arrays) child(name string, i, least int) error {
	list := a.d.Children()
	if i >= len(list) || list[i].Len() < least {
		return a.wrong("its values are fewer than its length")
	}
	child, err := arrowColumn(name, list[i])
	a.c.Children = append(a.c.Children, child)
	return err
}

// offsets takes the offsets of texts and lists, of so many bits each, which lead to no more than limit.
func (a *arrays) offsets(bits, limit int) error {
	b := a.buffer(1)
	if a.end == 0 && len(b) == 0 {
		a.c.Offsets = []int32{0}
		return nil
	}
	if len(b) < (a.end+1)*bits/8 {
		return a.wrong("its offsets are fewer than its values")
	}
	if limit > 1<<31-1 {
		return a.wrong("it has more than 2 GiB")
	}
	a.c.Offsets = make([]int32, a.end+1)
	last := int64(0)
	for i := range a.c.Offsets {
		var at int64
		if bits == 32 {
			at = int64(int32(binary.LittleEndian.Uint32(b[4*i:])))
		} else {
			at = int64(binary.LittleEndian.Uint64(b[8*i:]))
		}
		if i >= a.c.First && (at < last || at > int64(limit)) {
			return a.wrong(fmt.Sprintf("an offset is %d after %d, of %d", at, last, limit))
		}
		if i >= a.c.First {
			a.c.Offsets[i], last = int32(at), at
		}
	}
	return nil
}

func (a *arrays) texts(bits int) error {
	a.c.Kind, a.c.Values = build.Bytes, a.buffer(2)
	return a.offsets(bits, len(a.c.Values))
}

func (a *arrays) lists(bits int) error {
	list := a.d.Children()
	if len(list) != 1 {
		return a.wrong("it has no values")
	}
	a.c.Kind = build.List
	if err := a.offsets(bits, list[0].Len()); err != nil {
		return err
	}
	return a.child("item", 0, 0)
}

// views copies texts that lie in several buffers: 16 bytes each, i32 length, and the text if it has 12 bytes at most,
// else i32 its beginning, i32 buffer, i32 offset.
func (a *arrays) views() error {
	b := a.buffer(1)
	if len(b) < 16*a.end {
		return a.wrong("its values are fewer than its length")
	}
	c := a.c
	c.Kind, c.Offsets = build.Bytes, make([]int32, a.end+1)
	for i := c.First; i < a.end; i++ {
		v := b[16*i:]
		n := int(int32(binary.LittleEndian.Uint32(v)))
		c.Offsets[i] = int32(len(c.Values))
		switch {
		case c.Valid != nil && c.Valid[i>>3]>>(i&7)&1 == 0:
			n, v = 0, nil
		case n >= 0 && n <= 12:
			v = v[4:]
		default:
			text := a.buffer(2 + int(binary.LittleEndian.Uint32(v[8:])))
			at := int(binary.LittleEndian.Uint32(v[12:]))
			if n < 0 || at > len(text)-n {
				return a.wrong("a text is beyond its buffer")
			}
			v = text[at:]
		}
		if len(c.Values)+n > 1<<31-1 {
			return a.wrong("it has more than 2 GiB")
		}
		c.Values = append(c.Values, v[:n]...)
	}
	c.Offsets[a.end] = int32(len(c.Values))
	return nil
}

// dictionary takes the indices, and the texts.
func (a *arrays) dictionary(t *arrow.DictionaryType) error {
	index, ok := t.IndexType.(arrow.FixedWidthDataType)
	values, _ := a.d.Dictionary().(*array.Data)
	if !ok || values == nil {
		return a.wrong("it has no dictionary")
	}
	var err error
	if a.c.Dictionary, err = arrowColumn(a.c.Name, values); err != nil {
		return err
	}
	if a.c.Dictionary.Kind != build.Bytes {
		return fmt.Errorf("column %q: a dictionary of %s cannot be imported: %w", a.c.Name, t.ValueType,
			storage.ErrUnsupported)
	}
	return a.numbers(build.Texts, index.BitWidth())
}
