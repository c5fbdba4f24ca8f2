package values

import (
	"reflect"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/schema"
)

var (
	mapType      = reflect.TypeFor[map[string]any]()
	anyType      = reflect.TypeFor[any]()
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
)

// A source is the type of a value in messages.
type source struct {
	ros schema.Type                    // of ROS
	fd  protoreflect.FieldDescriptor   // of a field of protobuf
	md  protoreflect.MessageDescriptor // of a message of protobuf
	one bool                           // a value of a list, and not the list
}

// A shape is what a source is in the terms of both encodings.
type shape struct {
	kind  kind
	size  int // of a number, bytes
	list  bool
	fixed int // values of an array; -1: any number
	bound int // values of a bounded list, bytes of a bounded string; 0: any number
	wide  bool
}

// A kind is what a single value is.
type kind uint8

const (
	signed kind = iota
	unsigned
	float
	boolean
	text
	blob // bytes of protobuf
	clock
	span // a duration
	structure
	unknown
)

// shape returns it. ros1 makes byte a number with a sign, as it is there.
func (s source) shape(ros1 bool) shape {
	if s.fd != nil || s.md != nil {
		return s.protoShape()
	}
	t := s.ros
	d := shape{size: t.Kind.Size(), list: t.Array != schema.Single && !s.one, fixed: -1, wide: t.Kind == schema.WString}
	switch {
	case d.list && t.Array == schema.Fixed:
		d.fixed = t.Len
	case d.list && t.Array == schema.Bounded:
		d.bound = t.Len
	case !d.list:
		d.bound = t.StringBound
	}
	switch t.Kind {
	case schema.Int8, schema.Int16, schema.Int32, schema.Int64, schema.Enum:
		d.kind = signed
	case schema.Byte:
		if d.kind = unsigned; ros1 {
			d.kind = signed
		}
	case schema.Uint8, schema.Uint16, schema.Uint32, schema.Uint64, schema.Char, schema.IDLChar:
		d.kind = unsigned
	case schema.Float32, schema.Float64:
		d.kind = float
	case schema.Bool:
		d.kind = boolean
	case schema.String, schema.WString:
		d.kind = text
	case schema.Time:
		d.kind = clock
	case schema.Duration:
		d.kind = span
	case schema.Struct:
		d.kind = structure
		switch t.Message.TimeKind() {
		case schema.Time:
			d.kind = clock
		case schema.Duration:
			d.kind = span
		}
	default:
		d.kind = unknown
	}
	return d
}

func (s source) protoShape() shape {
	d := shape{fixed: -1, kind: structure}
	if s.md != nil {
		return d
	}
	d.list = s.fd.Cardinality() == protoreflect.Repeated && !s.one
	switch s.fd.Kind() {
	case protoreflect.BoolKind:
		d.kind = boolean
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind, protoreflect.EnumKind:
		d.kind, d.size = signed, 4
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		d.kind, d.size = signed, 8
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		d.kind, d.size = unsigned, 4
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		d.kind, d.size = unsigned, 8
	case protoreflect.FloatKind:
		d.kind, d.size = float, 4
	case protoreflect.DoubleKind:
		d.kind, d.size = float, 8
	case protoreflect.StringKind:
		d.kind = text
	case protoreflect.BytesKind:
		d.kind = blob
	default:
		switch md := s.fd.Message(); {
		case md.IsPlaceholder():
			d.kind = blob
		case md.FullName() == "google.protobuf.Timestamp":
			d.kind = clock
		case md.FullName() == "google.protobuf.Duration":
			d.kind = span
		}
	}
	return d
}

// element returns the type of a single value of a list.
func (s source) element() source {
	s.one = true
	return s
}

// natural returns the Go type that a value of an interface has.
func (s source) natural(ros1 bool) reflect.Type {
	d := s.shape(ros1)
	if d.list {
		return reflect.SliceOf(s.element().natural(ros1))
	}
	return d.natural()
}

// natural returns it for a single value.
func (d shape) natural() reflect.Type {
	switch d.kind {
	case signed:
		return map[int]reflect.Type{1: reflect.TypeFor[int8](), 2: reflect.TypeFor[int16](), 4: reflect.TypeFor[int32](), 8: reflect.TypeFor[int64]()}[d.size]
	case unsigned:
		return map[int]reflect.Type{1: reflect.TypeFor[uint8](), 2: reflect.TypeFor[uint16](), 4: reflect.TypeFor[uint32](), 8: reflect.TypeFor[uint64]()}[d.size]
	case float:
		return map[int]reflect.Type{4: reflect.TypeFor[float32](), 8: reflect.TypeFor[float64]()}[d.size]
	case boolean:
		return reflect.TypeFor[bool]()
	case text:
		return reflect.TypeFor[string]()
	case blob:
		return reflect.TypeFor[[]byte]()
	case clock:
		return timeType
	case span:
		return durationType
	}
	return mapType
}

// name is how errors name the type.
func (s source) name() string {
	switch {
	case s.md != nil:
		return string(s.md.FullName())
	case s.fd != nil && s.fd.Message() != nil:
		return string(s.fd.Message().FullName())
	case s.fd != nil:
		return s.fd.Kind().String()
	}
	t := s.ros
	if s.one {
		t.Array = schema.Single
	}
	return t.Text()
}
