package render

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/wire/pb"
)

// A protoNode is a message of protobuf. Nodes are shared where types are, and a
// type may lie within itself.
type protoNode struct {
	name   string
	typ    *pb.Type
	fields []protoField // of the same order
	entry  bool         // of a map: both fields always have a value
}

// A protoField is a field of a message.
type protoField struct {
	*pb.Field
	label
	name  string
	node  *protoNode
	enum  *enum
	zero  [3][]byte // what is written when it is not set, by style; nil for a message and for bytes
	bytes []byte    // that of bytes
	flow  bool      // in YAML its value stands on the line of its name
}

// An enum has the names of its numbers, by style.
type enum struct {
	dense  [][3][]byte
	sparse map[int32][3][]byte
}

const maxDense = 256

// CompileProto makes the program for messages of md. Fields stand in the order
// of their declaration. A field whose type the descriptors lack is bytes.
func CompileProto(md protoreflect.MessageDescriptor, o Options) (*Program, error) {
	c := &protoCompiler{made: map[protoreflect.MessageDescriptor]*protoNode{}, enums: map[protoreflect.EnumDescriptor]*enum{}}
	root, err := c.node(md)
	if err != nil {
		return nil, err
	}
	p := &Program{o: o, proto: root}
	return p, p.setColumns(root)
}

type protoCompiler struct {
	made  map[protoreflect.MessageDescriptor]*protoNode
	enums map[protoreflect.EnumDescriptor]*enum
	work  int
}

func (c *protoCompiler) node(md protoreflect.MessageDescriptor) (*protoNode, error) {
	if n := c.made[md]; n != nil {
		return n, nil
	}
	fields := md.Fields()
	if c.work += 1 + fields.Len(); c.work > maxNodes || fields.Len() > maxNodes/10 {
		return nil, errTooLarge
	}
	n := &protoNode{name: string(md.FullName()), typ: pb.TypeOf(md), fields: make([]protoField, fields.Len()), entry: md.IsMapEntry()}
	c.made[md] = n
	for i := range n.fields {
		fd := fields.Get(i)
		f := &n.fields[i]
		*f = protoField{Field: &n.typ.Fields[i], label: labelOf(string(fd.Name()), i == 0), name: string(fd.Name())}
		if err := c.kind(f, fd); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// kind fills in what follows from a field's kind.
func (c *protoCompiler) kind(f *protoField, fd protoreflect.FieldDescriptor) (err error) {
	switch {
	case f.Kind == protoreflect.MessageKind && fd.Message().IsPlaceholder():
		f.Kind, f.Parts = protoreflect.BytesKind, false
	case f.Kind == protoreflect.EnumKind && fd.Enum().IsPlaceholder():
		f.Kind = protoreflect.Int32Kind
	case f.Kind == protoreflect.EnumKind:
		f.enum = c.enum(fd.Enum())
	case f.Kind == protoreflect.MessageKind || f.Kind == protoreflect.GroupKind:
		f.node, err = c.node(fd.Message())
	}
	f.flow = f.node == nil
	if f.node == nil && !f.List {
		for style := range f.zero {
			f.zero[style] = f.absent(Style(style), fd)
		}
	}
	return err
}

// absent returns what a field without fields of its own has when it is not set.
func (f *protoField) absent(s Style, fd protoreflect.FieldDescriptor) []byte {
	w := out{style: s, yaml: s == YAML, bytes: true, limit: maxExtra}
	if f.Oneof >= 0 {
		w.null(true)
		return w.buf
	}
	switch {
	case f.Kind == protoreflect.StringKind:
		w.text([]byte(fd.Default().String()))
	case f.Kind == protoreflect.BytesKind:
		f.bytes, _ = fd.Default().Interface().([]byte) // a note or base64: the program decides
		return nil
	case f.Kind != fd.Kind(): // an enum that is read as a number
		w.int(0)
	default:
		f.number(&w, pb.Default(fd))
	}
	return w.buf
}

func (c *protoCompiler) enum(ed protoreflect.EnumDescriptor) *enum {
	if e := c.enums[ed]; e != nil {
		return e
	}
	e := &enum{sparse: map[int32][3][]byte{}}
	c.enums[ed] = e
	for i := range ed.Values().Len() {
		v := ed.Values().Get(i)
		name := []byte(v.Name())
		quoted := appendQuoted(nil, name)
		text := [3][]byte{JSON: quoted, YAML: quoted, CSV: appendCell(nil, name)}
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

func (n *protoNode) typeName() string { return n.name }
func (n *protoNode) size() int        { return len(n.fields) }
func (n *protoNode) at(i int) member {
	f := &n.fields[i]
	m := member{name: f.name, list: f.List}
	if f.node != nil {
		m.sub = f.node
	}
	return m
}
