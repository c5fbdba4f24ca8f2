package values

import (
	"fmt"
	"reflect"
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/wire/pb"
	"github.com/bagconv/bagconv/schema"
)

// A slot is a value in messages, and its place in Go.
type slot struct {
	shape
	form form
	min  int // least bytes of the value in ROS
	src  source
	typ  reflect.Type // in Go; nil: the value has no place

	goKind kind // of a number
	goSize int
	elem   *slot // of a list, a pointer, an interface
	node   *node
	others *sync.Map // of an interface: the slots of Go types that are not the natural one
	ros1   bool      // of an interface: the messages are of ROS 1
}

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
	formPointer             //
	formAny                 // an interface
)

// A node is a struct in messages, and its Go type.
type node struct {
	name   string
	fields []field
	runs   []field // the same, with numbers that are side by side on both sides as one array
	min    int     // least bytes in ROS
	flat   flat
	wire   *pb.Type        // of protobuf
	has    map[string]bool // of a map: the names of the fields
}

// A field is a field of a node.
type field struct {
	name   string
	offset uintptr // in the struct
	*slot
	*protoField
}

// The limits of a definition.
const (
	maxNodes = 100_000
	maxDepth = 128
)

type nodeKey struct {
	src source
	typ reflect.Type
}

type compiler struct {
	ros1          bool
	made          map[nodeKey]*node
	work          int
	unread, unset []string
}

// slot compiles a value and its place. path is for errors.
func (c *compiler) slot(src source, t reflect.Type, path string, depth int) (*slot, error) {
	s := &slot{shape: src.shape(c.ros1), src: src, typ: t}
	if depth > maxDepth {
		return nil, fmt.Errorf("the definition or the Go type is nested more than %d deep", maxDepth)
	}
	if s.kind == unknown {
		return nil, fmt.Errorf("field %s: a %s cannot be read", path, src.name())
	}
	switch {
	case t == nil && s.list:
		return s, c.elem(s, src.element(), nil, path, depth)
	case t == nil:
		return s, c.single(s, path, depth)
	case t == anyType:
		s.form, s.others, s.ros1 = formAny, new(sync.Map), c.ros1
		return s, c.elem(s, src, src.natural(c.ros1), path, depth)
	case t.Kind() == reflect.Pointer:
		s.form = formPointer
		return s, c.elem(s, src, t.Elem(), path, depth)
	case s.list && t.Kind() == reflect.Slice:
		s.form = formSlice
		return s, c.elem(s, src.element(), t.Elem(), path, depth)
	case s.list && t.Kind() == reflect.Array && (s.fixed < 0 || s.fixed == t.Len()):
		s.form = formArray
		return s, c.elem(s, src.element(), t.Elem(), path, depth)
	case s.list:
		return nil, s.misfit(path)
	}
	return s, c.single(s, path, depth)
}

func (s *slot) misfit(path string) error {
	if path == "" {
		path = "of the messages"
	}
	return fmt.Errorf("%w: field %s is a %s and cannot be a %s", ErrType, path, s.src.name(), s.typ)
}

// elem compiles what a list, a pointer or an interface is about.
func (c *compiler) elem(s *slot, src source, t reflect.Type, path string, depth int) (err error) {
	if s.elem, err = c.slot(src, t, path, depth+1); err != nil {
		return err
	}
	s.min = s.elem.min
	if s.list && s.form != formPointer && s.form != formAny {
		if s.min = 4; s.fixed >= 0 {
			s.min = product(s.fixed, s.elem.min)
		}
	}
	return nil
}

// product is a*b, or a large number.
func product(a, b int) int {
	if b > 0 && a > (1<<40)/b {
		return 1 << 40
	}
	return a * b
}

// single compiles a value that is no list.
func (c *compiler) single(s *slot, path string, depth int) error {
	s.min = max(s.size, 1)
	k := reflect.Invalid
	if s.typ != nil {
		k = s.typ.Kind()
	}
	bytes := k == reflect.Slice && s.typ.Elem().Kind() == reflect.Uint8
	switch s.kind {
	case boolean:
		return s.take(k == reflect.Bool, formBool, path)
	case text:
		if s.min = 4; bytes {
			s.form = formBytes
			return nil
		}
		return s.take(k == reflect.String, formString, path)
	case blob:
		return s.take(bytes, formBytes, path)
	case clock, span:
		s.min = 8
		switch {
		case s.kind == clock && s.typ == timeType:
			s.form = formTime
			return nil
		case k == reflect.Int64:
			s.form = formNanos
			return nil
		}
		return c.structure(s, path, depth)
	case structure:
		return c.structure(s, path, depth)
	}
	if k == reflect.Invalid {
		return nil
	}
	if s.goKind, s.goSize = numberOf(s.typ); s.goSize == 0 {
		return s.misfit(path)
	}
	if s.form = formCast; s.goKind == s.kind && s.goSize == s.size {
		s.form = formNumber
	}
	return nil
}

