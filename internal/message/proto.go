package message

import (
	"encoding/binary"
	"fmt"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/wire/pb"
	"github.com/bagconv/bagconv/schema"
)

// Proto returns the type of protobuf messages of a descriptor. Fields have the order of their declaration. A
// field is bytes if the descriptors lack its message, and a number if they lack its enum.
func Proto(md protoreflect.MessageDescriptor) (*Type, error) {
	c := protoCompiler{made: map[protoreflect.MessageDescriptor]*Type{}}
	t, err := c.structure(md)
	if err != nil {
		return nil, err
	}
	t.whole = &whole{fields: c.fields}
	return t, nil
}

type protoCompiler struct {
	made   map[protoreflect.MessageDescriptor]*Type
	fields int
}

func (c *protoCompiler) structure(md protoreflect.MessageDescriptor) (*Type, error) {
	if t := c.made[md]; t != nil {
		return t, nil
	}
	n := md.Fields().Len()
	if c.fields+n+len(c.made) > maxFields || n > maxFields/10 {
		return nil, errTooLarge
	}
	t := &Type{Name: string(md.FullName()), Fields: make([]Field, n), First: c.fields, Entry: md.IsMapEntry(),
		wire: pb.TypeOf(md)}
	c.made[md] = t // before its fields: a type may be within itself
	c.fields += n
	for i := range t.Fields {
		f, fd := &t.Fields[i], md.Fields().Get(i)
		*f = Field{Name: string(fd.Name()), Index: i, List: fd.Cardinality() == protoreflect.Repeated, Fixed: -1, Proto: fd,
			Presence: fd.HasPresence() && !t.Entry, wire: &t.wire.Fields[i]}
		if f.setKind(); f.Kind != Struct {
			continue
		}
		var err error
		if f.Type, err = c.structure(fd.Message()); err != nil {
			return nil, err
		}
	}
	if t.wire.Rows() {
		t.blank = make([]uint64, n)
		for i := range t.Fields {
			t.blank[i] = t.Fields[i].bits
		}
	}
	return t, nil
}

// setKind fills in what follows from the kind of a field of protobuf.
func (f *Field) setKind() {
	fd, w := f.Proto, f.wire
	switch {
	case w.Kind == protoreflect.MessageKind && fd.Message().IsPlaceholder():
		w.Kind = protoreflect.BytesKind
	case w.Kind == protoreflect.EnumKind && fd.Enum().IsPlaceholder():
		w.Kind = protoreflect.Int32Kind
	}
	f.Kind, f.Size = protoKind(w.Kind)
	switch {
	case f.Kind == Struct:
		switch fd.Message().FullName() {
		case "google.protobuf.Timestamp":
			f.Clock = schema.Time
		case "google.protobuf.Duration":
			f.Clock = schema.Duration
		}
	case f.List || fd.Kind() != w.Kind:
	case f.Kind == Text:
		f.text = []byte(fd.Default().String())
	case f.Kind == Bytes:
		f.text = fd.Default().Bytes()
	default:
		f.bits = pb.Default(fd)
	}
}

// protoKind returns what a kind of protobuf is, and the bytes of its numbers.
func protoKind(k protoreflect.Kind) (Kind, int) {
	switch k {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return Struct, 0
	case protoreflect.StringKind:
		return Text, 0
	case protoreflect.BytesKind:
		return Bytes, 0
	case protoreflect.BoolKind:
		return Bool, 1
	case protoreflect.FloatKind:
		return Float, 4
	case protoreflect.DoubleKind:
		return Float, 8
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return Unsigned, 4
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return Unsigned, 8
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return Signed, 8
	}
	return Signed, 4
}

// A place is a message of protobuf that is read, and which of its fields the cursor is at.
type place struct {
	view    pb.View
	at      int // offset of the message in the whole message, about
	field   *Field
	value   pb.Value // of a list
	element bool     // the cursor is at value
}

// enterProto finds the fields of the message at the cursor.
func (c *Cursor) enterProto(t *Type) {
	p, at := c.src, 0
	if c.here != nil {
		p, at = c.content()
	}
	if len(c.places) >= maxDepth {
		c.FailAt(at, "messages are nested more than %d deep", maxDepth)
	}
	if len(p) == 0 {
		c.burn()
	}
	if !c.OK() {
		return
	}
	n := len(c.places)
	if n == cap(c.places) {
		c.places = slices.Grow(c.places, 1)
	}
	c.places = c.places[:n+1]
	c.here = &c.places[n]
	c.here.at = at
	wrong := c.x.Open(&c.here.view, t.wire, p)
	if c.x.Unknown {
		c.noteStrays(t)
	}
	if wrong != nil {
		c.FailAt(at+wrong.At, "%s", wrong.What)
	}
}

// noteStrays keeps the first fields that do not fit a type.
func (c *Cursor) noteStrays(t *Type) {
	if s := c.x.Stray; s.Num != 0 && c.unknown == "" {
		c.unknown = fmt.Sprintf("field %d, which %s does not have", s.Num, t.Name)
	}
	if s := c.x.Mistyped; s.Num != 0 && c.mistyped == "" {
		f := &t.Fields[t.wire.Find(s.Num)]
		c.mistyped = fmt.Sprintf("%s.%s has wire type %d, and the descriptor says %d", t.Name, f.Name, s.Wire, f.wire.Wire)
	}
	c.x.Stray, c.x.Mistyped = pb.Stray{}, pb.Stray{}
}

