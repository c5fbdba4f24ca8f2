package render

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/message"
)

// A look is how a field of a message is written.
type look struct {
	label
	form   form
	number bool  // a single number that is never null, as nearly all are
	flow   bool  // in YAML its value stands on the line of its name
	null   bool  // it is null if the message does not have it; other fields have a default
	enum   *enum // of protobuf
}

// A form is how a value is written that is no struct and no text.
type form uint8

const (
	formFloat64 form = iota
	formFloat32
	formInt   // integers of up to 32 bits
	formInt64 // a string in JSON
	formUint64
	formBool
	formEnum
	formBytes // a list of bytes
)

// maxColumns is how many columns all fields of a message may make.
const maxColumns = 1000

// Compile makes the program for messages of type t: fields stand in its order, in protobuf in the order of their
// declaration. A protobuf field whose type the descriptors lack is bytes. The error of a path that does not fit is a
// *PathError.
func Compile(t *message.Type, o Options) (*Program, error) {
	p := &Program{o: o, typ: t, looks: make([]look, t.Count())}
	c := compiler{p, map[*message.Type]bool{}, map[protoreflect.EnumDescriptor]*enum{}}
	c.add(t)
	return p, p.setColumns(t)
}

type compiler struct {
	p     *Program
	added map[*message.Type]bool
	enums map[protoreflect.EnumDescriptor]*enum
}

func (c *compiler) add(t *message.Type) {
	if c.added[t] {
		return
	}
	c.added[t] = true
	for i := range t.Fields {
		f := &t.Fields[i]
		l := &c.p.looks[t.Number(f)]
		*l = look{label: labelOf(f.Name, i == 0), form: formOf(f), flow: f.Type == nil}
		if f.Proto != nil {
			oneof := f.Proto.ContainingOneof()
			l.null = !f.List && (f.Type != nil && !t.Entry || oneof != nil && !oneof.IsSynthetic())
			if e := f.Proto.Enum(); e != nil && !e.IsPlaceholder() {
				l.form, l.enum = formEnum, c.enum(e)
			}
		}
		l.number = f.Size > 0 && !f.List && !l.null
		if f.Type != nil {
			c.add(f.Type)
		}
	}
}

func formOf(f *message.Field) form {
	switch {
	case f.ROS.IsByte() && f.List && !f.Lone:
		return formBytes
	case f.Kind == message.Bool:
		return formBool
	case f.Kind == message.Float && f.Size == 4:
		return formFloat32
	case f.Kind == message.Float:
		return formFloat64
	case f.Size < 8:
		return formInt
	case f.Kind == message.Unsigned:
		return formUint64
	}
	return formInt64
}

// An enum has the names of its numbers, by style.
type enum struct {
	dense  [][3][]byte
	sparse map[int32][3][]byte
}

const maxDense = 256

func (c *compiler) enum(ed protoreflect.EnumDescriptor) *enum {
	if e := c.enums[ed]; e != nil {
		return e
	}
	e := &enum{sparse: map[int32][3][]byte{}}
	c.enums[ed] = e
	for i := range ed.Values().Len() {
		v := ed.Values().Get(i)
		name := []byte(v.Name())
		quoted := AppendQuoted(nil, name)
		text := [3][]byte{JSON: quoted, YAML: quoted, CSV: AppendCell(nil, name)}
		num := int32(v.Number())
		if num < 0 || num >= maxDense {
			if _, alias := e.sparse[num]; !alias {
				e.sparse[num] = text
			}
			continue
		}
		for len(e.dense) <= int(num) {
			e.dense = append(e.dense, [3][]byte{})
		}
		if e.dense[num][0] == nil { // of two names the first counts
			e.dense[num] = text
		}
	}
	return e
}

// write writes the name of a number, or the number.
func (e *enum) write(w *out, v int32) {
	var text []byte
	if v >= 0 && int(v) < len(e.dense) {
		text = e.dense[v][w.style]
	} else if len(e.sparse) > 0 {
		text = e.sparse[v][w.style]
	}
	if text == nil {
		w.int(int64(v))
		return
	}
	w.buf = append(w.buf, text...)
}
