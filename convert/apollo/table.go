package apollo

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
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

// A want is a field that a family knows, by name; below a message, its fields.
type want struct {
	name  string
	class class
	slot  int
	need  bool // a descriptor without it is refused
	list  bool // repeated messages: counted and located, not read
	sub   []want
}

// A coding says how a value lies on the wire.
type coding uint8

const (
	varint coding = iota
	zigzag
	varint32  // int32 and enum: the low 32 bits, sign extended
	uvarint32 // uint32: the low 32 bits
	boolean
	fixed32
	sfixed32
	fixed64
	float32bits
	float64bits
	bytesText
	nested
	listed
)

var codings = map[protoreflect.Kind]coding{
	protoreflect.Int64Kind: varint, protoreflect.Uint64Kind: varint, protoreflect.Int32Kind: varint32, protoreflect.EnumKind: varint32,
	protoreflect.Uint32Kind: uvarint32, protoreflect.BoolKind: boolean, protoreflect.Sint32Kind: zigzag, protoreflect.Sint64Kind: zigzag,
	protoreflect.Fixed32Kind: fixed32, protoreflect.Sfixed32Kind: sfixed32, protoreflect.Fixed64Kind: fixed64, protoreflect.Sfixed64Kind: fixed64,
	protoreflect.FloatKind: float32bits, protoreflect.DoubleKind: float64bits,
	protoreflect.StringKind: bytesText, protoreflect.BytesKind: bytesText, protoreflect.MessageKind: nested,
}

// wires is the wire type of each coding.
var wires = [...]protowire.Type{
	varint: protowire.VarintType, zigzag: protowire.VarintType, varint32: protowire.VarintType, uvarint32: protowire.VarintType,
	boolean: protowire.VarintType, fixed32: protowire.Fixed32Type, sfixed32: protowire.Fixed32Type, fixed64: protowire.Fixed64Type,
	float32bits: protowire.Fixed32Type, float64bits: protowire.Fixed64Type,
	bytesText: protowire.BytesType, nested: protowire.BytesType, listed: protowire.BytesType,
}

// A field is a wanted field that the descriptor has.
type field struct {
	num    protowire.Number
	coding coding
	real   bool // the slot holds a float64 whatever the coding is
	slot   int
	sub    *table
}

// A table is a message: its wanted fields by ascending number, as canonical
// protobuf has them.
type table struct {
	fields []field
	low    [32]uint8 // index into fields plus one, by field number; 0 is none
	has    uint64    // slots in it and below

	unusedLow uint64             // bit per number below 64: a field of the descriptor that is not wanted
	unused    []protowire.Number // the others of these, ascending
}

// find returns the field of a number, nil when it is not wanted.
func (t *table) find(num protowire.Number) *field {
	if num < 32 {
		if i := t.low[num]; i != 0 {
			return &t.fields[i-1]
		}
		return nil
	}
	for i := range t.fields {
		if t.fields[i].num == num {
			return &t.fields[i]
		}
	}
	return nil
}

// leavesOut reports whether a field number is one that the descriptor has and that
// is not wanted.
func (t *table) leavesOut(num protowire.Number) bool {
	if num < 64 {
		return t.unusedLow>>num&1 != 0
	}
	_, ok := slices.BinarySearch(t.unused, num)
	return ok
}

// A compiler makes the tables of a message type.
type compiler struct {
	initial values   // what slots hold when their fields are not set
	unused  []string // paths of fields that are not wanted
}

// table compiles the wanted fields of md; prefix is its path with a dot behind.
func (c *compiler) table(md protoreflect.MessageDescriptor, wants []want, prefix string) (*table, error) {
	t := &table{}
	known := map[protoreflect.Name]bool{}
	for _, w := range wants {
		fd := md.Fields().ByName(protoreflect.Name(w.name))
		if fd == nil {
			if w.need {
				return nil, fmt.Errorf("%s has no field %s", md.FullName(), prefix+w.name)
			}
			c.missing(&w)
			continue
		}
		known[fd.Name()] = true
		f, err := c.field(fd, &w, prefix)
		if err != nil {
			return nil, err
		}
		t.fields = append(t.fields, f)
		switch {
		case f.coding == nested:
			t.has |= f.sub.has
		case f.coding != listed:
			t.has |= 1 << w.slot
		}
	}
	for i := range md.Fields().Len() {
		if fd := md.Fields().Get(i); !known[fd.Name()] {
			c.unused = append(c.unused, prefix+string(fd.Name()))
			if num := fd.Number(); num < 64 {
				t.unusedLow |= 1 << num
			} else {
				t.unused = append(t.unused, num)
			}
		}
	}
	slices.Sort(t.unused)
	sort.Slice(t.fields, func(i, j int) bool { return t.fields[i].num < t.fields[j].num })
	for i, f := range t.fields {
		if f.num < 32 {
			t.low[f.num] = uint8(i + 1)
		}
	}
	return t, nil
}

// field compiles one wanted field.
func (c *compiler) field(fd protoreflect.FieldDescriptor, w *want, prefix string) (field, error) {
	f := field{num: fd.Number(), slot: w.slot, real: w.class == real || w.class == number}
	coding, ok := codings[fd.Kind()]
	isReal := coding == float32bits || coding == float64bits
	switch w.class {
	case integer:
		ok = ok && !isReal && coding < bytesText
	case real:
		ok = ok && isReal
	case number:
		ok = ok && coding < bytesText
	case text:
		ok = ok && coding == bytesText
	case message:
		ok = ok && coding == nested
	}
	if !ok || fd.IsList() != w.list || fd.IsMap() {
		return f, fmt.Errorf("field %s of %s is not of the expected kind but %s %s", prefix+w.name, fd.ContainingMessage().FullName(), fd.Cardinality(), fd.Kind())
	}
	f.coding = coding
	var err error
	switch {
	case w.list: // compiled on its own
		f.coding = listed
	case coding == nested:
		f.sub, err = c.table(fd.Message(), w.sub, prefix+w.name+".")
	case coding == bytesText:
		if fd.Kind() == protoreflect.StringKind {
			c.initial.text[w.slot-firstText] = []byte(fd.Default().String())
		} else {
			c.initial.text[w.slot-firstText] = fd.Default().Bytes()
		}
	default:
		c.initial.num[w.slot] = defaultBits(fd, f.real)
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

// defaultBits is the default of a number as a slot holds it.
func defaultBits(fd protoreflect.FieldDescriptor, real bool) uint64 {
	d := fd.Default()
	var i uint64
	var r float64
	switch fd.Kind() {
	case protoreflect.BoolKind:
		if d.Bool() {
			i, r = 1, 1
		}
	case protoreflect.EnumKind:
		i, r = uint64(int64(d.Enum())), float64(d.Enum())
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		r = d.Float()
	case protoreflect.Uint32Kind, protoreflect.Uint64Kind, protoreflect.Fixed32Kind, protoreflect.Fixed64Kind:
		i, r = d.Uint(), float64(d.Uint())
	default:
		i, r = uint64(d.Int()), float64(d.Int())
	}
	if real {
		return math.Float64bits(r)
	}
	return i
}
