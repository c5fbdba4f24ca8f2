package content

import (
	"fmt"
	"slices"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/schema"
)

// A node writes the struct at a cursor as a struct of a canonical type. Nodes are shared where pairs of types are.
type node struct {
	typ    *message.Type
	steps  []step // in the order of the canonical type
	marked bool   // of ROS: that is not the order of the source, whose fields are found first
	bare   bool   // of a topic of times: the message is the value of the only field
	hollow bool   // the canonical type has no values
	inner  bool   // a rule looks into structs of it
	blank  int    // of protobuf: so many zeros are the message of which nothing is set; -1: it is other bytes
	cells  []cell // of protobuf: how numbers of message.Cursor.Row are written; nil: they are not
}

// A step writes a field of the canonical type.
type step struct {
	form   form
	field  *message.Field   // of the source
	parts  []*message.Field // of formCase the members of the oneof, of formClock seconds and nanoseconds
	to     schema.Kind      // the canonical kind
	class  class            // of a number
	narrow bool             // of numbers of protobuf: not all that the source may have are of the canonical kind
	prefix bool             // a count stands before the values
	count  int              // of numbers of ROS: so many, else -1
	array  int              // of protobuf: so many values, or none at all; else -1
	size   int              // of formZero, bytes
	node   *node            // of formStruct
	table  *[256]byte       // translates a number of one byte
	bits   uint64           // of a number of protobuf that is not set
	text   []byte           // of a string, or of bytes, that is not set
}

// A form is what a step does.
type form uint8

const (
	formZero    form = iota // the source has no such field
	formSkip                // the canonical type has no such field, of ROS
	formNumber              // numbers or bools
	formText                // strings, lists of bytes, or messages of protobuf as their bytes
	formOctets              // bytes of protobuf as an array
	formTime                // a time or duration
	formClock               // a message of protobuf that has the fields of a time of ROS
	formStruct              // a struct
	formCase                // the number of the member of a oneof that is set
	formCounter             // the counter of a Header
)

// FromROS makes the program from messages of src in an encoding of ROS to a canonical type. With strict
// fields must have the same types, otherwise types that a conversion makes of them. The error names a
// field that has another type.
func FromROS(src *schema.Message, wire serial.Encoding, dst *schema.Message, strict bool) (*Program, error) {
	typ, err := message.ROS(src, wire)
	if err != nil {
		return nil, err
	}
	return compile(typ, src, dst, false, strict)
}

// FromProto makes the program from messages of md to a canonical type. ros is what md is as a ROS type:
// with generated the type that protoschema.Namer makes of it, field by field in the order of their
// numbers, and else the type that md was made from, whose fields have the same names.
func FromProto(
	md protoreflect.MessageDescriptor, ros *schema.Message, generated bool, dst *schema.Message, strict bool,
) (*Program, error) {
	typ, err := message.Proto(md)
	if err != nil {
		return nil, err
	}
	return compile(typ, ros, dst, generated, strict)
}

func compile(typ *message.Type, src, dst *schema.Message, generated, strict bool) (*Program, error) {
	c := &compiler{newComparer(strict), typ.Protobuf(), generated, map[nodeKey]*node{}}
	read := typ
	k := src.TimeKind()
	if k != schema.Invalid { // a topic of times
		whole := schema.Type{Kind: schema.Struct, Message: src}
		data := message.Field{Name: "data", Kind: message.Struct, Clock: k, Type: typ}
		read = &message.Type{Name: typ.Name, Fields: []message.Field{data}}
		src = &schema.Message{Name: src.Name, Fields: []schema.Field{{Name: "data", Type: whole}}}
	}
	root, err := c.node(read, src, dst, "", 0)
	if err != nil {
		return nil, err
	}
	root.bare = k != schema.Invalid
	return &Program{typ: typ, root: root, dropped: c.dropped, added: c.added}, nil
}

// A compiler makes the nodes of one program.
type compiler struct {
	*comparer
	proto     bool
	generated bool
	made      map[nodeKey]*node
}

type nodeKey struct {
	typ      *message.Type
	src, dst *schema.Message
}

