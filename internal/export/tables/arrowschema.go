package tables

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/bagconv/bagconv/internal/export/columns"
	"github.com/bagconv/bagconv/schema"
)

// A typer makes types of Arrow.
type typer struct {
	plain   bool // an enum is a string, and no dictionary
	parquet bool
	absent  bool // the value around may be null
}

// schema returns the schema of a table.
func (t typer) schema(fields []columns.Field, meta []KeyValue) *arrow.Schema {
	list := make([]arrow.Field, len(fields))
	for i := range fields {
		list[i] = t.field(&fields[i])
	}
	var keys, values []string
	for _, kv := range meta {
		keys, values = append(keys, kv.Key), append(values, kv.Value)
	}
	m := arrow.NewMetadata(keys, values)
	return arrow.NewSchema(list, &m)
}

func (t typer) field(f *columns.Field) arrow.Field {
	t.absent = t.absent || f.Nullable
	a := arrow.Field{Name: f.Name, Type: t.typeOf(f), Nullable: f.Nullable}
	if len(f.Constants) > 0 {
		a.Metadata = arrow.NewMetadata([]string{constantsKey}, []string{constantsText(f.Constants)})
	}
	return a
}

var arrowTypes = map[columns.Kind]arrow.DataType{
	columns.Bool: arrow.FixedWidthTypes.Boolean,
	columns.Int8: arrow.PrimitiveTypes.Int8, columns.Int16: arrow.PrimitiveTypes.Int16,
	columns.Int32: arrow.PrimitiveTypes.Int32, columns.Int64: arrow.PrimitiveTypes.Int64,
	columns.Uint8: arrow.PrimitiveTypes.Uint8, columns.Uint16: arrow.PrimitiveTypes.Uint16,
	columns.Uint32: arrow.PrimitiveTypes.Uint32, columns.Uint64: arrow.PrimitiveTypes.Uint64,
	columns.Float32: arrow.PrimitiveTypes.Float32, columns.Float64: arrow.PrimitiveTypes.Float64,
	columns.Time:     &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"},
	columns.Duration: arrow.FixedWidthTypes.Duration_ns,
	columns.Text:     arrow.BinaryTypes.String, columns.Binary: arrow.BinaryTypes.Binary,
	columns.Enum: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String},
}

func (t typer) typeOf(f *columns.Field) arrow.DataType {
	switch f.Kind {
	case columns.FixedBinary:
		return &arrow.FixedSizeBinaryType{ByteWidth: f.Size}
	case columns.Struct:
		members := make([]arrow.Field, len(f.Children))
		for i := range f.Children {
			members[i] = t.field(&f.Children[i])
		}
		return arrow.StructOf(members...)
	case columns.FixedList:
		if !t.parquet || !t.absent {
			return arrow.FixedSizeListOfField(int32(f.Size), t.field(&f.Children[0]))
		}
		fallthrough // of a null there are no elements in Parquet, and readers refuse a list of another size
	case columns.List:
		return arrow.ListOfField(t.field(&f.Children[0]))
	case columns.Map:
		entry := f.Children[0].Children
		return arrow.MapOfFields(t.field(&entry[0]), t.field(&entry[1]))
	}
	if f.Kind == columns.Enum && t.plain {
		return arrow.BinaryTypes.String
	}
	return arrowTypes[f.Kind]
}

// arrowText returns the schema as the metadata of Parquet has it: the message of Arrow IPC in base64.
func arrowText(fields []columns.Field, meta []KeyValue) (string, error) {
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(typer{parquet: true}.schema(fields, meta)))
	if err := w.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}

const constantsKey = "constants"

// constantsText returns constants as an object of JSON, in their order: numbers and bools as they are in the
// definition if JSON has them so, others as text.
func constantsText(list []schema.Constant) string {
	b := []byte{'{'}
	for i, c := range list {
		if i > 0 {
			b = append(b, ',')
		}
		name, _ := json.Marshal(c.Name) // a string cannot fail
		b = append(append(b, name...), ':')
		switch value := []byte(c.Text); {
		case c.Kind == schema.Bool:
			b = append(b, boolText(c.Text)...)
		case c.Kind != schema.String && c.Kind != schema.WString && json.Valid(value):
			b = append(b, value...)
		default:
			text, _ := json.Marshal(c.Text)
			b = append(b, text...)
		}
	}
	return string(append(b, '}'))
}

func boolText(text string) string {
	switch text {
	case "0", "false", "False", "FALSE":
		return "false"
	}
	return "true"
}

// withConstants adds the constants of the type of the messages.
func withConstants(meta []KeyValue, list []schema.Constant) []KeyValue {
	if len(list) == 0 {
		return slices.Clone(meta)
	}
	return append(slices.Clone(meta), KeyValue{constantsKey, constantsText(list)})
}
