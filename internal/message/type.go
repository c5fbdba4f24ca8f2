package message

import (
	"errors"
	"fmt"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/schema/numbers"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/wire/pb"
	"github.com/bagconv/bagconv/internal/wire/xtypes"
	"github.com/bagconv/bagconv/schema"
)

// A Kind is what a single value is.
type Kind uint8

// The kinds. Enums are signed integers.
const (
	Signed Kind = iota
	Unsigned
	Float
	Bool
	Text
	Bytes  // of protobuf
	Struct // also a time or a duration, see Field.Clock
)

// Class returns how the bits of a number of a kind are read.
func (k Kind) Class() numbers.Class {
	switch k {
	case Signed:
		return numbers.Signed
	case Float:
		return numbers.Float
	}
	return numbers.Unsigned
}

// A Type is a struct of messages. Types are shared where a definition uses one twice, and a type of protobuf may
// be within itself.
type Type struct {
	Name   string
	Fields []Field
	First  int  // number of Fields[0]: the fields of all types of a definition are numbered
	Least  int  // bytes that a value takes at least in ROS, without padding; 0 in protobuf
	Entry  bool // of a map of protobuf: both fields always have a value

	Constants []schema.Constant // of ROS

	wire   *pb.Type // of protobuf; nil: ROS
	blank  []uint64 // of protobuf, if messages of the type can be rows: the defaults of its fields
	extent schema.Extensibility
	run    run
	clock  bool // a time or duration of ROS 1, which has no size in CDR
	odd    bool // messages have to be made plain, and not only for the sizes of structs
	whole  *whole
}

// A run is the layout of a struct of ROS that is count numbers of one size; count is 0 for other structs.
type run struct{ count, size int }

// runOf returns the run of fields.
func runOf(fields []Field) (all run) {
	for i := range fields {
		f, one := &fields[i], run{1, fields[i].Size}
		if f.Type != nil {
			one = f.Type.run
		}
		if f.Fixed >= 0 {
			one.count = min(one.count*f.Fixed, 1<<24)
		}
		if f.List && f.Fixed < 0 || one.size == 0 || one.count == 0 || one.count == 1<<24 || all.count > 1<<24 ||
			i > 0 && one.size != all.size {
			return run{}
		}
		all = run{all.count + one.count, one.size}
	}
	return all
}

// A whole is what only the type of a whole message has, and not the types of the structs in it.
type whole struct {
	cdr     bool
	fields  int
	special *xtypes.Converter // of types that only IDL has; nil: all messages are plain
}

// A Field is a member of a struct: a value, or a list or array of values.
type Field struct {
	Name  string
	Index int // in the struct
	Kind  Kind
	Size  int         // bytes of a number or bool, as Numbers returns it
	Clock schema.Kind // Time or Duration if the struct is one; else Invalid
	Type  *Type       // of a Struct, also of a time

	List      bool // of any number of values, or an array
	Fixed     int  // values of an array; -1: no array
	Bound     int  // values of a list at most; 0: any number
	TextBound int  // bytes of a string at most, of a wide one UTF-16 units; 0: any number
	Wide      bool // UTF-16 on the wire
	Lone      bool // of IDL: a list of one value at most, which stands for a value that may be absent
	Least     int  // bytes that one value takes at least in ROS

	ROS      schema.Kind                  // of ROS: the kind by its name
	Proto    protoreflect.FieldDescriptor // of protobuf, else nil
	Presence bool                         // of protobuf: a message knows whether the field is set
	wire     *pb.Field
	odd      bool   // CDR has the field in another form than a plain message
	bits     uint64 // default of a field of protobuf
	text     []byte
}

// Limits of a definition.
const (
	maxFields = 100_000
	maxDepth  = 128
)

// maxLeast stands for that many bytes and more.
const maxLeast = 1 << 40

var errTooLarge = errors.New("the definition is too large to be compiled")

// ROS returns the type of messages in CDR, or else in ROS 1 serialization, which messages in JSON become. The error
// names the field that cannot be read.
func ROS(m *schema.Message, e serial.Encoding) (*Type, error) {
	cdr := e == serial.CDR
	c := compiler{cdr: cdr, made: map[*schema.Message]*Type{}}
	t, err := c.structure(m, 0)
	if err != nil {
		return nil, err
	}
	t.whole = &whole{cdr: cdr, fields: c.fields}
	if cdr {
		t.whole.special = xtypes.New(m)
	}
	return t, nil
}

// Count returns how many fields there are in all types of a definition; t is a type of whole messages.
func (t *Type) Count() int { return t.whole.fields }

// Find returns the field of a name, or nil.
func (t *Type) Find(name string) *Field {
	for i := range t.Fields {
		if t.Fields[i].Name == name {
			return &t.Fields[i]
		}
	}
	return nil
}

// Wire returns what protobuf has of a type: the fields have the same order. It is nil for ROS.
func (t *Type) Wire() *pb.Type { return t.wire }

// Default returns the value of a field of protobuf that is not set: a number as Bits returns it, or text or bytes.
func (f *Field) Default() (bits uint64, text []byte) { return f.bits, f.text }

// Plain reports whether messages of the type may be in plain CDR. With unions, optional or numbered members of IDL
// they are not.
func (t *Type) Plain() bool { return !t.whole.special.Always() }