// node makes the node from a struct, which is src as a type of ROS, to dst.
func (c *compiler) node(typ *message.Type, src, dst *schema.Message, prefix string, depth int) (*node, error) {
	key := nodeKey{typ, src, dst}
	if n := c.made[key]; n != nil {
		return n, nil
	}
	if err := c.enter(len(typ.Fields)+len(dst.Fields), depth); err != nil {
		return nil, err
	}
	fields, err := c.align(typ, src)
	if err != nil {
		return nil, err
	}
	size := c.sizes.Least(schema.Type{Kind: schema.Struct, Message: dst})
	n := &node{typ: typ, hollow: size == 0, blank: size}
	c.made[key] = n
	p := pairUp(src, dst)
	c.note(p, prefix)
	for _, s := range p.src {
		n.inner = n.inner || len(s.at) > 1
	}
	n.marked = !c.proto && !p.ascends()
	next := 0 // field of ROS
	for k, i := range p.from {
		d := p.dst[k]
		if i < 0 {
			size, err := c.zero(d.typ)
			if err != nil {
				return nil, err
			}
			n.steps = append(n.steps, step{form: formZero, size: size})
			continue
		}
		s, err := c.step(fields, &p.src[i], &d, src, prefix, depth)
		if err != nil {
			return nil, err
		}
		s.table = p.table[k]
		if !c.proto && !n.marked {
			n.skip(next, p.src[i].at[0])
			next = p.src[i].at[0] + 1
		}
		n.add(s)
	}
	if !c.proto && !n.marked {
		n.skip(next, len(typ.Fields))
	}
	n.cells = n.cellsOf()
	if size > maxZero || slices.ContainsFunc(n.steps, func(s step) bool { return !s.blank() }) {
		n.blank = -1
	}
	return n, nil
}

// A cell is a number of a row.
type cell struct {
	index int // in the fields of the source
	size  int // of the canonical number, bytes
	class class
}

// cellsOf returns the cells of a struct of protobuf, if its canonical bytes are nothing but its numbers as they are.
func (n *node) cellsOf() []cell {
	var out []cell
	for i := range n.steps {
		s := &n.steps[i]
		if !n.typ.Rows() || s.form != formNumber || s.field.List || s.narrow || s.table != nil {
			return nil
		}
		out = append(out, cell{s.field.Index, s.to.Size(), s.class})
	}
	return out
}

// blank reports whether nothing but zeros stands for a field of protobuf that is not set.
func (s *step) blank() bool {
	return s.bits == 0 && len(s.text) == 0 && s.form != formCounter && !(s.prefix && s.array > 0) &&
		(s.node == nil || s.node.blank >= 0)
}

// skip adds steps over fields of ROS.
func (n *node) skip(from, to int) {
	for i := from; i < to; i++ {
		n.steps = append(n.steps, step{form: formSkip, field: &n.typ.Fields[i]})
	}
}

// add adds a step. Numbers of ROS that follow each other become one step.
func (n *node) add(s step) {
	if last := len(n.steps) - 1; last >= 0 && !n.marked && s.follows(&n.steps[last]) {
		n.steps[last].count += s.count
		return
	}
	n.steps = append(n.steps, s)
}

// follows reports whether the numbers of s may be read with the numbers before them.
func (s *step) follows(before *step) bool {
	return s.runs() && before.runs() && before.field.Size == s.field.Size && before.class == s.class
}

// runs reports whether the step is nothing but some numbers of ROS.
func (s *step) runs() bool {
	return s.form == formNumber && s.count > 0 && s.count < 1<<28 && s.table == nil && !s.prefix
}

// step makes the step of a field.
func (c *compiler) step(
	fields []*message.Field, src, dst *slot, ros *schema.Message, prefix string, depth int,
) (step, error) {
	f := fields[src.at[0]]
	t, to := ros.Fields[src.at[0]].Type, dst.typ
	s := step{field: f, to: to.Kind, class: classOf(to.Kind), prefix: to.Array == schema.Unbounded, count: -1, array: -1}
	err := c.fits(src.typ, to)
	into := to.Message
	switch {
	case err != nil:
	case f == nil:
		s.form, s.parts = formCase, oneofOf(fields[src.at[0]+1:])
	case len(src.at) > 1 && f.Type == nil:
		err = fmt.Errorf("%s is not a struct", f.Name)
	case len(src.at) > 1: // a rule looks into a struct: it is one of one field
		s.form, s.prefix = formStruct, false
		one := schema.Field{Name: t.Message.Fields[src.at[1]].Name, Type: to}
		into = &schema.Message{Name: t.Message.Name, Fields: []schema.Field{one}}
	case f.Proto != nil:
		err = c.bind(&s, f, t)
	case c.proto:
		err = c.clock(&s, f, t)
	default:
		s.plain(t)
	}
	if err != nil {
		return s, fmt.Errorf("field %s: %w", prefix+dst.path, err)
	}
	if dst.counter && s.form == formNumber {
		s.form = formCounter
	}
	if s.form == formStruct {
		s.node, err = c.node(f.Type, t.Message, into, prefix+f.Name+".", depth+1)
	}
	return s, err
}

// plain fills in how a field of ROS is read.
func (s *step) plain(t schema.Type) {
	switch f := s.field; {
	case f.Clock != schema.Invalid:
		s.form = formTime
	case f.Kind == message.Struct:
		s.form = formStruct
	case f.Kind == message.Text:
		s.form = formText
	case t.Array == schema.Single:
		s.form, s.count = formNumber, 1
	case t.Array == schema.Fixed:
		s.form, s.count = formNumber, t.Len
	default:
		s.form = formNumber
	}
}
