package tables

import (
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/bagconv/bagconv/internal/export/columns"
)

// A leaf is a column of Parquet: one whose values are no structs and no lists.
type leaf struct {
	field    *columns.Field
	way      []int    // indexes from the columns of the batch to its column
	path     []string // names of the schema
	rep, def int      // the highest levels
	physical format.Type
	block    int // values of a FixedList of numbers: they are often the same in each row
}

// A shaper makes the schema of Parquet:
//
//	struct       group
//	List         group (LIST) { repeated group list { element } }    FixedList, too
//	Map          group (MAP) { repeated group key_value { key, value } }
type shaper struct {
	elements []format.SchemaElement
	leaves   []*leaf
}

func shape(schema []columns.Field) *shaper {
	s := &shaper{}
	s.group("schema", nil, len(schema))
	for i := range schema {
		s.add(&schema[i], schema[i].Name, leaf{way: []int{i}})
	}
	return s
}

func (s *shaper) group(name string, r *format.FieldRepetitionType, children int) *format.SchemaElement {
	e := format.SchemaElement{Name: name, NumChildren: thrift.New(int32(children))}
	if r != nil {
		e.RepetitionType = thrift.New(*r)
	}
	s.elements = append(s.elements, e)
	return &s.elements[len(s.elements)-1]
}

// add adds a field; at has where it stands: its way, the path and the levels of what is around it.
func (s *shaper) add(f *columns.Field, name string, at leaf) {
	required, optional, repeated := format.Required, format.Optional, format.Repeated
	repetition := required
	if f.Nullable {
		repetition = optional
		at.def++
	}
	at.path = append(at.path[:len(at.path):len(at.path)], name)
	switch f.Kind {
	case columns.Struct:
		s.group(name, &repetition, len(f.Children))
		for i := range f.Children {
			s.add(&f.Children[i], f.Children[i].Name, at.below(i))
		}
	case columns.List, columns.FixedList:
		e := s.group(name, &repetition, 1)
		e.LogicalType.Value, e.ConvertedType = &format.ListType{}, thrift.New(deprecated.List)
		s.group("list", &repeated, 1)
		at.rep, at.def = at.rep+1, at.def+1
		at.path = append(at.path, "list")
		if f.Kind == columns.FixedList {
			at.block = f.Size
		}
		s.add(&f.Children[0], "element", at.below(0))
	case columns.Map:
		e := s.group(name, &repetition, 1)
		e.LogicalType.Value, e.ConvertedType = &format.MapType{}, thrift.New(deprecated.Map)
		entries := &f.Children[0]
		s.group("key_value", &repeated, len(entries.Children))
		at.rep, at.def = at.rep+1, at.def+1
		at.path = append(at.path, "key_value")
		below := at.below(0)
		for i := range entries.Children {
			s.add(&entries.Children[i], entries.Children[i].Name, below.below(i))
		}
	default:
		e := format.SchemaElement{Name: name, RepetitionType: thrift.New(repetition)}
		setType(&e, f)
		s.elements = append(s.elements, e)
		at.field, at.physical = f, e.Type.V
		s.leaves = append(s.leaves, &at)
	}
}

// below returns where child i stands.
func (l leaf) below(i int) leaf {
	l.way = append(l.way[:len(l.way):len(l.way)], i)
	return l
}

var integerTypes = map[columns.Kind]deprecated.ConvertedType{
	columns.Int8: deprecated.Int8, columns.Int16: deprecated.Int16, columns.Int32: deprecated.Int32,
	columns.Int64: deprecated.Int64,
	columns.Uint8: deprecated.Uint8, columns.Uint16: deprecated.Uint16, columns.Uint32: deprecated.Uint32,
	columns.Uint64: deprecated.Uint64}

// setType fills in the type of a leaf.
func setType(e *format.SchemaElement, f *columns.Field) {
	physical := format.ByteArray
	switch f.Kind {
	case columns.Bool:
		physical = format.Boolean
	case columns.Float32:
		physical = format.Float
	case columns.Float64:
		physical = format.Double
	case columns.Time:
		physical = format.Int64
		e.LogicalType.Value = &format.TimestampType{IsAdjustedToUTC: true,
			Unit: format.TimeUnit{Value: &format.NanoSeconds{}}}
	case columns.Duration:
		physical = format.Int64
	case columns.Text, columns.Enum:
		e.LogicalType.Value, e.ConvertedType = &format.StringType{}, thrift.New(deprecated.UTF8)
	case columns.FixedBinary:
		physical = format.FixedLenByteArray
		e.TypeLength = thrift.New(int32(f.Size))
	case columns.Binary:
	default:
		if physical = format.Int32; f.Width() == 8 {
			physical = format.Int64
		}
		e.ConvertedType = thrift.New(integerTypes[f.Kind])
		e.LogicalType.Value = &format.IntType{BitWidth: int8(8 * f.Width()), IsSigned: isSigned(f.Kind)}
	}
	e.Type = thrift.New(physical)
}

func isSigned(k columns.Kind) bool { return k >= columns.Int8 && k <= columns.Int64 }
