package values

import (
	"fmt"
	"reflect"
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/wire/pb"
	"github.com/bagconv/bagconv/schema"
)

// A slot is a value in messages, and its place in Go.
type slot struct {
	*message.Field
	one  bool // a value of the list that the field is, and not the list
	form form
	typ  reflect.Type // in Go; nil: the value has no place

	goKind message.Kind // of a number
	goSize int
	elem   *slot // of a list, a pointer, an interface
	node   *node
	others *sync.Map // of an interface: the slots of Go types that are not the natural one
}

// list reports whether the value is a list or an array.
func (s *slot) list() bool { return s.List && !s.one }

// A form is what a value is in Go.
type form uint8

const (
	formSkip    form = iota // the value has no place
	formNumber              // a number of the same bits
	formCast                // a number of another kind
	formBool                //
	formString              //
	formBytes               // []byte, of text or bytes
	formTime                // time.Time
	formNanos               // an integer of 64 bits, or time.Duration
	formStruct              //
	formMap                 // map[string]any
	formSlice               //
	formArray               //
	formRun                 // numbers that are side by side on both sides
	formPointer             //
	formAny                 // an interface
)

// A node is a struct in messages, and its Go type.
type node struct {
	typ    *message.Type
	fields []field
	runs   []field // the same in messages without sizes of structs, see fuse
	flat   flat
	has    map[string]bool // of a map: the names of the fields
}

// A field is a field of a node.
type field struct {
	path   string  // of names, for errors
	offset uintptr // in the struct
	*slot
	*protoField
}

// The limits of a definition and a Go type.
const (
	maxNodes = 100_000
	maxDepth = 128
)

type nodeKey struct {
	typ *message.Type
	in  reflect.Type
}

type compiler struct {
	made          map[nodeKey]*node
	work          int
	unread, unset []string
}

// slot compiles a field, or one value of a list, and its place. path is for errors.
func (c *compiler) slot(f *message.Field, one bool, t reflect.Type, path string, depth int) (*slot, error) {
	s := &slot{Field: f, one: one, typ: t}
	switch {
	case depth > maxDepth:
		return nil, fmt.Errorf("the definition or the Go type is nested more than %d deep", maxDepth)
	case t == nil:
		return s, nil
	case t == anyType:
		s.form, s.others = formAny, new(sync.Map)
		return s, c.elem(s, one, natural(f, one), path, depth)
	case t.Kind() == reflect.Pointer:
		s.form = formPointer
		return s, c.elem(s, one, t.Elem(), path, depth)
	case s.list() && t.Kind() == reflect.Slice:
		s.form = formSlice
		return s, c.elem(s, true, t.Elem(), path, depth)
	case s.list() && t.Kind() == reflect.Array && (s.Fixed < 0 || s.Fixed == t.Len()):
		s.form = formArray
		return s, c.elem(s, true, t.Elem(), path, depth)
	case s.list():
		return nil, s.misfit(path)
	}
	return s, c.single(s, path, depth)
}

func (s *slot) misfit(path string) error {
	if path == "" {
		path = "of the messages"
	}
	return fmt.Errorf("%w: field %s is a %s and cannot be a %s", ErrType, path, s.name(), s.typ)
}

// elem compiles what a list, a pointer or an interface is about.
func (c *compiler) elem(s *slot, one bool, t reflect.Type, path string, depth int) (err error) {
	s.elem, err = c.slot(s.Field, one, t, path, depth+1)
	return err
}

// single compiles a value that is no list.
func (c *compiler) single(s *slot, path string, depth int) error {
	k := s.typ.Kind()
	bytes := k == reflect.Slice && s.typ.Elem().Kind() == reflect.Uint8
	switch {
	case s.Kind == message.Bool && k == reflect.Bool:
		s.form = formBool
	case s.Kind == message.Text && k == reflect.String:
		s.form = formString
	case (s.Kind == message.Text || s.Kind == message.Bytes) && bytes:
		s.form = formBytes
	case s.Clock == schema.Time && s.typ == timeType:
		s.form = formTime
	case s.Clock != schema.Invalid && k == reflect.Int64:
		s.form = formNanos
	case s.Kind == message.Struct:
		return c.structure(s, path, depth)
	case s.Kind > message.Float:
		return s.misfit(path)
	default:
		if s.goKind, s.goSize = numberOf(s.typ); s.goSize == 0 {
			return s.misfit(path)
		}
		if s.form = formCast; s.goKind == s.Kind && s.goSize == s.Size {
			s.form = formNumber
		}
	}
	return nil
}

// numberOf returns what a Go type is among numbers; size 0: not a number.
func numberOf(t reflect.Type) (message.Kind, int) {
	switch t.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return message.Signed, int(t.Size())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return message.Unsigned, int(t.Size())
	case reflect.Float32, reflect.Float64:
		return message.Float, int(t.Size())
	}
	return 0, 0
}

// structure compiles a struct.
func (c *compiler) structure(s *slot, path string, depth int) (err error) {
	switch {
	case s.typ == mapType:
		s.form = formMap
	case s.typ.Kind() == reflect.Struct && s.typ != timeType:
		s.form = formStruct
	default:
		return s.misfit(path)
	}
	s.node, err = c.node(nodeKey{s.Type, s.typ}, path, depth)
	return err
}

func (c *compiler) node(key nodeKey, path string, depth int) (*node, error) {
	if n := c.made[key]; n != nil {
		return n, nil
	}
	list := key.typ.Fields
	n := &node{typ: key.typ, fields: make([]field, len(list))}
	c.made[key] = n // before its fields: a type of protobuf may be within itself
	if c.work += 1 + len(list); c.work > maxNodes {
		return nil, fmt.Errorf("the definition is too large to be compiled")
	}
	places, err := c.places(n, key.in, path)
	if err != nil {
		return nil, err
	}
	if path != "" {
		path += "."
	}
	for i := range list {
		f, t := &n.fields[i], places[i].Type
		if f.path, f.offset = list[i].Name, places[i].Offset; key.in == mapType {
			t = anyType
		}
		if f.slot, err = c.slot(&list[i], false, t, path+list[i].Name, depth+1); err != nil {
			return nil, err
		}
		if w := key.typ.Wire(); w != nil {
			f.protoField = newProtoField(&list[i], &w.Fields[i], key.typ.Entry)
		}
	}
	n.fuse(key.in)
	return n, nil
}

// A protoField is what writing a field of protobuf takes.
type protoField struct {
	wire   *pb.Field
	always bool // it is written in any case: required, or of an entry of a map
	packed bool
	utf8   bool
	bits   uint64 // its default, see message.Field.Default
	text   []byte
}

func newProtoField(f *message.Field, w *pb.Field, entry bool) *protoField {
	d := &protoField{wire: w, always: f.Proto.Cardinality() == protoreflect.Required || entry, packed: f.Proto.IsPacked(),
		utf8: f.Proto.ParentFile().Syntax() != protoreflect.Proto2}
	d.bits, d.text = f.Default()
	return d
}
