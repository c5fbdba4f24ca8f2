// Package gen writes programs that read and write messages: from definitions it makes C++ with a struct for each
// type, and functions that load the struct from the bytes of a message, and make these bytes.
//
//	definitions of topics -> a model: each type once, in the order of use -> files
//
// The output depends on the input alone. What the generated code has in common for all types is
// in the folder cpp, as files whose marks (@GUARD@ ...) are filled in.
//
// A type appears once, whatever number of topics and types use it. Two definitions of one name
// become two types; the second has a number behind its name. Names that C++ does not
// allow get an underscore at their end.
package gen

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bagconv/bagconv/internal/schema/measure"

	"github.com/bagconv/bagconv/schema"
)

// An Input is what code is made of.
type Input struct {
	Made   string // the command that makes it, for the first line of each file
	Topics []Topic

	// Namespace is around all of the code, so that a program can have the code of two recordings; "" is no namespace.
	// It is one name or several, as in "acme::drive".
	Namespace string

	// ByTopic makes a header and a source file for each topic, whose namespace has all types of the topic: object is its
	// message, and X_type a type X that the message uses. Else there is one header for all topics, in which types are
	// shared.
	ByTopic bool
}

// A Topic is a topic, or a type without one.
type Topic struct {
	Name     string // "": the type alone was asked for
	Type     string // as the recording names it
	Encoding string // "ros1" or "cdr"
	Message  *schema.Message
}

// A File is one file of the output.
type File struct {
	Name string // without a folder
	Text []byte
}

// Check reports whether code can be written for the type of a topic: nil, or an error that wraps
// ErrUnsupported.
func Check(t *Topic) error {
	_, err := newModel(&Input{Topics: []Topic{*t}})
	return err
}

// Generate writes the code. The error wraps ErrUnsupported if Check refuses a topic.
func Generate(in *Input) ([]File, error) {
	m, err := newModel(in)
	if err != nil {
		return nil, err
	}
	return writeCPP(m, in)
}

// ErrUnsupported is wrapped by errors about types for which no code can be written.
var ErrUnsupported = errors.New("no code is generated for it")

// maxFixed is how many bytes the fixed arrays of a type may have: a variable of the type must
// fit into memory.
const maxFixed = 64 << 20

// maxTypes is how many types are written.
const maxTypes = 20_000

// A model is the input, with each type once.
type model struct {
	made   string
	types  []*messageType // a type comes after the types that it uses
	topics []*topic

	known  map[typeKey]*messageType
	byName map[string][]*messageType
}

type typeKey struct {
	msg  *schema.Message
	ros1 bool
}

// A messageType is a type as code has it.
type messageType struct {
	*schema.Message
	ros1  bool
	pkg   string         // the package, "" if the name has none; its parts are joined by _
	short string         // the name in it
	uses  []*messageType // index = field; nil: no struct
	least int            // bytes of a message in ROS 1, at least
	fixed int            // bytes of its fixed arrays, about
}

// A topic is one name of topics with one type.
type topic struct {
	Topic
	typ *messageType
}

func newModel(in *Input) (*model, error) {
	m := &model{made: in.Made, known: map[typeKey]*messageType{}, byName: map[string][]*messageType{}}
	var measure measure.Measure
	for _, t := range in.Topics {
		if what := idlOnly(t.Message); t.Encoding == "cdr" && what != "" {
			return nil, fmt.Errorf(
				"%s, which only IDL has: convert the recording to db3 or a bag and generate code from that: %w", what,
				ErrUnsupported)
		}
		typ, err := m.add(t.Message, t.Encoding == "ros1", &measure)
		if err != nil {
			return nil, err
		}
		if !m.has(t.Name, t.Type, typ) {
			m.topics = append(m.topics, &topic{t, typ})
		}
	}
	return m, nil
}

// has reports whether a topic of that name and type is there.
func (m *model) has(name, recorded string, typ *messageType) bool {
	for _, t := range m.topics {
		if t.Name == name && t.Type == recorded && t.typ == typ {
			return true
		}
	}
	return false
}

// add returns the type of a message, which it adds with all that it uses.
func (m *model) add(msg *schema.Message, ros1 bool, measure *measure.Measure) (*messageType, error) {
	key := typeKey{msg, ros1}
	if t := m.known[key]; t != nil {
		return t, nil
	}
	for _, t := range m.byName[msg.Name] {
		if t.ros1 == ros1 && schema.Equal(t.Message, msg) {
			m.known[key] = t
			return t, nil
		}
	}
	t := &messageType{Message: msg, ros1: ros1, uses: make([]*messageType, len(msg.Fields))}
	t.pkg, t.short = nameParts(msg.Name)
	t.least = measure.Least(schema.Type{Kind: schema.Struct, Message: msg})
	for i, f := range msg.Fields {
		one := 32 // a string or a list, about
		switch {
		case f.Type.Kind == schema.Struct:
			use, err := m.add(f.Type.Message, ros1, measure)
			if err != nil {
				return nil, err
			}
			t.uses[i], one = use, use.fixed
		case f.Type.Kind == schema.LongDouble || f.Type.Kind == schema.WChar || f.Type.Kind == schema.Invalid:
			return nil, fmt.Errorf("field %s of %s is a %s: %w", f.Name, msg.Name, f.Type.Kind, ErrUnsupported)
		case f.Type.Kind.Size() > 0:
			one = f.Type.Kind.Size()
		}
		if f.Type.Array == schema.Fixed {
			one *= f.Type.Len
		} else if f.Type.Array != schema.Single {
			one = 32
		}
		if t.fixed += one; t.fixed > maxFixed {
			return nil, fmt.Errorf("the arrays of %s have more than %d MiB: %w", msg.Name, maxFixed>>20, ErrUnsupported)
		}
	}
	if len(m.types) == maxTypes {
		return nil, fmt.Errorf("more than %d types: %w", maxTypes, ErrUnsupported)
	}
	m.known[key] = t
	m.byName[msg.Name] = append(m.byName[msg.Name], t)
	m.types = append(m.types, t)
	return t, nil
}

// nameParts returns the package of a type and its name in it: sensor_msgs and Imu of
// sensor_msgs/msg/Imu and of sensor_msgs/Imu.
func nameParts(name string) (pkg, short string) {
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == ':' || r == '.' })
	if len(parts) == 0 {
		return "", name
	}
	n := len(parts) - 1
	above := parts[:n]
	if n > 1 {
		switch above[n-1] {
		case "msg", "srv", "action":
			above = above[:n-1]
		}
	}
	return strings.Join(above, "_"), parts[n]
}
