package content

import (
	"encoding/binary"
	"fmt"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/wire/pb"
	"github.com/bagconv/bagconv/schema"
)

// A protoNode reads a message. Nodes are shared if pairs of types are.
type protoNode struct {
	typ    *pb.Type    // fields in the order of the descriptor
	hollow bool        // the canonical type has no values
	steps  []protoStep // in the order of the canonical type
}

// A protoStep writes a field of the canonical type.
type protoStep struct {
	form  protoForm
	field int               // of the type; of protoCase the oneof
	kind  protoreflect.Kind // of protoNumber
	to    schema.Kind       // its canonical kind; of a time too
	list  bool              // a list: a count stands before the values
	len   int               // an array of so many values; -1: it is none
	bits  uint64            // of a number that is not set
	text  []byte            // of a string, or of bytes, that is not set
	size  int               // of protoZero
	node  *protoNode
	table *[256]byte
	after int // protoClock: index of the field of the nanoseconds
}

type protoForm uint8

const (
	protoZero    protoForm = iota // the message has no such field
	protoNumber                   // a number
	protoText                     // a string, or bytes as a list of bytes
	protoArray                    // bytes as an array of bytes
	protoRaw                      // a message as its bytes
	protoMessage                  // a message as a struct
	protoTime                     // Timestamp or Duration
	protoClock                    // two fields, seconds and nanoseconds, as time
	protoCase                     // the number of the member of a oneof that is set
	protoCounter                  // the counter of a Header
)

// FromProto makes the program from messages of md to a canonical type. ros is what
// md is as a ROS type: with generated the type that protoschema.Namer makes of it,
// field by field in the order of their numbers, and else the one that md was made
// from, whose fields have the same names.
func FromProto(md protoreflect.MessageDescriptor, ros *schema.Message, generated bool, dst *schema.Message, strict bool) (*Program, error) {
	c := &protoCompiler{newComparer(strict), generated, map[protoKey]*protoNode{}}
	root, err := c.node(md, ros, dst, "", 0)
	if err != nil {
		return nil, err
	}
	return &Program{proto: root, dropped: c.dropped, added: c.added}, nil
}

type protoCompiler struct {
	*comparer
	generated bool
	made      map[protoKey]*protoNode
}

type protoKey struct {
	md       protoreflect.FullName
	ros, dst *schema.Message
}

func (c *protoCompiler) node(md protoreflect.MessageDescriptor, ros, dst *schema.Message, prefix string, depth int) (*protoNode, error) {
	key := protoKey{md.FullName(), ros, dst}
	if n := c.made[key]; n != nil {
		return n, nil
	}
	if err := c.enter(md.Fields().Len()+len(dst.Fields), depth); err != nil {
		return nil, err
	}
	n := &protoNode{typ: pb.TypeOf(md)}
	fields, err := c.align(md, ros)
	if err != nil {
		return nil, err
	}
	c.made[key] = n
	n.hollow = c.sizes.Least(schema.Type{Kind: schema.Struct, Message: dst}) == 0
	if k := ros.TimeKind(); k != schema.Invalid && depth == 0 { // a topic of times
		if len(dst.Fields) != 1 || dst.Fields[0].Type != (schema.Type{Kind: k}) {
			return nil, fmt.Errorf("a %s is not a %s", ros.Name, dst.Name)
		}
		n.steps = []protoStep{{form: protoClock, to: k, field: fields[0].Index(), after: fields[1].Index(), len: -1}}
		return n, nil
	}
	p := pairUp(ros, dst)
	c.note(p, prefix)
	for k, i := range p.from {
		d := p.dst[k]
		if i < 0 {
			size, err := c.zero(d.typ)
			if err != nil {
				return nil, err
			}
			n.steps = append(n.steps, protoStep{form: protoZero, size: size})
			continue
		}
		if err := c.fits(p.src[i].typ, d.typ); err != nil {
			return nil, fmt.Errorf("field %s: %w", prefix+d.path, err)
		}
		s, err := c.step(n.typ, fields, &p.src[i], d.typ, ros, prefix, depth)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", prefix+d.path, err)
		}
		s.table = p.table[k]
		if d.counter && s.form == protoNumber {
			s.form = protoCounter
		}
		n.steps = append(n.steps, s)
	}
	return n, nil
}

// align finds the field of the descriptor for each field of the ROS type; nil is
// the case of a oneof, which stands before its first member.
func (c *protoCompiler) align(md protoreflect.MessageDescriptor, ros *schema.Message) ([]protoreflect.FieldDescriptor, error) {
	var out []protoreflect.FieldDescriptor
	if !c.generated {
		for _, f := range ros.Fields {
			fd := md.Fields().ByName(protoreflect.Name(f.Name))
			if fd == nil {
				return nil, fmt.Errorf("%s has no field %s", md.FullName(), f.Name)
			}
			out = append(out, fd)
		}
		if len(out) != md.Fields().Len() {
			return nil, fmt.Errorf("%s has other fields than %s", md.FullName(), ros.Name)
		}
		return out, nil
	}
	seen := map[protoreflect.FullName]bool{}
	for _, fd := range sortedFields(md) {
		if o := fd.ContainingOneof(); o != nil && !o.IsSynthetic() && !seen[o.FullName()] {
			seen[o.FullName()] = true
			out = append(out, nil)
		}
		out = append(out, fd)
	}
	if len(out) != len(ros.Fields) {
		return nil, fmt.Errorf("%s has other fields than %s", md.FullName(), ros.Name)
	}
	return out, nil
}

