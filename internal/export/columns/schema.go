package columns

import "github.com/bagconv/bagconv/schema"

// A Kind is what the values of a column are.
type Kind uint8

// The kinds. Numbers are little endian.
const (
	Bool Kind = iota // one byte, 0 or 1
	Int8
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Float32
	Float64
	Time        // int64, ns since 1970, UTC
	Duration    // int64, ns
	Enum        // int32, an index into Field.Texts, and behind these into Column.Texts
	Text        // UTF-8
	Binary      //
	FixedBinary // Field.Size bytes
	Struct      // Field.Children are its members
	List        // Field.Children[0] is its element
	FixedList   // Field.Size elements, Field.Children[0]
	Map         // as List; the element is a Struct of key and value
)

var kindNames = [...]string{"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32",
	"float64",
	"time", "duration", "enum", "text", "binary", "fixed binary", "struct", "list", "fixed list", "map"}

// String returns the name of a kind.
func (k Kind) String() string { return kindNames[k] }

// widths are the bytes of one value.
var widths = [Map + 1]int{Bool: 1, Int8: 1, Uint8: 1, Int16: 2, Uint16: 2, Int32: 4, Uint32: 4, Float32: 4, Enum: 4,
	Int64: 8, Uint64: 8, Float64: 8, Time: 8, Duration: 8}

// A Field is the schema of a column.
type Field struct {
	Name     string
	Kind     Kind
	Size     int      // bytes of FixedBinary, elements of FixedList
	Nullable bool     // values may be absent
	Children []Field  // see the kinds
	Texts    []string // of Enum: the names of its numbers, each number once

	Type      string            // of Struct: the name of the message type
	Constants []schema.Constant // of Struct, of ROS
}

// Width returns how many bytes Column.Values has for each value; 0: it has no values, or they have Offsets.
func (f *Field) Width() int {
	if f.Kind == FixedBinary {
		return f.Size
	}
	return widths[f.Kind]
}

// offsets reports whether columns of the field have Offsets.
func (f *Field) offsets() bool {
	switch f.Kind {
	case Text, Binary, List, Map:
		return true
	}
	return false
}

// text reports whether the values are bytes behind Offsets.
func (f *Field) text() bool { return f.Kind == Text || f.Kind == Binary }

// A Column has the values of a field.
//
//	Bool ... Enum, FixedBinary   Values: Len times Width bytes
//	Text, Binary                 value i is Values[Offsets[i]:Offsets[i+1]]
//	Struct                       Children have Len values each
//	List, Map                    the elements of value i are the values from Offsets[i] to Offsets[i+1] of Children[0]
//	FixedList                    Children[0] has Size times Len values
//
// A value that is null has zeros there, an empty text or list, and in children such values, too.
type Column struct {
	Field    *Field
	Len      int
	Values   []byte
	Offsets  []int32 // Len + 1, from 0 on
	Valid    []byte  // a byte for each value, 0 for null, else 1; nil unless Field.Nullable
	Nulls    int
	Texts    []string // of Enum: the texts of numbers without a name: their digits
	Children []*Column
}

// Null reports whether a value is null.
func (c *Column) Null(i int) bool { return c.Valid != nil && c.Valid[i] == 0 }

// cut makes n values the length of a column and of the columns below it.
func (c *Column) cut(n int) {
	c.Len, c.Nulls = n, 0
	if c.Field.Nullable {
		c.Valid = c.Valid[:n]
		for _, v := range c.Valid {
			c.Nulls += 1 - int(v)
		}
	}
	below := n
	switch c.Field.Kind {
	case Text, Binary:
		c.Offsets = c.Offsets[:n+1]
		c.Values = c.Values[:c.Offsets[n]]
	case List, Map:
		c.Offsets = c.Offsets[:n+1]
		below = int(c.Offsets[n])
	case FixedList:
		below = n * c.Field.Size
	default:
		c.Values = c.Values[:n*c.Field.Width()]
	}
	for _, child := range c.Children {
		child.cut(below)
	}
}

// bytes returns how much memory the values of a column take, without the columns below it.
func (c *Column) bytes() int { return len(c.Values) + 4*len(c.Offsets) + len(c.Valid) }
