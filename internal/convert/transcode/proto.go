package transcode

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/internal/wire/pb"
	"github.com/bagconv/bagconv/schema"
)

// Between protobuf and the two ROS encodings a program is a tree of nodes, one
// for each pair of a message and a struct; nodes are shared if types are. A
// node's slots stand in the order of the ROS fields, which in generated types is
// the order of the field numbers: serializers write fields in that order, so one
// forward walk over the message is enough.

// A node is a message and the struct that it becomes, or the reverse.
type node struct {
	slots []slotProgram
	typ   *pb.Type // fields in the order of the slots; oneofs if a ROS field has their case
	empty bool     // the struct has no fields: one byte in CDR
	entry bool     // of a map: both fields are always written
}

// A slotProgram carries one field.
type slotProgram struct {
	*pb.Field // Oneof of form OneCase too
	form      protoschema.Form
	list      schema.Array // Single, Fixed or Unbounded
	len       int          // of a Fixed list, or of exact bytes
	exact     bool         // bytes are an array, not a list
	size      uint8        // of the ROS number, bytes
	sign      bool         // it is signed, and its sign goes into a varint
	pack      bool         // written packed
	node      *node
	span      bool // for form Stamp: a Duration, whose seconds have a sign

	keep bool // written even when it has the default: required, or a member of a oneof without a case

	bits uint64      // default of a number as the ROS field has it
	text []byte      // default of a string or of bytes
	zero schema.Type // for form None
}

// nodes makes the tree for a pair of types.
func nodes(s *protoschema.Struct, made map[*protoschema.Struct]*node) *node {
	if n := made[s]; n != nil {
		return n
	}
	n := &node{slots: make([]slotProgram, len(s.Slots)), empty: len(s.Slots) == 0, entry: s.Proto.IsMapEntry()}
	made[s] = n
	fields := make([]pb.Field, len(s.Slots))
	cases := map[protoreflect.FullName]int{}
	for i, sl := range s.Slots {
		if sl.Form == protoschema.OneCase {
			fields[i].Oneof = len(cases)
			cases[sl.Case.FullName()] = len(cases)
		}
	}
	for i := range s.Slots {
		sl := &s.Slots[i]
		p := slotProgram{form: sl.Form}
		switch sl.Form {
		case protoschema.OneCase:
		case protoschema.None:
			p.zero = sl.Type
		default:
			p = slotOf(sl, made)
			p.keep = p.keep || n.entry
			fields[i] = pb.FieldOf(sl.Field)
			if o := sl.Field.ContainingOneof(); o != nil {
				if k, ok := cases[o.FullName()]; ok {
					fields[i].Oneof = k
				}
			}
		}
		p.Field = &fields[i]
		n.slots[i] = p
	}
	n.typ = pb.NewType(fields, len(cases))
	return n
}

func slotOf(sl *protoschema.Slot, made map[*protoschema.Struct]*node) slotProgram {
	f := sl.Field
	p := slotProgram{form: sl.Form, keep: f.Cardinality() == protoreflect.Required, pack: f.IsPacked()}
	if f.Cardinality() == protoreflect.Repeated {
		if p.list = schema.Unbounded; sl.Type.Array == schema.Fixed {
			p.list, p.len = schema.Fixed, sl.Type.Len
		}
	}
	switch sl.Form {
	case protoschema.Number:
		wire, _ := pb.WireOf(f.Kind())
		p.size = uint8(sl.Type.Kind.Size())
		switch sl.Type.Kind {
		case schema.Int8, schema.Int16, schema.Int32, schema.Int64, schema.Enum:
			p.sign = wire == protowire.VarintType
		}
		if p.list == schema.Single {
			p.bits = pb.Default(f)
			if wire == protowire.Fixed32Type {
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