func (c *Cursor) leaveProto() {
	c.x.Close(&c.here.view)
	last := len(c.places) - 1
	if c.places, c.here = c.places[:last], nil; last > 0 {
		c.here = &c.places[last-1]
	}
}

// Rows reports whether Row can read structs of the type, of protobuf: all fields are single numbers.
func (t *Type) Rows() bool { return t.blank != nil }

// Row reads all of the struct of protobuf at the cursor, as Enter, Bits of each field and Leave do, and returns the
// numbers in the order of the fields. It is false if nothing was read: the struct is not as most writers write it.
func (c *Cursor) Row(t *Type) (numbers []uint64, ok bool) {
	if h := c.here; !t.Rows() || h == nil || len(c.places) >= maxDepth || !c.OK() ||
		!h.element && c.x.Count(&h.view, h.field.Index) != 1 {
		return nil, false
	}
	p, _ := c.content()
	if len(p) == 0 {
		return nil, false
	}
	c.row = append(c.row[:0], t.blank...)
	return c.row, t.wire.Row(p, c.row)
}

// content returns the bytes of the struct, string or bytes at the cursor, and about where they begin.
func (c *Cursor) content() (p []byte, at int) {
	h := c.here
	f := h.field.wire
	switch {
	case h.element:
		return h.view.Content(f, &h.value), h.at + int(h.value.Begin)
	case f.Parts:
		if c.inPlace && c.x.Count(&h.view, h.field.Index) > 1 {
			c.FailAt(h.at, "a message in parts has no place of its own")
			return nil, h.at
		}
		p, at, wrong := c.x.Joined(&h.view, h.field.Index)
		if wrong != nil {
			c.FailAt(h.at+wrong.At, "%s", wrong.What)
		}
		return p, h.at + at
	}
	begin, end, ok := c.x.Single(&h.view, h.field.Index)
	if !ok {
		return h.field.text, h.at
	}
	return pb.Content(f.Num, f.Wire, h.view.Message[begin:end]), h.at + begin
}

// countProto returns how many values the list at the cursor has.
func (c *Cursor) countProto() int {
	h := c.here
	f := h.field.wire
	if !f.Packs {
		return c.x.Count(&h.view, h.field.Index)
	}
	n := 0
	for o := c.x.First(&h.view, h.field.Index); !o.None(); o = c.x.Next(&h.view, o) {
		p := h.view.Numbers(f, &o)
		if width := pb.Width(f.Wire); width > 0 && len(p)%width != 0 || width == 0 && len(p) > 0 && p[len(p)-1] >= 0x80 {
			c.FailAt(h.at+int(o.Begin), "a packed list ends within a number")
			return 0
		}
		n += pb.Count(f.Wire, p)
	}
	return n
}

// bitsProto returns the number at the cursor, or its default.
func (c *Cursor) bitsProto() uint64 {
	if !c.r.OK() {
		return 0
	}
	h := c.here
	begin, end := int(h.value.Begin), int(h.value.End)
	if !h.element {
		var ok bool
		if begin, end, ok = c.x.Single(&h.view, h.field.Index); !ok {
			return h.field.bits
		}
	}
	bits, n := pb.Number(h.field.wire.Kind, h.view.Message[begin:end])
	if n < 0 {
		c.FailAt(h.at+begin, "a number is cut or wrong")
		return 0
	}
	return bits
}

// numbersProto returns all numbers of the list at the cursor, n of them.
func (c *Cursor) numbersProto(n int) []byte {
	h := c.here
	f, size := h.field.wire, h.field.Size
	first := c.x.First(&h.view, h.field.Index)
	if first.None() {
		return nil
	}
	if p := h.view.Numbers(f, &first); pb.Width(f.Wire) == size && len(p) == n*size {
		return p // all in one packed list
	}
	c.numbers = c.numbers[:0]
	for o := first; !o.None(); o = c.x.Next(&h.view, o) {
		for p := h.view.Numbers(f, &o); len(p) > 0; {
			bits, k := pb.Number(f.Kind, p)
			if k < 0 {
				c.FailAt(h.at+int(o.Begin), "a packed list ends within a number")
				return nil
			}
			c.numbers = appendBits(c.numbers, bits, size)
			p = p[k:]
		}
	}
	return c.numbers
}

// appendBits appends a number of size bytes.
func appendBits(dst []byte, bits uint64, size int) []byte {
	switch size {
	case 1:
		return append(dst, byte(bits))
	case 4:
		return binary.LittleEndian.AppendUint32(dst, uint32(bits))
	}
	return binary.LittleEndian.AppendUint64(dst, bits)
}

// timeProto reads the Timestamp or Duration at the cursor.
func (c *Cursor) timeProto() (sec, nsec int64) {
	p, at := c.content()
	sec, nsec, wrong := pb.Time(p)
	if wrong != nil {
		c.FailAt(at+wrong.At, "%s", wrong.What)
	}
	return sec, nsec
}
