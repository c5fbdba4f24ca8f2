package columns

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/schema"
)

// Options choose the columns and their kinds.
type Options struct {
	Sequence bool // a column for the sequence number of messages
	Flat     bool // the members of structs as columns of their own: "header.stamp"; structs in lists stay nested

	// Columns are paths of the fields to keep, of structs all that they have: "header.stamp", or of the structs of a
	// list "transforms.header". Nil is all of them. Columns have the order of the message in any case.
	Columns []string

	// Explode is a field of the message with a List: each element makes a row of its own, with the
	// other fields repeated, and the column is the column of an element. A message without elements
	// makes no row.
	Explode string

	// Places makes each field of bytes that is not in a list a struct: bytes, file, offset, size. Of a large value of a
	// message that lies in a file (AppendAt) the struct has its place there, and no bytes. All others have their bytes,
	// and offset -1.
	Places bool

	StructTimes bool // times and durations are the structs of seconds and nanoseconds that they are
	BinaryText  bool // strings are Binary: the bytes that they are; wide strings are Text
}

// maxColumns is how many columns a type may have, with the columns of lists and structs.
const maxColumns = 10_000

// A Program makes columns of the messages of one type.
type Program struct {
	o      Options
	typ    *message.Type
	schema []Field
	ours   int      // columns of times and the sequence
	enums  []*enum  // by column
	nodes  []*node  // of the fields of a message
	fields []*Field // by column

	plain, sized []step // for messages without sizes of structs, and with

	rows   burst
	places bool // some column has places
}

// A burst is the columns of the field whose elements are rows, indexes into the schema; no columns
// if to is 0.
type burst struct{ from, to int }

// Compile makes the program for a type of whole messages. For a path that does not fit the error is a
// *message.PathError.
func Compile(t *message.Type, o Options) (*Program, error) {
	p := &Program{o: o, typ: t}
	picks, err := picksOf(t, o)
	if err != nil {
		return nil, err
	}
	c := compiler{p: p, enums: map[protoreflect.EnumDescriptor]*enum{}}
	c.times()
	c.open = append(c.open, t)
	for i := range t.Fields {
		f := &t.Fields[i]
		c.explode = o.Explode != "" && f.Name == o.Explode
		p.nodes = append(p.nodes, c.add(&p.schema, f, f.Name, picks.of(f), false))
	}
	if c.err != nil {
		return nil, c.err
	}
	for i := range p.schema {
		p.number(&p.schema[i])
	}
	proto := t.Protobuf()
	p.plain = emitter{proto, !proto, !proto && t.CDR()}.fields(nil, p.nodes)
	p.sized = emitter{proto, false, !proto && t.CDR()}.fields(nil, p.nodes)
	return p, nil
}

// Schema returns the fields of the columns. It must not be changed.
func (p *Program) Schema() []Field { return p.schema }

// Places reports whether a column has places of bytes: see Options.
func (p *Program) Places() bool { return p.places }

// Constants returns the constants of the type of the messages, if ROS has it.
func (p *Program) Constants() []schema.Constant { return p.typ.Constants }

// number lists the fields in the order in which the compiler has numbered their columns.
func (p *Program) number(f *Field) {
	p.fields = append(p.fields, f)
	for i := range f.Children {
		p.number(&f.Children[i])
	}
}

type compiler struct {
	p       *Program
	next    int
	open    []*message.Type // around the field
	enums   map[protoreflect.EnumDescriptor]*enum
	explode bool
	err     error
}

// column numbers a column.
func (c *compiler) column() int {
	if c.next == maxColumns && c.err == nil {
		c.err = fmt.Errorf("%s has more than %d columns; name the fields that you need", c.p.typ.Name, maxColumns)
	}
	c.next++
	c.p.enums = append(c.p.enums, nil)
	return c.next - 1
}

// times adds our own columns.
func (c *compiler) times() {
	ours := []Field{{Name: "log_time", Kind: Time}, {Name: "publish_time", Kind: Time}}
	if c.p.o.Sequence {
		ours = append(ours, Field{Name: "sequence", Kind: Uint64})
	}
	for i := range ours {
		for c.p.typ.Find(ours[i].Name) != nil {
			ours[i].Name = "_" + ours[i].Name
		}
		c.column()
	}
	c.p.schema, c.p.ours = ours, len(ours)
}

// add adds the column of a field, or with Flat the columns of a struct's members.
func (c *compiler) add(to *[]Field, f *message.Field, name string, pick *pick, nullable bool) *node {
	n := &node{f: f, col: -1, absent: c.absent(f), skip: pick == nil}
	if n.skip || c.err != nil {
		return n
	}
	list := f.List && !f.Lone
	if list && c.explode {
		return c.exploded(to, n, name, pick)
	}
	c.explode = false
	n.kind, n.size = c.kindOf(f, list)
	nullable = nullable || n.absent
	if n.kind == Struct && c.p.o.Flat {
		c.members(to, n, name+".", pick, nullable)
		return n.finish(nullable)
	}
	if n.kind == Binary && c.p.o.Places {
		return c.placed(to, n, name, nullable)
	}
	n.col = c.column()
	field := Field{Name: name, Kind: n.kind, Size: n.size, Nullable: nullable}
	switch n.kind {
	case Struct:
		field.Type, field.Constants = f.Type.Name, f.Type.Constants
		c.members(&field.Children, n, "", pick, false)
	case List, FixedList, Map:
		n.elem = c.element(&field.Children, f, pick)
	case Enum:
		e := c.enum(f.Proto.Enum())
		field.Texts, c.p.enums[n.col] = e.texts, e
	}
	*to = append(*to, field)
	return n.finish(nullable)
}

