package transcode

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/schema/protoschema"
)

// Between protobuf and the two ROS encodings a program is a tree of nodes, one
// for each pair of a message and a struct; nodes are shared if types are. A
// node's slots stand in the order of the ROS fields, which in generated types is
// that of the field numbers: serializers write fields in that order, so one
// forward walk over the message is enough.

// A node is a message and the struct that it becomes, or the other way round.
type node struct {
	slots  []slotProgram
	dense  []int16         // slot by field number, for small numbers; -1 for none
	sparse map[int32]int16 // for the others
	cases  int             // how many oneofs have a field that holds their case
	empty  bool            // the struct has no fields: one byte in CDR
	entry  bool            // of a map: both fields are always written
}

// A slotProgram carries one field.
type slotProgram struct {
	form  protoschema.Form
	num   int32
	list  schema.Array // Single, Fixed or Unbounded
	len   int          // of a Fixed list, or of exact bytes
	exact bool         // bytes are an array, not a list
	size  uint8        // of the ROS number, bytes
	sign  bool         // it is signed, and its sign goes into a varint
	code  numberCode
	wire  protowire.Type // of one value
	group bool
	pack  bool // written packed
	node  *node
	span  bool // for form Stamp: a Duration, whose seconds have a sign

	oneof int  // index of the oneof in the node when a field holds its case, else -1
	keep  bool // written even when it has the default: required, or a member of a oneof without a case

	bits uint64      // default of a number as the ROS field has it
	text []byte      // default of a string or of bytes
	zero schema.Type // for form None
}

// numberCode reports how a number stands on protobuf's wire.
type numberCode uint8

const (
	codeVarint numberCode = iota
	codeBool
	codeSigned32 // a negative int32 or enum takes ten bytes
	codeZigzag
	codeFixed32
	codeFixed64
)

var numberCodes = map[protoreflect.Kind]struct {
	code numberCode
	wire protowire.Type
}{
	protoreflect.BoolKind: {codeBool, protowire.VarintType}, protoreflect.EnumKind: {codeSigned32, protowire.VarintType},
	protoreflect.Int32Kind: {codeSigned32, protowire.VarintType}, protoreflect.Sint32Kind: {codeZigzag, protowire.VarintType},
	protoreflect.Uint32Kind: {codeVarint, protowire.VarintType}, protoreflect.Int64Kind: {codeVarint, protowire.VarintType},
	protoreflect.Sint64Kind: {codeZigzag, protowire.VarintType}, protoreflect.Uint64Kind: {codeVarint, protowire.VarintType},
	protoreflect.Sfixed32Kind: {codeFixed32, protowire.Fixed32Type}, protoreflect.Fixed32Kind: {codeFixed32, protowire.Fixed32Type},
	protoreflect.FloatKind: {codeFixed32, protowire.Fixed32Type}, protoreflect.Sfixed64Kind: {codeFixed64, protowire.Fixed64Type},
	protoreflect.Fixed64Kind: {codeFixed64, protowire.Fixed64Type}, protoreflect.DoubleKind: {codeFixed64, protowire.Fixed64Type},
}

// maxDense bounds the table by field number.
const maxDense = 256

// nodes makes the tree for a pair of types.
func nodes(s *protoschema.Struct, made map[*protoschema.Struct]*node) *node {
	if n := made[s]; n != nil {
		return n
	}
	n := &node{slots: make([]slotProgram, len(s.Slots)), empty: len(s.Slots) == 0, entry: s.Proto.IsMapEntry(), sparse: map[int32]int16{}}
	made[s] = n
	cases := map[protoreflect.FullName]int{}
	for i, sl := range s.Slots {
		if sl.Form == protoschema.OneCase {
			cases[sl.Case.FullName()] = n.cases
			n.slots[i] = slotProgram{form: sl.Form, oneof: n.cases}
			n.cases++
		}
	}
	for i := range s.Slots {
		sl := &s.Slots[i]
		switch sl.Form {
		case protoschema.OneCase:
			continue
		case protoschema.None:
			n.slots[i] = slotProgram{form: sl.Form, zero: sl.Type}
			continue
		}
		p := slotOf(sl, made)
		p.keep = p.keep || n.entry
		if o := sl.Field.ContainingOneof(); o != nil {
			if k, ok := cases[o.FullName()]; ok {
				p.oneof = k
			}
		}
		n.slots[i] = p
		num := int32(sl.Field.Number())
		if num >= maxDense {
			n.sparse[num] = int16(i)
			continue
		}
		for len(n.dense) <= int(num) {
			n.dense = append(n.dense, -1)
		}
		n.dense[num] = int16(i)
	}
	return n
}

func slotOf(sl *protoschema.Slot, made map[*protoschema.Struct]*node) slotProgram {
	f := sl.Field
	p := slotProgram{form: sl.Form, num: int32(f.Number()), oneof: -1, wire: protowire.BytesType,
		keep: f.Cardinality() == protoreflect.Required, pack: f.IsPacked(), group: f.Kind() == protoreflect.GroupKind}
	if p.group {
		p.wire = protowire.StartGroupType
	}
	if f.Cardinality() == protoreflect.Repeated {
		if p.list = schema.Unbounded; sl.Type.Array == schema.Fixed {
			p.list, p.len = schema.Fixed, sl.Type.Len
		}
	}
	switch sl.Form {
	case protoschema.Number:
		nc := numberCodes[f.Kind()]
		p.code, p.wire, p.size = nc.code, nc.wire, uint8(sl.Type.Kind.Size())
		switch sl.Type.Kind {
		case schema.Int8, schema.Int16, schema.Int32, schema.Int64, schema.Enum:
			p.sign = p.code != codeFixed32 && p.code != codeFixed64
		}
		if p.list == schema.Single {
			p.bits = defaultBits(f)
			if p.code == codeFixed32 {
				p.bits &= 0xffffffff
			}
		}
	case protoschema.Text:
		if p.list == schema.Single {
			p.text = []byte(f.Default().String())
		}
	case protoschema.Bytes:
		if p.list == schema.Single {
			p.text = f.Default().Bytes()
			if sl.Type.Array == schema.Fixed {
				p.exact, p.len = true, sl.Type.Len
			}
		}
	case protoschema.Nested:
		p.node = nodes(sl.Struct, made)
	case protoschema.Stamp:
		p.span = f.Message().Name() == "Duration"
	}
	return p
}

// defaultBits is the default of a number as the ROS field has it.
func defaultBits(f protoreflect.FieldDescriptor) uint64 {
	v := f.Default()
	switch f.Kind() {
	case protoreflect.BoolKind:
		if v.Bool() {
			return 1
		}
		return 0
	case protoreflect.EnumKind:
		return uint64(int64(v.Enum()))
	case protoreflect.FloatKind:
		return uint64(math.Float32bits(float32(v.Float())))
	case protoreflect.DoubleKind:
		return math.Float64bits(v.Float())
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind, protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return v.Uint()
	}
	return uint64(v.Int())
}

// find returns the slot of a field number, -1 for an unknown field.
func (n *node) find(num int32) int {
	if num >= 0 && int(num) < len(n.dense) {
		return int(n.dense[num])
	}
	if len(n.sparse) > 0 {
		if i, ok := n.sparse[num]; ok {
			return int(i)
		}
	}
	return -1
}
