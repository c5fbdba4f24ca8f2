package typetree

import "strings"

// A Kind is the kind of a single value: the word of ROS 1 .msg text, or Wide or Nested.
type Kind string

// The kinds that this package treats in their own way. Time and Duration are
// primitives in ROS 1 and types of builtin_interfaces in ROS 2. Wide is ROS 2 only.
const (
	Bool     Kind = "bool"
	String   Kind = "string"
	Wide     Kind = "wstring"
	Time     Kind = "time"
	Duration Kind = "duration"
	Nested   Kind = "" // Field.Message
)

// sizes are the bytes of numbers on the wire.
var sizes = map[Kind]int{
	"bool": 1, "int8": 1, "uint8": 1, "byte": 1, "char": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4,
	"int64": 8, "uint64": 8, "float32": 4, "float64": 8,
}

// An Array is how many values a field holds.
type Array uint8

// The forms of a field. Bounded is T[<=N] in ROS 2 and T[] in ROS 1.
const (
	One Array = iota
	Fixed
	Bounded
	List
)

// A Message is a type.
type Message struct {
	Package, Name string
	Folder        string // of its definition in ROS 2: "srv", "action"; "" is "msg"
	Constants     []Constant
	Fields        []Field

	leaves int // how many values a message has at least, with all below it
	depth  int // of nesting
}

// A Field is a member of a type.
type Field struct {
	Name     string
	Kind     Kind
	Message  *Message // for Nested
	Bound    int      // of a string, in ROS 2; 0: no bound
	Array    Array
	Len      int    // for Fixed and Bounded
	Default  string // text of a ROS 2 default, "" for none
	OnlyROS1 bool   // Header.seq
	Bare     bool   // the text spells the type without its package
}

// A Constant is a named value. The texts are the raw values in either dialect.
type Constant struct {
	Kind       Kind
	Name       string
	ROS1, ROS2 string
}

// A Dialect is a language of definitions.
type Dialect uint8

// The dialects.
const (
	ROS1 Dialect = 1
	ROS2 Dialect = 2
)

// TypeName returns the full name of a type: pkg/Name, pkg/msg/Name, pkg/srv/Name or pkg/action/Name.
func (m *Message) TypeName(d Dialect) string {
	if d == ROS2 && m.Folder != "" {
		return m.Package + "/" + m.Folder + "/" + m.Name
	}
	if d == ROS2 {
		return m.Package + "/msg/" + m.Name
	}
	return m.Package + "/" + m.Name
}

// Has reports whether the type or one below it has a field of the kind.
func (m *Message) Has(kind Kind) bool {
	for _, f := range m.Fields {
		if f.Kind == kind || f.Kind == Nested && f.Message.Has(kind) {
			return true
		}
	}
	return false
}

// in lists the fields that the type has in a dialect.
func (m *Message) in(d Dialect) []int {
	var out []int
	for i, f := range m.Fields {
		if !f.OnlyROS1 || d == ROS1 {
			out = append(out, i)
		}
	}
	return out
}

// dependencies lists the types below m, each once, the way gendeps does.
func (m *Message) dependencies() []*Message {
	var out []*Message
	seen := map[string]bool{}
	var visit func(m *Message)
	visit = func(m *Message) {
		for _, f := range m.Fields {
			if f.Kind != Nested || seen[f.Message.TypeName(ROS1)] {
				continue
			}
			seen[f.Message.TypeName(ROS1)] = true
			out = append(out, f.Message)
			visit(f.Message)
		}
	}
	visit(m)
	return out
}

// measure sets what the generator bounds.
func (m *Message) measure() {
	m.leaves, m.depth = 1, 1
	for _, f := range m.Fields {
		n := 1
		if f.Kind == Nested {
			n = f.Message.leaves
			m.depth = max(m.depth, f.Message.depth+1)
		}
		switch f.Array {
		case Fixed:
			n *= f.Len
		case Bounded, List:
			n = 1
		}
		m.leaves += n
	}
}

// isText reports whether it is one of the two kinds of strings.
func (k Kind) isText() bool { return k == String || k == Wide }

func (k Kind) isFloat() bool { return strings.HasPrefix(string(k), "float") }

// signed reports whether an integer has a sign. A byte is one of ROS 1's, but every
// reader of today treats it as octet: its values stay below 128.
func (k Kind) signed() bool { return strings.HasPrefix(string(k), "int") }
