package apollo

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/wire/pb"
)

// A class is the kinds of protobuf fields that a wanted field may have.
type class uint8

const (
	integer class = iota // any integer, bool or enum; the slot holds it in 64 bits
	real                 // float or double; the slot holds the bits of a float64
	number               // integer or real; the slot holds the bits of a float64
	text                 // string or bytes
	message              // a message, or with list a repeated one
)

// takes reports whether a field may be of a kind.
func (c class) takes(k protoreflect.Kind) bool {
	_, numeric := pb.WireOf(k)
	isReal := k == protoreflect.FloatKind || k == protoreflect.DoubleKind
	switch c {
	case integer:
		return numeric && !isReal
	case real:
		return isReal
	case number:
		return numeric
	case text:
		return k == protoreflect.StringKind || k == protoreflect.BytesKind
	}
	return k == protoreflect.MessageKind
}

// A want is a field that a family knows, by name; below a message, its fields.
type want struct {
	name  string
	class class
	slot  int
	need  bool // a descriptor without it is refused
	list  bool // repeated messages: counted and located, not read
	sub   []want
}

// A field is a wanted field that the descriptor has.
type field struct {
	pb.Field
	real bool // the slot holds a float64 whatever the kind is
	slot int
	sub  *table // of a message that is not a list
}

// A table is a message with its wanted fields.
type table struct {
	typ     *pb.Type
	byIndex []*field // by index of the fields of typ; nil: it is not wanted
	fields  []*field // by ascending number, as canonical protobuf has them
	has     uint64   // slots in it and below
}

// A compiler makes the tables of a message type.
type compiler struct {
	initial values   // what slots hold when their fields are not set
	unused  []string // paths of fields that are not wanted
}

// table compiles the wanted fields of md; prefix is its path with a dot after.
func (c *compiler) table(md protoreflect.MessageDescriptor, wants []want, prefix string) (*table, error) {
	t := &table{typ: pb.TypeOf(md), byIndex: make([]*field, md.Fields().Len())}
	for _, w := range wants {
		fd := md.Fields().ByName(protoreflect.Name(w.name))
		if fd == nil {
			if w.need {
				return nil, fmt.Errorf("%s has no field %s", md.FullName(), prefix+w.name)
			}
			c.missing(&w)
			continue
		}
		f, err := c.field(fd, &w, prefix)
		if err != nil {
			return nil, err
		}
		t.byIndex[fd.Index()] = f
		t.fields = append(t.fields, f)
		switch {
		case f.sub != nil:
			t.has |= f.sub.has
		case !f.List:
			t.has |= 1 << w.slot
		}
	}
	for i, f := range t.byIndex {
		if f == nil {
			c.unused = append(c.unused, prefix+string(md.Fields().Get(i).Name()))
		}
	}
	slices.SortFunc(t.fields, func(a, b *field) int { return cmp.Compare(a.Num, b.Num) })
	return t, nil
}

// field compiles one wanted field.
func (c *compiler) field(fd protoreflect.FieldDescriptor, w *want, prefix string) (*field, error) {
	f := &field{Field: pb.FieldOf(fd), slot: w.slot, real: w.class == real || w.class == number}
	if !w.class.takes(f.Kind) || fd.IsList() != w.list || fd.IsMap() {
		return nil, fmt.Errorf("field %s of %s is not of the expected kind but %s %s", prefix+w.name,
			fd.ContainingMessage().FullName(), fd.Cardinality(), fd.Kind())
	}
	var err error
	switch {
	case w.list: // compiled on its own
	case f.Parts:
		f.sub, err = c.table(fd.Message(), w.sub, prefix+w.name+".")
	case f.Kind == protoreflect.StringKind:
		c.initial.text[w.slot-firstText] = []byte(fd.Default().String())
	case f.Kind == protoreflect.BytesKind:
		c.initial.text[w.slot-firstText] = fd.Default().Bytes()
	default:
		c.initial.num[w.slot] = f.toSlot(pb.Default(fd))
	}
	return f, err
}

// missing sets the slots of a message that the descriptor lacks to the value that
// they have in Apollo: a real number that is not there is not a number.
func (c *compiler) missing(w *want) {
	switch {
	case w.class == message && !w.list:
		for i := range w.sub {
			c.missing(&w.sub[i])
		}
	case w.class == real:
		c.initial.num[w.slot] = math.Float64bits(math.NaN())
	}
}
