package pb

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// A Type is a type of messages: its fields as the wire has them.
type Type struct {
	Fields []Field
	Oneofs int

	dense   []int32 // index of a field by its number, for small ones; -1: none
	sparse  map[protowire.Number]int
	columns []column // see Row; nil: no message is a row
}

// A Field is a field of a type.
type Field struct {
	Num   protowire.Number // 0: the wire does not have it
	Kind  protoreflect.Kind
	Wire  protowire.Type // of one value
	List  bool
	Packs bool // a number, which lists may have packed
	Parts bool // a message, which may come in parts
	Oneof int  // index of its oneof; -1: it is in no oneof
}

// maxDense bounds the table by number.
const maxDense = 256

// NewType returns the type with these fields.
func NewType(fields []Field, oneofs int) *Type {
	t := &Type{Fields: fields, Oneofs: oneofs, sparse: map[protowire.Number]int{}}
	for i := range fields {
		num := fields[i].Num
		switch {
		case num <= 0:
			continue
		case num >= maxDense:
			t.sparse[num] = i
			continue
		}
		for len(t.dense) <= int(num) {
			t.dense = append(t.dense, -1)
		}
		t.dense[num] = int32(i)
	}
	t.columns = t.columnsOf()
	return t
}

// TypeOf returns the type of a descriptor. Fields have the order of their declaration.
func TypeOf(md protoreflect.MessageDescriptor) *Type {
	fields := make([]Field, md.Fields().Len())
	oneofs := map[protoreflect.FullName]int{}
	for i := range fields {
		fd := md.Fields().Get(i)
		fields[i] = FieldOf(fd)
		if o := fd.ContainingOneof(); o != nil && !o.IsSynthetic() {
			k, known := oneofs[o.FullName()]
			if !known {
				k = len(oneofs)
				oneofs[o.FullName()] = k
			}
			fields[i].Oneof = k
		}
	}
	return NewType(fields, len(oneofs))
}

// FieldOf returns the field of a descriptor as if it were in no oneof.
func FieldOf(fd protoreflect.FieldDescriptor) Field {
	f := Field{Num: fd.Number(), Kind: fd.Kind(), List: fd.Cardinality() == protoreflect.Repeated, Oneof: -1}
	f.Wire, f.Packs = WireOf(f.Kind)
	f.Parts = f.Kind == protoreflect.MessageKind || f.Kind == protoreflect.GroupKind
	return f
}

// Find returns the index of the field of a number, -1 if the type does not have the field.
func (t *Type) Find(num protowire.Number) int {
	if int(num) < len(t.dense) {
		return int(t.dense[num])
	}
	if i, ok := t.sparse[num]; ok {
		return i
	}
	return -1
}

// Takes reports whether the field may have a value of a wire type.
func (f *Field) Takes(wire protowire.Type) bool {
	return wire == f.Wire || wire == protowire.BytesType && f.List && f.Packs
}
