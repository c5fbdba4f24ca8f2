package content

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/schema/numbers"
	"github.com/bagconv/bagconv/internal/wire/pb"
	"github.com/bagconv/bagconv/schema"
)

// align finds the field of a type for each field of the ROS type that it is. In protobuf nil is the case of
// a oneof, which stands before its first member.
func (c *compiler) align(typ *message.Type, ros *schema.Message) ([]*message.Field, error) {
	var out []*message.Field
	switch {
	case !typ.Protobuf():
		for i := range typ.Fields {
			out = append(out, &typ.Fields[i])
		}
	case c.generated:
		seen := map[protoreflect.FullName]bool{}
		for _, f := range byNumber(typ) {
			if o := f.Proto.ContainingOneof(); o != nil && !o.IsSynthetic() && !seen[o.FullName()] {
				seen[o.FullName()] = true
				out = append(out, nil)
			}
			out = append(out, f)
		}
	default:
		for _, f := range ros.Fields {
			found := typ.Find(f.Name)
			if found == nil {
				return nil, fmt.Errorf("%s has no field %s", typ.Name, f.Name)
			}
			out = append(out, found)
		}
		if len(out) != len(typ.Fields) {
			out = nil
		}
	}
	if len(out) != len(ros.Fields) {
		return nil, fmt.Errorf("%s has other fields than %s", typ.Name, ros.Name)
	}
	return out, nil
}

// byNumber returns the fields of a type of protobuf, least number first.
func byNumber(typ *message.Type) []*message.Field {
	var out []*message.Field
	for i := range typ.Fields {
		out = append(out, &typ.Fields[i])
	}
	slices.SortFunc(out, func(a, b *message.Field) int { return int(a.Proto.Number()) - int(b.Proto.Number()) })
	return out
}

// oneofOf returns the members of the oneof that the first field belongs to.
func oneofOf(fields []*message.Field) (members []*message.Field) {
	for _, f := range fields {
		if f != nil && f.Proto.ContainingOneof() == fields[0].Proto.ContainingOneof() {
			members = append(members, f)
		}
	}
	return members
}

// clock fills in how a message of protobuf is read that has the fields of a time of ROS.
func (c *compiler) clock(s *step, f *message.Field, t schema.Type) (err error) {
	s.form = formClock
	if s.parts, err = c.align(f.Type, t.Message); err != nil {
		return err
	}
	for _, p := range s.parts {
		if p == nil || p.List || p.Size != 4 || p.Kind == message.Float {
			return fmt.Errorf("%s has no seconds and nanoseconds of 32 bits", f.Type.Name)
		}
	}
	return nil
}

// bind fills in how a field of protobuf is read, which is t as a field of ROS.
func (c *compiler) bind(s *step, f *message.Field, t schema.Type) error {
	kind := f.Proto.Kind()
	whole := kind == protoreflect.MessageKind || kind == protoreflect.GroupKind
	many := t.Array != schema.Single
	k := canonicalType(t).Kind
	cannot := fmt.Errorf("a %s and a %s do not fit", kind, t.Text())
	if t.Array == schema.Fixed {
		s.array = t.Len
	}
	if many && !f.List { // bytes
		bytes := kind == protoreflect.BytesKind
		if k != schema.Uint8 && k != schema.Int8 || !bytes && !(whole && t.Array != schema.Fixed) {
			return cannot
		}
		if t.Array == schema.Fixed {
			s.form = formOctets
			return nil
		}
		if s.form, s.prefix = formText, false; bytes {
			s.text = f.Proto.Default().Bytes()
		}
		return nil
	}
	if many != f.List {
		return cannot
	}
	wrapped := t.Kind == schema.Struct && len(t.Message.Fields) == 1 &&
		t.Message.Fields[0].Type == schema.Type{Kind: schema.Uint8, Array: schema.Unbounded}
	switch {
	case k == schema.Time || k == schema.Duration:
		name := protoreflect.FullName("google.protobuf.Timestamp")
		if k == schema.Duration {
			name = "google.protobuf.Duration"
		}
		if !whole || f.Proto.Message().FullName() != name {
			return cannot
		}
		s.form = formTime
	case k == schema.String:
		if kind != protoreflect.StringKind {
			return cannot
		}
		if s.form = formText; !f.List {
			s.text = []byte(f.Proto.Default().String())
		}
	case wrapped && (kind == protoreflect.BytesKind || c.generated && whole && t.Message.Name == "bagconv_msgs/Bytes"):
		s.form = formText
	case k == schema.Struct:
		if f.Type == nil {
			return cannot
		}
		s.form = formStruct
	default:
		_, number := pb.WireOf(kind)
		if !number || k.Size() == 0 || k == schema.LongDouble || (k == schema.Bool) != (f.Kind == message.Bool) ||
			(k == schema.Float32) != (kind == protoreflect.FloatKind) ||
			(k == schema.Float64) != (kind == protoreflect.DoubleKind) {
			return cannot
		}
		class, _ := numbers.Of(k)
		s.form = formNumber
		s.narrow = k.Size() < f.Size || f.Size == 4 && (class == numbers.Signed) != (f.Kind == message.Signed)
		if !f.List {
			s.bits = pb.Default(f.Proto)
		}
	}
	return nil
}
