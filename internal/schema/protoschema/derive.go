package protoschema

import (
	"fmt"
	"strconv"

	"github.com/bagconv/bagconv/internal/schema/names"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/schema"
)

// The limits of a generated type.
const (
	maxTypes = 10_000
	maxDepth = 200
	maxImage = 4 << 20 // bytes that an empty message becomes: every field has its default
)

// A Namer generates ROS types, each distinct one with a name of its own: of
// two protobuf types that would have the same name but not the same fields, the
// second gets a number after it.
type Namer struct {
	ros2  bool
	types map[string]*schema.Message
}

// NewNamer returns a namer for ROS 2 names (pkg/msg/Type) or ROS 1 names (pkg/Type).
func NewNamer(ros2 bool) *Namer { return &Namer{ros2, map[string]*schema.Message{}} }

// ROS returns the type generated from md. The rules:
//
//	package          the protobuf package with underscores: apollo_common
//	type             the nested path in camel case: LaneBoundaryType
//	field            the name in lower case; in the order of the numbers
//	numbers          of the same width: int64, uint32, float64; bool
//	enum             int32, and a constant for each value
//	string, bytes    string, uint8[]
//	repeated bytes   bagconv_msgs/Bytes[]
//	message, group   a field of the type generated from it
//	map              a list of entries {key, value}
//	google.protobuf.Timestamp, Duration   time, duration
//	oneof            its members as fields, and before the first one NAME_case: the
//	                 number of the field that is set, 0 for no field
//	recursion        uint8[] (or Bytes[]) with the serialized message
//
// A field that is not set has its default (proto2) or zero; which fields were
// set is not kept.
func (n *Namer) ROS(md protoreflect.MessageDescriptor) (*schema.Message, error) {
	d := &deriver{namer: n, made: map[protoreflect.FullName]*derived{}, group: cycles(md)}
	if d.group == nil {
		return nil, fmt.Errorf("it has more than %d types or nests them more than %d deep", maxTypes, maxDepth)
	}
	t, err := d.message(md)
	if err != nil {
		return nil, err
	}
	return t.msg, nil
}

type deriver struct {
	namer *Namer
	made  map[protoreflect.FullName]*derived
	group map[protoreflect.FullName]int // types of one group refer to each other in a circle
}

type derived struct {
	msg   *schema.Message
	image int // bytes of an empty message, at most
}

func (d *deriver) message(md protoreflect.MessageDescriptor) (*derived, error) {
	if t := d.made[md.FullName()]; t != nil {
		return t, nil
	}
	t := &derived{msg: &schema.Message{}, image: 8}
	constants := map[string]bool{}
	enums := map[protoreflect.FullName]bool{}
	for _, m := range members(md) {
		typ := schema.Type{Kind: schema.Uint32}
		size := 8
		if m.field != nil {
			var err error
			if typ, size, err = d.field(m.field); err != nil {
				return nil, err
			}
			if e := m.field.Enum(); e != nil && !e.IsPlaceholder() && !enums[e.FullName()] {
				enums[e.FullName()] = true
				t.msg.Constants = append(t.msg.Constants, constantsOf(e, constants)...)
			}
		}
		t.msg.Fields = append(t.msg.Fields, schema.Field{Name: m.name, Type: typ})
		if t.image += size; t.image > maxImage {
			return nil, fmt.Errorf("an empty %s becomes more than %d bytes of default values", md.FullName(), maxImage)
		}
	}
	t.msg = d.namer.name(packageName(string(md.ParentFile().Package())), typeName(md), t.msg)
	d.made[md.FullName()] = t
	return t, nil
}

// field returns the type of a field and how many bytes it takes when it is not set.
func (d *deriver) field(f protoreflect.FieldDescriptor) (schema.Type, int, error) {
	typ, size := schema.Type{}, 8
	switch k := f.Kind(); k {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		if isRaw(f) || d.group[f.Message().FullName()] == d.group[f.ContainingMessage().FullName()] &&
			d.group[f.Message().FullName()] > 0 {
			if f.IsList() {
				return schema.Type{Kind: schema.Struct, Message: d.namer.bytes(), Array: schema.Unbounded}, size, nil
			}
			return schema.Type{Kind: schema.Uint8, Array: schema.Unbounded}, size, nil
		}
		if kind := timeKind(f.Message()); kind != schema.Invalid {
			typ = d.namer.time(kind)
			break
		}
		t, err := d.message(f.Message())
		if err != nil {
			return typ, 0, err
		}
		typ, size = schema.Type{Kind: schema.Struct, Message: t.msg}, t.image
	case protoreflect.BytesKind:
		if f.IsList() {
			return schema.Type{Kind: schema.Struct, Message: d.namer.bytes(), Array: schema.Unbounded}, size, nil
		}
		return schema.Type{Kind: schema.Uint8, Array: schema.Unbounded}, size + len(f.Default().Bytes()), nil
	case protoreflect.StringKind:
		typ.Kind = schema.String
		if !f.IsList() {
			size += len(f.Default().String())
		}
	default:
		var known bool
		if typ.Kind, known = scalarKinds[k]; !known {
			return typ, 0, fmt.Errorf("field %s has a type that its descriptors do not have", f.FullName())
		}
	}
	if f.Cardinality() == protoreflect.Repeated {
		typ.Array, size = schema.Unbounded, 8
	}
	return typ, size, nil
}