// placed adds the columns of bytes, or of where they lie.
func (c *compiler) placed(to *[]Field, n *node, name string, nullable bool) *node {
	n.kind, n.placed, c.p.places = Struct, true, true
	prefix := name + "."
	outer := Field{Name: name, Kind: Struct, Nullable: nullable}
	list := to
	if !c.p.o.Flat {
		n.col, list, prefix, nullable = c.column(), &outer.Children, "", false
	}
	for _, part := range placeFields {
		part.Name, part.Nullable = prefix+part.Name, nullable
		n.subs = append(n.subs, (&node{col: c.column(), kind: part.Kind}).finish(nullable))
		*list = append(*list, part)
	}
	if !c.p.o.Flat {
		*to = append(*to, outer)
	}
	return n.finish(nullable || outer.Nullable)
}

// placeFields are the members of the struct of Options.Places.
var placeFields = []Field{
	{Name: "bytes", Kind: Binary}, {Name: "file", Kind: Text}, {Name: "offset", Kind: Int64}, {Name: "size", Kind: Int64}}

// exploded adds the column of the elements of a list that become rows.
func (c *compiler) exploded(to *[]Field, n *node, name string, pick *pick) *node {
	c.explode = false
	if n.kind, n.size = c.kindOf(n.f, true); n.kind != List && n.kind != Map && n.kind != FixedList {
		c.fail("%s is %s, and no list whose elements can be rows", name, n.kind)
		return n
	}
	n.explode = true
	c.p.rows.from = len(*to)
	n.elem = c.single(to, n.f, name, pick)
	c.p.rows.to = len(*to)
	return n
}

func (c *compiler) fail(format string, a ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, a...)
	}
}

// element adds the column of the elements of a list, which nest their structs also with Flat.
func (c *compiler) element(to *[]Field, f *message.Field, pick *pick) *node {
	flat := c.p.o.Flat
	c.p.o.Flat = false
	defer func() { c.p.o.Flat = flat }()
	name := "item"
	if f.Type != nil && f.Type.Entry {
		name = "entries"
	}
	return c.single(to, f, name, pick)
}

// single adds the column of one value of a list.
func (c *compiler) single(to *[]Field, f *message.Field, name string, pick *pick) *node {
	one := *f
	one.List, one.Fixed, one.Presence = false, -1, false
	n := &node{f: &one, col: -1}
	n.kind, n.size = c.kindOf(&one, false)
	if n.kind == Struct && c.p.o.Flat {
		c.members(to, n, name+".", pick, false)
		return n.finish(false)
	}
	n.col = c.column()
	field := Field{Name: name, Kind: n.kind, Size: n.size}
	switch n.kind {
	case Struct:
		field.Type, field.Constants = f.Type.Name, f.Type.Constants
		c.members(&field.Children, n, "", pick, false)
	case Enum:
		e := c.enum(f.Proto.Enum())
		field.Texts, c.p.enums[n.col] = e.texts, e
	}
	*to = append(*to, field)
	return n.finish(false)
}

// members adds the columns of the fields of a struct.
func (c *compiler) members(to *[]Field, n *node, prefix string, pick *pick, nullable bool) {
	t := n.f.Type
	c.open = append(c.open, t)
	for i := range t.Fields {
		f := &t.Fields[i]
		n.subs = append(n.subs, c.add(to, f, prefix+f.Name, pick.of(f), nullable))
	}
	c.open = c.open[:len(c.open)-1]
}

// absent reports whether a value of a field that is no list may be absent.
func (c *compiler) absent(f *message.Field) bool {
	if f.Lone {
		return true
	}
	if f.Proto == nil || f.List {
		return false
	}
	oneof := f.Proto.ContainingOneof()
	return f.Presence && (f.Type != nil || f.Kind == message.Bytes && f.Proto.Message() != nil || oneof != nil &&
		!oneof.IsSynthetic())
}

// kindOf returns what a field is, or what one value of it is.
func (c *compiler) kindOf(f *message.Field, list bool) (k Kind, size int) {
	clock := f.Clock != schema.Invalid && !c.p.o.StructTimes
	switch {
	case list && f.ROS.IsByte() && f.Fixed > 0:
		return FixedBinary, f.Fixed
	case list && f.ROS.IsByte():
		return Binary, 0
	case list && f.Fixed > 0 && (f.Size > 0 || clock):
		return FixedList, f.Fixed
	case list && f.Proto != nil && f.Proto.IsMap() && f.Type != nil:
		return Map, 0
	case list:
		return List, 0
	case clock && f.Clock == schema.Time:
		return Time, 0
	case clock:
		return Duration, 0
	case f.Type != nil && f.Type.Protobuf() && slices.Contains(c.open, f.Type):
		return Binary, 0
	case f.Type != nil && len(f.Type.Fields) == 0:
		return Bool, 0
	case f.Type != nil:
		return Struct, 0
	case f.Kind == message.Text && (!c.p.o.BinaryText || f.Wide):
		return Text, 0
	case f.Size == 0:
		return Binary, 0
	}
	if f.Proto != nil && f.Proto.Enum() != nil && !f.Proto.Enum().IsPlaceholder() {
		return Enum, 0
	}
	return numberKind(f), 0
}

func numberKind(f *message.Field) Kind {
	k := Uint8
	switch f.Kind {
	case message.Bool:
		return Bool
	case message.Signed:
		k = Int8
	case message.Float:
		if f.Size == 4 {
			return Float32
		}
		return Float64
	}
	for size := f.Size; size > 1; size /= 2 {
		k++
	}
	return k
}