// Protobuf reports whether it is a type of protobuf, and not of ROS.
func (t *Type) Protobuf() bool { return t.wire != nil }

// CDR reports whether it is a type of whole messages in CDR.
func (t *Type) CDR() bool { return t.whole.cdr }

// Number returns the number of a field, from 0 to less than Count: what a visitor knows about fields is in a slice.
func (t *Type) Number(f *Field) int { return t.First + f.Index }

type compiler struct {
	cdr    bool
	made   map[*schema.Message]*Type
	fields int
}

// ROS 1 has times as primitives. Here they are the structs of ROS 2, with other signs.
var (
	rosTime     = words("time", schema.Uint32, schema.Uint32)
	rosDuration = words("duration", schema.Int32, schema.Int32)
)

func words(name string, sec, nanosec schema.Kind) *schema.Message {
	return &schema.Message{Name: name, Fields: []schema.Field{
		{Name: "sec", Type: schema.Type{Kind: sec}}, {Name: "nanosec", Type: schema.Type{Kind: nanosec}}}}
}

func (c *compiler) structure(m *schema.Message, depth int) (*Type, error) {
	if t := c.made[m]; t != nil {
		return t, nil
	}
	if depth > maxDepth || c.fields+len(m.Fields)+len(c.made) > maxFields {
		return nil, errTooLarge
	}
	t := &Type{
		Name: m.Name, Fields: make([]Field, len(m.Fields)), First: c.fields, extent: m.Extensibility,
		Constants: m.Constants,
		clock:     m == rosTime || m == rosDuration, odd: m.Union || m.Extensibility == schema.Mutable,
	}
	c.fields += len(m.Fields)
	for i := range m.Fields {
		f := &t.Fields[i]
		*f = fieldOf(&m.Fields[i], c.cdr)
		switch sub := subOf(&m.Fields[i].Type); {
		case sub != nil:
			var err error
			if f.Type, err = c.structure(sub, depth+1); err != nil {
				return nil, err
			}
			f.Least = f.Type.Least
		case f.Kind != Text && f.Size == 0:
			return nil, fmt.Errorf("field %s of %s: a %s cannot be read", f.Name, m.Name, f.ROS)
		}
		f.Index = i
		t.Least = min(maxLeast, t.Least+f.least())
		f.odd = isOdd(&m.Fields[i])
		t.odd = t.odd || f.odd || f.Type != nil && f.Type.odd
	}
	t.run = runOf(t.Fields)
	c.made[m] = t
	return t, nil
}

// subOf returns the type of a value that is a struct, nil for other values.
func subOf(t *schema.Type) *schema.Message {
	switch t.Kind {
	case schema.Time:
		return rosTime
	case schema.Duration:
		return rosDuration
	case schema.Struct:
		return t.Message
	}
	return nil
}

// fieldOf returns a field without its type.
func fieldOf(f *schema.Field, cdr bool) Field {
	t := f.Type
	d := Field{Name: f.Name, Kind: kindOf(t.Kind, cdr), Size: t.Kind.Size(), Clock: t.TimeKind(),
		List:  t.Array != schema.Single,
		Fixed: -1, TextBound: t.StringBound, Wide: t.Kind == schema.WString, Lone: isLone(f), ROS: t.Kind}
	switch t.Array {
	case schema.Fixed:
		d.Fixed = t.Len
	case schema.Bounded:
		d.Bound = t.Len
	}
	switch d.Kind {
	case Struct:
		d.Size = 0
	case Text:
		d.Least = 4
	default:
		if t.Kind == schema.LongDouble || t.Kind == schema.WChar {
			d.Size = 0 // it cannot be read
		}
		d.Least = d.Size
	}
	return d
}

// kindOf returns what a kind is. A byte is a number with a sign in ROS 1.
func kindOf(k schema.Kind, cdr bool) Kind {
	switch k {
	case schema.String, schema.WString:
		return Text
	case schema.Time, schema.Duration, schema.Struct:
		return Struct
	case schema.Bool:
		return Bool
	case schema.Byte:
		if !cdr {
			return Signed
		}
	}
	switch class, _ := numbers.Of(k); class {
	case numbers.Signed:
		return Signed
	case numbers.Float:
		return Float
	}
	return Unsigned
}

// isLone reports whether a field is a member of a union or an optional one of IDL, which stands for
// a single value.
func isLone(f *schema.Field) bool {
	if f.Member == nil || f.Type.Array != schema.Bounded || f.Type.Len != 1 {
		return false
	}
	return f.Member.Type.Array == schema.Single || f.Type.Kind == schema.Struct &&
		f.Type.Message.Extensibility == schema.Bare
}

// isOdd reports whether CDR has a field in another form than the plain message.
func isOdd(f *schema.Field) bool {
	t := f.Type
	return f.Member != nil && (f.Member.Optional || f.Member.Labels != nil || f.Member.Default) ||
		t.Array != schema.Single && t.IsEnum() || t.Kind == schema.Struct && t.Message.Extensibility == schema.Bare
}

// least returns how many bytes all values of a field take at least.
func (f *Field) least() int {
	switch {
	case !f.List:
		return f.Least
	case f.Fixed < 0:
		return 4
	case f.Least > 0 && f.Fixed > maxLeast/f.Least:
		return maxLeast
	}
	return f.Fixed * f.Least
}