var scalarKinds = map[protoreflect.Kind]schema.Kind{
	protoreflect.BoolKind: schema.Bool, protoreflect.EnumKind: schema.Int32,
	protoreflect.Int32Kind: schema.Int32, protoreflect.Sint32Kind: schema.Int32, protoreflect.Sfixed32Kind: schema.Int32,
	protoreflect.Uint32Kind: schema.Uint32, protoreflect.Fixed32Kind: schema.Uint32,
	protoreflect.Int64Kind: schema.Int64, protoreflect.Sint64Kind: schema.Int64, protoreflect.Sfixed64Kind: schema.Int64,
	protoreflect.Uint64Kind: schema.Uint64, protoreflect.Fixed64Kind: schema.Uint64,
	protoreflect.FloatKind: schema.Float32, protoreflect.DoubleKind: schema.Float64,
}

// timeKind tells Timestamp and Duration, with the fields that they have everywhere.
func timeKind(md protoreflect.MessageDescriptor) schema.Kind {
	kind := schema.Invalid
	switch md.FullName() {
	case timestampName:
		kind = schema.Time
	case durationName:
		kind = schema.Duration
	}
	sec, nanos := md.Fields().ByName("seconds"), md.Fields().ByName("nanos")
	if md.Fields().Len() != 2 || sec == nil || nanos == nil || sec.Kind() != protoreflect.Int64Kind ||
		nanos.Kind() != protoreflect.Int32Kind ||
		sec.Number() != 1 || nanos.Number() != 2 || sec.IsList() || nanos.IsList() {
		return schema.Invalid
	}
	return kind
}

// time returns the type of a time or duration: in ROS 2 a struct.
func (n *Namer) time(k schema.Kind) schema.Type {
	if !n.ros2 {
		return schema.Type{Kind: k}
	}
	name := "builtin_interfaces/msg/Time"
	if k == schema.Duration {
		name = "builtin_interfaces/msg/Duration"
	}
	return schema.Type{Kind: schema.Struct, Message: &schema.Message{Name: name, Fields: []schema.Field{
		{Name: "sec", Type: schema.Type{Kind: schema.Int32}}, {Name: "nanosec", Type: schema.Type{Kind: schema.Uint32}}}}}
}

// isRaw reports whether it is a message whose definition the descriptors lack.
func isRaw(f protoreflect.FieldDescriptor) bool { return f.Message().IsPlaceholder() }

// constantsOf lists the values of an enum as constants with names that are not used yet.
func constantsOf(e protoreflect.EnumDescriptor, used map[string]bool) []schema.Constant {
	var out []schema.Constant
	for i := range e.Values().Len() {
		v := e.Values().Get(i)
		out = append(out, schema.Constant{Kind: schema.Int32,
			Name: unique(used, names.Constant(string(e.Name()), string(v.Name()))), Text: strconv.Itoa(int(v.Number()))})
	}
	return out
}

// name sets the name of a generated type. A type that is there already, with the
// same fields, is used again.
func (n *Namer) name(pkg, typ string, m *schema.Message) *schema.Message {
	sep := "/"
	if n.ros2 {
		sep = "/msg/"
	}
	for i, base := 2, pkg+sep+typ; ; i++ {
		m.Name = base
		if i > 2 {
			m.Name = base + strconv.Itoa(i-1)
		}
		known := n.types[m.Name]
		if known == nil {
			n.types[m.Name] = m
			return m
		}
		if schema.Equal(known, m) {
			return known
		}
	}
}

// bytes returns the type of a list of byte strings' elements.
func (n *Namer) bytes() *schema.Message {
	return n.name("bagconv_msgs", "Bytes", &schema.Message{Fields: []schema.Field{
		{Name: "data", Type: schema.Type{Kind: schema.Uint8, Array: schema.Unbounded}}}})
}

// cycles numbers the groups of types that refer to each other in a circle,
// from 1; all others have 0. It returns nil when there are too many types.
//
// The algorithm is Tarjan's.
func cycles(root protoreflect.MessageDescriptor) map[protoreflect.FullName]int {
	type state struct {
		index, low int
		onStack    bool
	}
	states := map[protoreflect.FullName]*state{}
	group := map[protoreflect.FullName]int{}
	var stack []protoreflect.FullName
	groups, tooMany := 0, false
	var visit func(md protoreflect.MessageDescriptor, depth int) *state
	visit = func(md protoreflect.MessageDescriptor, depth int) *state {
		s := &state{index: len(states), low: len(states), onStack: true}
		if depth > maxDepth || len(states) >= maxTypes {
			tooMany = true
			return s
		}
		states[md.FullName()] = s
		stack = append(stack, md.FullName())
		self := false
		for i := range md.Fields().Len() {
			m := md.Fields().Get(i).Message()
			if tooMany || m == nil || m.IsPlaceholder() {
				continue
			}
			self = self || m.FullName() == md.FullName()
			switch t := states[m.FullName()]; {
			case t == nil:
				s.low = min(s.low, visit(m, depth+1).low)
			case t.onStack:
				s.low = min(s.low, t.index)
			}
		}
		if s.low == s.index {
			at := len(stack) - 1
			for stack[at] != md.FullName() {
				at--
			}
			circle := len(stack)-at > 1 || self
			if circle {
				groups++
			}
			for _, name := range stack[at:] {
				states[name].onStack = false
				if circle {
					group[name] = groups
				}
			}
			stack = stack[:at]
		}
		return s
	}
	visit(root, 0)
	if tooMany {
		return nil
	}
	return group
}