// sortedFields returns the fields of a message, least number first.
func sortedFields(md protoreflect.MessageDescriptor) []protoreflect.FieldDescriptor {
	var out []protoreflect.FieldDescriptor
	for i := range md.Fields().Len() {
		out = append(out, md.Fields().Get(i))
	}
	slices.SortFunc(out, func(a, b protoreflect.FieldDescriptor) int { return int(a.Number()) - int(b.Number()) })
	return out
}

// step makes the step of a field whose types fit.
func (c *protoCompiler) step(typ *pb.Type, fields []protoreflect.FieldDescriptor, src *slot, to schema.Type, ros *schema.Message, prefix string, depth int) (protoStep, error) {
	fd := fields[src.at[0]]
	s := protoStep{len: -1}
	if fd == nil {
		next := fields[src.at[0]+1]
		s.form, s.field = protoCase, typ.Fields[next.Index()].Oneof
		return s, nil
	}
	s.field = fd.Index()
	t := ros.Fields[src.at[0]].Type
	if len(src.at) > 1 { // a rule looks into a struct: a message of one field
		if fd.Message() == nil {
			return s, fmt.Errorf("%s is not a message", fd.FullName())
		}
		one := &schema.Message{Name: t.Message.Name, Fields: []schema.Field{{Name: t.Message.Fields[src.at[1]].Name, Type: to}}}
		var err error
		s.form = protoMessage
		s.node, err = c.node(fd.Message(), t.Message, one, prefix+string(fd.Name())+".", depth+1)
		return s, err
	}
	many := t.Array != schema.Single
	repeated := fd.Cardinality() == protoreflect.Repeated
	message := fd.Kind() == protoreflect.MessageKind || fd.Kind() == protoreflect.GroupKind
	byteList := canonicalType(t).Kind == schema.Uint8 || t.Kind == schema.Int8
	cannot := fmt.Errorf("a %s and a %s do not fit", fd.Kind(), t.Text())
	if many && !repeated { // bytes
		switch {
		case !byteList || fd.Kind() != protoreflect.BytesKind && !(message && t.Array != schema.Fixed):
			return s, cannot
		case message:
			s.form = protoRaw
		case t.Array == schema.Fixed:
			s.form, s.len, s.list = protoArray, t.Len, to.Array == schema.Unbounded
		default:
			s.form, s.text = protoText, fd.Default().Bytes()
		}
		return s, nil
	}
	if many != repeated {
		return s, cannot
	}
	s.list = to.Array == schema.Unbounded
	if t.Array == schema.Fixed {
		s.len = t.Len
	}
	return s, c.value(&s, fd, t, to, prefix, depth, cannot)
}

// value fills in how one value is read.
func (c *protoCompiler) value(s *protoStep, fd protoreflect.FieldDescriptor, t, to schema.Type, prefix string, depth int, cannot error) (err error) {
	message := fd.Kind() == protoreflect.MessageKind || fd.Kind() == protoreflect.GroupKind
	single := fd.Cardinality() != protoreflect.Repeated
	wrapped := t.Kind == schema.Struct && len(t.Message.Fields) == 1 && t.Message.Fields[0].Type == schema.Type{Kind: schema.Uint8, Array: schema.Unbounded}
	switch k := canonicalType(t).Kind; {
	case k == schema.Time || k == schema.Duration:
		if !message || fd.Message().FullName() != map[schema.Kind]protoreflect.FullName{schema.Time: "google.protobuf.Timestamp", schema.Duration: "google.protobuf.Duration"}[k] {
			return cannot
		}
		s.form, s.to = protoTime, k
	case k == schema.String:
		if fd.Kind() != protoreflect.StringKind {
			return cannot
		}
		s.form = protoText
		if single {
			s.text = []byte(fd.Default().String())
		}
	case wrapped && fd.Kind() == protoreflect.BytesKind:
		s.form = protoText
	case wrapped && c.generated && message && t.Message.Name == "bagconv_msgs/Bytes":
		s.form = protoRaw
	case k == schema.Struct:
		if !message || fd.Message().IsPlaceholder() {
			return cannot
		}
		s.form = protoMessage
		s.node, err = c.node(fd.Message(), t.Message, to.Message, prefix+string(fd.Name())+".", depth+1)
		return err
	default:
		_, isNumber := pb.WireOf(fd.Kind())
		switch {
		case !isNumber, k.Size() == 0, k == schema.LongDouble,
			(k == schema.Float32) != (fd.Kind() == protoreflect.FloatKind), (k == schema.Float64) != (fd.Kind() == protoreflect.DoubleKind),
			(k == schema.Bool) != (fd.Kind() == protoreflect.BoolKind):
			return cannot
		}
		s.form, s.kind, s.to = protoNumber, fd.Kind(), k
		if single {
			s.bits = pb.Default(fd)
		}
	}
	return nil
}

// appendNumber appends a canonical number.
func appendNumber(b []byte, k schema.Kind, v uint64) []byte {
	switch k.Size() {
	case 1:
		return append(b, byte(v))
	case 2:
		return binary.LittleEndian.AppendUint16(b, uint16(v))
	case 4:
		return binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return binary.LittleEndian.AppendUint64(b, v)
}