// take makes f the form of a value if ok, or if it has no place in Go.
func (s *slot) take(ok bool, f form, path string) error {
	if s.typ == nil {
		return nil
	}
	if !ok {
		return s.misfit(path)
	}
	s.form = f
	return nil
}

// numberOf returns what a Go type is among numbers; size 0: it is none.
func numberOf(t reflect.Type) (kind, int) {
	switch t.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return signed, int(t.Size())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return unsigned, int(t.Size())
	case reflect.Float32, reflect.Float64:
		return float, int(t.Size())
	}
	return unknown, 0
}

// ROS 1 has times as primitives; in Go they are also the structs that they are in ROS 2.
var (
	rosTime     = &schema.Message{Name: "time", Fields: words(schema.Uint32, schema.Uint32)}
	rosDuration = &schema.Message{Name: "duration", Fields: words(schema.Int32, schema.Int32)}
)

func words(sec, nanosec schema.Kind) []schema.Field {
	return []schema.Field{{Name: "sec", Type: schema.Type{Kind: sec}}, {Name: "nanosec", Type: schema.Type{Kind: nanosec}}}
}

// structure compiles a struct.
func (c *compiler) structure(s *slot, path string, depth int) (err error) {
	switch {
	case s.typ == nil:
	case s.typ == mapType:
		s.form = formMap
	case s.typ.Kind() == reflect.Struct && s.typ != timeType:
		s.form = formStruct
	default:
		return s.misfit(path)
	}
	key := nodeKey{source{ros: schema.Type{Kind: schema.Struct, Message: s.src.ros.Message}, md: s.src.md}, s.typ}
	switch {
	case s.src.fd != nil:
		key.src.md = s.src.fd.Message()
	case s.src.ros.Kind == schema.Time:
		key.src.ros.Message = rosTime
	case s.src.ros.Kind == schema.Duration:
		key.src.ros.Message = rosDuration
	}
	if s.node, err = c.node(key, path, depth); err == nil {
		s.min = s.node.min
	}
	return err
}

func (c *compiler) node(key nodeKey, path string, depth int) (*node, error) {
	if n := c.made[key]; n != nil {
		return n, nil
	}
	n := &node{}
	c.made[key] = n // before its fields: a type of protobuf may be within itself
	list := n.rosFields(key.src.ros.Message)
	if key.src.md != nil {
		if key.typ == nil {
			return n, nil // what has no place is not looked into
		}
		list = n.protoFields(key.src.md)
	}
	if c.work += 1 + len(list); c.work > maxNodes {
		return nil, fmt.Errorf("the definition is too large to be compiled")
	}
	places, err := c.places(n, list, key.typ, path)
	if err != nil {
		return nil, err
	}
	if path != "" {
		path += "."
	}
	n.fields = make([]field, len(list))
	for i, m := range list {
		f := &n.fields[i]
		f.name, f.protoField = m.name, m.proto
		t := places[i].Type
		if f.offset = places[i].Offset; key.typ == mapType {
			t = anyType
		}
		if f.slot, err = c.slot(m.src, t, path+m.name, depth+1); err != nil {
			return nil, err
		}
		n.min = min(1<<40, n.min+f.slot.min)
	}
	n.fuse(key.typ)
	return n, nil
}

// A member is a field of a struct in messages.
type member struct {
	name  string
	src   source
	proto *protoField
}

func (n *node) rosFields(m *schema.Message) (list []member) {
	if m == nil {
		return nil
	}
	n.name = m.Name
	for _, f := range m.Fields {
		list = append(list, member{name: f.Name, src: source{ros: f.Type}})
	}
	return list
}

func (n *node) protoFields(md protoreflect.MessageDescriptor) (list []member) {
	n.name, n.wire = string(md.FullName()), pb.TypeOf(md)
	for i := range md.Fields().Len() {
		fd := md.Fields().Get(i)
		list = append(list, member{string(fd.Name()), source{fd: fd}, newProtoField(&n.wire.Fields[i], fd, md.IsMapEntry())})
	}
	return list
}
