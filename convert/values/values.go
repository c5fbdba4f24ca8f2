package values

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
)

// ErrMalformed is wrapped by errors about messages that do not fit their definition.
var ErrMalformed = ros.ErrMalformed

// ErrRange is wrapped by errors about single values that have no place on the other side: a
// number that its Go type or its field does not hold, an array of another length.
var ErrRange = errors.New("the value has no place there")

// ErrType is wrapped by errors about a Go type that does not fit the type of the messages.
var ErrType = errors.New("the Go type does not fit")

// A Codec reads and writes the messages of one type as values of T.
type Codec[T any] struct{ program }

// For returns the codec of a topic. Its definition is the one that mapping.Define finds: its own,
// or a standard one of ROS 1 Noetic or of the default distribution of ROS 2.
func For[T any](t *storage.Topic) (*Codec[T], error) {
	return compileTopic[T](mapping.New(mapping.Options{SourceDistro: mapping.DefaultDistro}), t)
}

// compileFor returns the codec of a definition. The error wraps ErrType if T does not fit, and names the field.
func compileFor[T any](d *mapping.Definition) (*Codec[T], error) {
	p, err := compile(d, reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	return &Codec[T]{*p}, nil
}

// Decode reads a message into v. It copies what it keeps, and uses the memory of v again: the
// memory of lists, and what pointers point to. Fields of T that the messages do not have stay as
// they are. After an error the content of v does not count. The error wraps ErrMalformed or
// ErrRange.
func (c *Codec[T]) Decode(message []byte, v *T) error { return c.decode(message, unsafe.Pointer(v)) }

// Append writes v as a message at the end of dst: CDR as ROS 2 does, XCDR1 in little endian. Fields
// that T does not have are zero. On error dst is returned at its old length. The error wraps
// ErrRange, ErrType, or storage.ErrUnsupported for messages in JSON.
func (c *Codec[T]) Append(dst []byte, v *T) ([]byte, error) { return c.append(dst, unsafe.Pointer(v)) }

// Unread lists the paths of fields of the messages that T does not have.
func (c *Codec[T]) Unread() []string { return c.unread }

// Unset lists the paths of fields of T that the messages do not have.
func (c *Codec[T]) Unset() []string { return c.unset }

// A program is what a Codec is of any type.
type program struct {
	typ           *message.Type
	root          *slot
	json          bool
	head          mapping.Program // turns the messages into messages of typ; nil: they are already
	unread, unset []string
}

// compile makes the program of a Go type.
func compile(d *mapping.Definition, t reflect.Type) (p *program, err error) {
	if t != mapType && (t.Kind() != reflect.Struct || t == timeType) {
		return nil, fmt.Errorf("%w: %s is not a struct and not map[string]any", ErrType, t)
	}
	p = &program{head: d.Head, json: d.JSON != nil}
	if p.typ, err = d.Type(); err != nil {
		return nil, err
	}
	c := compiler{made: map[nodeKey]*node{}}
	whole := &message.Field{Kind: message.Struct, Type: p.typ, Fixed: -1, ROS: schema.Struct}
	p.root, err = c.slot(whole, false, t, "", 0)
	p.unread, p.unset = c.unread, c.unset
	return p, err
}

// The memory of a value is at most maxExtra bytes and maxGrowth for each byte of its message: a list
// of messages that take no bytes must not fill the memory.
const (
	maxExtra  = 32 << 20
	maxGrowth = 64
)

func (c *program) decode(src []byte, p unsafe.Pointer) (err error) {
	if c.head != nil {
		if src, err = c.head.Append(nil, src); err != nil {
			return err
		}
	}
	return read(c.typ, c.root, src, p)
}

func (c *program) append(dst []byte, p unsafe.Pointer) (out []byte, err error) {
	switch {
	case c.json:
		return dst, fmt.Errorf("messages in JSON are not written from Go values: %w", storage.ErrUnsupported)
	case !c.typ.Plain():
		return dst, fmt.Errorf("messages with unions, optional or numbered members are read, but not written: %w",
			storage.ErrUnsupported)
	case c.typ.Protobuf():
		out, err = writeProto(c.root, dst, p)
	default:
		out, err = writeROS(c.root, dst, c.typ.CDR(), p)
	}
	if err != nil {
		return dst, err
	}
	return out, nil
}
