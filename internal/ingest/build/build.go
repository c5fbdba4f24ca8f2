package build

import (
	"errors"
	"fmt"

	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/schema/jsonschema"
	"github.com/bagconv/bagconv/storage"
)

// ErrValue is wrapped by the errors of values that a type does not have.
var ErrValue = errors.New("the value has no place in the type")

// Limits of a message.
const (
	maxExtra  = 64 << 20 // bytes beyond a multiple of its values
	maxGrowth = 64
	maxDepth  = 128
)

// Doubts counts messages that are not simply their values.
type Doubts struct {
	Null    int64 // null is a zero
	Rounded int64 // numbers are the nearest ones that the field has
	Unknown int64 // values have no field
}

// Add adds others.
func (d *Doubts) Add(o Doubts) {
	d.Null, d.Rounded, d.Unknown = d.Null+o.Null, d.Rounded+o.Rounded, d.Unknown+o.Unknown
}

// marks are what one message has of each of Doubts.
type marks struct{ null, rounded, unknown bool }

func (m *marks) count(d *Doubts) {
	if m.null {
		d.Null++
	}
	if m.rounded {
		d.Rounded++
	}
	if m.unknown {
		d.Unknown++
	}
}

// A Program makes messages of one type.
type Program struct {
	typ   *message.Type
	json  *jsonschema.Object               // of messages in JSON; else nil
	index map[*message.Type]map[string]int // fields by name, of all types
}

// Compile makes the program for a type of whole messages. The error wraps storage.ErrUnsupported.
func Compile(t *message.Type) (*Program, error) {
	if !t.Protobuf() && !t.Plain() {
		return nil,
			fmt.Errorf("messages of %s have unions, optional or numbered members, and are not made of values: %w",
				t.Name, storage.ErrUnsupported)
	}
	p := &Program{typ: t, index: map[*message.Type]map[string]int{}}
	p.names(t)
	return p, nil
}

// Has reports whether the type has a field of a name.
func (p *Program) Has(name string) bool { _, ok := p.index[p.typ][name]; return ok }

// names indexes the fields of a type and of the types below it.
func (p *Program) names(t *message.Type) {
	if p.index[t] != nil {
		return
	}
	index := make(map[string]int, len(t.Fields))
	p.index[t] = index
	for i := range t.Fields {
		f := &t.Fields[i]
		if index[f.Name] = i; f.Type != nil {
			p.names(f.Type)
		}
	}
}

// A place is where a value is: a row of a column, or a position in a text.
type place struct {
	column *Column
	at     int // missing or null: no value
}

const (
	missing = -1
	null    = -2
)

// A frame is an open struct or list.
type frame struct {
	place
	base int // of the positions of its values, in a text
}

// A source has values. The values of a frame are asked for in their order.
type source interface {
	// open opens a struct, whose fields member then returns.
	open(at place, t *message.Type) (frame, error)
	member(f frame, i int) place
	// list opens a list of n values, which element then returns.
	list(at place, f *message.Field) (fr frame, n int, err error)
	element(fr frame, i int) place
	// leave closes the frame that was opened last.
	leave(fr frame)

	number(at place, f *message.Field) (bits uint64, err error) // as message.Cursor.Bits returns it
	text(at place, f *message.Field) ([]byte, error)            // valid until the next call
	bytes(at place, f *message.Field) ([]byte, bool,
		error) // of a list of bytes, or a message; false: it is no such value
	time(at place, f *message.Field) (sec, nsec int64, ok bool) // not ok: it is a struct
	// numbers returns all values of an open list as little endian, if they are numbers of the field as they are.
	numbers(fr frame, f *message.Field, n int) ([]byte, bool)
	seen() *marks
}

// append makes a message of the values at a place.
func (p *Program) append(dst []byte, s source, at place, size int) (out []byte, err error) {
	limit := len(dst) + maxExtra + maxGrowth*size
	switch {
	case p.json != nil:
		w := jsonWriter{buf: dst, source: s, limit: limit}
		err = w.object(p.typ, p.json, at)
		out = w.buf
	case p.typ.Protobuf():
		w := protoWriter{buf: dst, source: s, limit: limit}
		err = w.content(p.typ, at)
		out = w.buf
	default:
		w := newROSWriter(dst, p.typ.CDR(), s, limit)
		err = w.structure(p.typ, at)
		out = w.Buf
	}
	if err != nil {
		return dst, err
	}
	return out, nil
}

// A placeError is what is wrong with a value, and where.
type placeError struct {
	path string
	err  error
}

func (e *placeError) Error() string { return "field " + e.path + ": " + e.err.Error() }
func (e *placeError) Unwrap() error { return e.err }

// within adds the name of a field, or the number of an element, to the path of an error.
func within(name string, err error) error {
	e, ok := err.(*placeError)
	switch {
	case !ok:
		return &placeError{name, err}
	case e.path[0] != '[':
		name += "."
	}
	return &placeError{name + e.path, e.err}
}

func refused(format string, a ...any) error {
	return fmt.Errorf("%w: %s", ErrValue, fmt.Sprintf(format, a...))
}

// kindName returns the name of what a field is.
func kindName(f *message.Field) string {
	switch {
	case f.Type != nil:
		return f.Type.Name
	case f.Proto != nil:
		return f.Proto.Kind().String()
	}
	return f.ROS.String()
}
