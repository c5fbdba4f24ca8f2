// Package schema is the type graph of messages: what a definition means once it
// is parsed and its names are resolved, whatever language it was written in.
//
// Packages rosmsg and rosidl make graphs from text, package transcode compiles
// pairs of graphs into programs. A graph is immutable after it was made and may
// be shared by any number of goroutines. It has no cycles: the parsers refuse
// recursive types.
//
// The graph keeps what the ROS 1 md5sum and RIHS01 need (constants with their
// raw text, bounds, declaration order) and nothing else: no comments, no layout.
//
// It imports the standard library only.
package schema

import "fmt"

// A Message is a struct type.
type Message struct {
	// Name is the full name in the dialect of its source: "pkg/Type" for ROS 1,
	// "pkg/msg/Type" for ROS 2 (also "pkg/srv/X_Event", "pkg/action/X_FeedbackMessage").
	Name      string
	Fields    []Field
	Constants []Constant

	Extensibility Extensibility // as IDL annotates it
	Union         bool          // of IDL: the first field is the discriminator, the others are its members
}

// Extensibility is what CDR has before a struct and its fields.
type Extensibility uint8

// The extensibilities.
const (
	Unstated   Extensibility = iota // as the struct around it
	Final                           // nothing
	Appendable                      // in XCDR2 its size
	Mutable                         // in XCDR2 its size, and always a number before each field
	Bare                            // no struct of IDL: an entry of a map, or a list within a list
)

// A Field is a member of a message.
type Field struct {
	Name    string
	Type    Type
	Default string // raw text of a ROS 2 default value, "" for no default; never on the wire
	Member  *Member
}

// A Member is a field that IDL does not always have in CDR, or that has a number there: of a union,
// an @optional one, or one of a @mutable struct. Other encodings know nothing of it: Field.Type is
// a list without values if CDR does not have the field, but for a field that is only mutable.
type Member struct {
	ID       uint32
	Type     Type    // in CDR: Field.Type is a list of one such value, or an array as a list
	Optional bool    // CDR says whether it is there; a list is the field of a Bare struct
	Labels   []int64 // of a union: the values of the discriminator that choose it
	Default  bool    // of a union: all other values do
}

// A Type is the type of a field: a base kind, alone or in an array.
type Type struct {
	Kind        Kind
	Message     *Message // when Kind is Struct
	StringBound int      // of string<=N and wstring<=N; 0 is unbounded
	Array       Array
	Len         int // N of T[N] and T[<=N]

	Enumerated bool // IDL only: the number is a bitmask or bitset, or an enum of at most 16 bits
}

// IsByte reports whether values are bytes, which lists of are shown as such: a number without a sign, or one
// that is no more than eight bits.
func (k Kind) IsByte() bool { return k == Uint8 || k == Byte || k == Char || k == IDLChar }

// IsEnum reports whether the values are the values of an enum, bitmask or bitset, which XCDR2 does
// not take for numbers: it has a size before lists of them.
func (t Type) IsEnum() bool { return t.Kind == Enum || t.Enumerated }

// Kind is the kind of a single value.
type Kind uint8

// The kinds. Sizes on every wire are the sizes in the name; Time and Duration are the ROS 1
// primitives (two 32-bit words), in ROS 2 they are structs. Byte is ROS 2's octet and ROS 1's
// deprecated alias of int8, Char is the alias of uint8 in both (md5sums keep the words apart);
// IDLChar is IDL's own char.
const (
	Invalid Kind = iota
	Bool
	Int8
	Uint8
	Int16
	Uint16
	Int32
	Uint32
	Int64
	Uint64
	Float32
	Float64
	Byte
	Char
	String
	WString
	Time     // ROS 1: u32 seconds, u32 nanoseconds
	Duration // ROS 1: i32 seconds, i32 nanoseconds
	Struct
	IDLChar    // one byte; IDL only
	WChar      // IDL only
	LongDouble // IDL only
	Enum       // IDL only: 32 bits on the wire
)

// Array describes how many values a field holds.
type Array uint8

// The array forms.
const (
	Single    Array = iota // T
	Fixed                  // T[N]
	Bounded                // T[<=N]
	Unbounded              // T[]
)

// A Constant is a named value. Text is the raw text of the definition (ROS 1
// md5sums hash it as it is), trimmed of surrounding blanks.
type Constant struct {
	Kind        Kind
	StringBound int
	Name        string
	Text        string
}

// Size returns the bytes of one value of a kind that has a fixed size, 0 for strings, structs and
// what has no fixed size.
func (k Kind) Size() int {
	switch k {
	case Bool, Int8, Uint8, Byte, Char, IDLChar:
		return 1
	case Int16, Uint16:
		return 2
	case Int32, Uint32, Float32, Enum:
		return 4
	case Int64, Uint64, Float64, Time, Duration:
		return 8
	case LongDouble:
		return 16
	}
	return 0
}

var kindNames = [...]string{
	Invalid: "invalid", Bool: "bool", Int8: "int8", Uint8: "uint8", Int16: "int16", Uint16: "uint16",
	Int32: "int32", Uint32: "uint32", Int64: "int64", Uint64: "uint64", Float32: "float32", Float64: "float64",
	Byte: "byte", Char: "char", String: "string", WString: "wstring", Time: "time", Duration: "duration",
	Struct: "struct", IDLChar: "idl char", WChar: "wchar", LongDouble: "long double", Enum: "enum",
}

// String returns the word that .msg text uses for the kind.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "invalid"
}

// Text returns the type as messages to people write it: "float64[9]", "p/A[]". It
// does not distinguish a bounded list from an unbounded one.
func (t Type) Text() string {
	name := t.Kind.String()
	if t.Kind == Struct {
		name = t.Message.Name
	}
	switch t.Array {
	case Fixed:
		return fmt.Sprintf("%s[%d]", name, t.Len)
	case Bounded, Unbounded:
		return name + "[]"
	}
	return name
}
