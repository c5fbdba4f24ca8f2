package protoschema

import (
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/schema"
)

// A Struct describes how a protobuf message and a ROS struct correspond.
type Struct struct {
	Proto protoreflect.MessageDescriptor
	ROS   *schema.Message
	Slots []Slot // index = field of ROS

	// Alone are the fields of Proto that ROS has no place for.
	Alone []protoreflect.FieldDescriptor
}

// A Slot is what a field of a ROS struct corresponds to.
type Slot struct {
	Field  protoreflect.FieldDescriptor // nil: none, the field is zero
	Case   protoreflect.OneofDescriptor // the field holds the number of the member that is set
	Form   Form
	Type   schema.Type // of the ROS field
	Struct *Struct     // for Form Nested
}

// Form is the way a value takes.
type Form uint8

// The forms, of a single value or of each element of a list.
const (
	None    Form = iota
	Number       // a number, bool or enum
	Text         // string
	Bytes        // bytes as a list of bytes; a list of them as structs with one such field
	Nested       // message as struct
	Raw          // a message as its serialized bytes; lists as for Bytes
	Stamp        // Timestamp or Duration as two 32-bit words: seconds, nanoseconds
	OneCase      // Slot.Case
)

// Bind pairs the fields of md with the fields of ros: by the same names when ros has all of them,
// else by the names that the type generated from md has. The error names a pair that has no way
// across.
func Bind(md protoreflect.MessageDescriptor, ros *schema.Message) (*Struct, error) {
	return (&binder{map[bindKey]*Struct{}}).bind(md, ros, 0)
}

// Unpaired lists the paths of the fields of either side that the other has no place for, also of
// fields in nested structs; of a struct that stands in several places the first.
func (s *Struct) Unpaired() (ros, proto []string) {
	seen := map[*Struct]bool{}
	var walk func(s *Struct, inROS, inProto string)
	walk = func(s *Struct, inROS, inProto string) {
		if seen[s] {
			return
		}
		seen[s] = true
		for _, f := range s.Alone {
			proto = append(proto, inProto+string(f.Name()))
		}
		for i, sl := range s.Slots {
			name := inROS + s.ROS.Fields[i].Name
			if sl.Form == None {
				ros = append(ros, name)
			} else if sl.Struct != nil {
				walk(sl.Struct, name+".", inProto+string(sl.Field.Name())+".")
			}
		}
	}
	walk(s, "", "")
	return ros, proto
}

type bindKey struct {
	md  protoreflect.FullName
	ros *schema.Message
}

type binder struct{ made map[bindKey]*Struct }

func (b *binder) bind(md protoreflect.MessageDescriptor, ros *schema.Message, depth int) (*Struct, error) {
	k := bindKey{md.FullName(), ros}
	if s := b.made[k]; s != nil {
		return s, nil
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("types are nested more than %d deep", maxDepth)
	}
	s := &Struct{Proto: md, ROS: ros, Slots: make([]Slot, len(ros.Fields))}
	b.made[k] = s
	at := map[string]int{}
	for i, f := range ros.Fields {
		s.Slots[i].Type = f.Type
		at[f.Name] = i
	}
	same := true // made by Describe: the names are the names of the ROS type, whatever they are
	for i := range md.Fields().Len() {
		_, ok := at[string(md.Fields().Get(i).Name())]
		same = same && ok
	}
	for _, m := range members(md) {
		i, ok := at[m.name]
		if same && m.field != nil {
			i, ok = at[string(m.field.Name())], true
		}
		switch {
		case m.field == nil:
			if ok && ros.Fields[i].Type == (schema.Type{Kind: schema.Uint32}) {
				s.Slots[i].Case, s.Slots[i].Form = m.oneof, OneCase
			}
			continue
		case !ok || s.Slots[i].Form != None:
			s.Alone = append(s.Alone, m.field)
			continue
		}
		sl := &s.Slots[i]
		sl.Field = m.field
		if err := b.value(sl, depth); err != nil {
			return nil, fmt.Errorf("field %s of %s: %w", m.field.Name(), md.FullName(), err)
		}
	}
	return s, nil
}

// value finds the form of a slot that has a field.
func (b *binder) value(s *Slot, depth int) (err error) {
	f, t := s.Field, s.Type
	cannot := fmt.Errorf("a %s and a %s do not fit", f.Kind(), t.Kind)
	message := f.Kind() == protoreflect.MessageKind || f.Kind() == protoreflect.GroupKind
	list := f.Cardinality() == protoreflect.Repeated
	bytes := f.Kind() == protoreflect.BytesKind
	if !list && (bytes || message && t.Array != schema.Fixed) && isByte(t.Kind) && t.Array != schema.Single {
		s.Form = Bytes
		if message {
			s.Form = Raw
		}
		return nil
	}
	if list != (t.Array != schema.Single) {
		return cannot
	}
	wrapped := t.Kind == schema.Struct && len(t.Message.Fields) == 1 &&
		t.Message.Fields[0].Type == schema.Type{Kind: schema.Uint8, Array: schema.Unbounded}
	switch {
	case bytes && wrapped:
		s.Form = Bytes
	case message && timeOf(t) != "" && string(f.Message().FullName()) == timeOf(t):
		s.Form = Stamp
	case message && wrapped && t.Message.Name[:min(13, len(t.Message.Name))] == "bagconv_msgs/":
		s.Form = Raw
	case message && t.Kind == schema.Struct && !f.Message().IsPlaceholder():
		s.Form = Nested
		s.Struct, err = b.bind(f.Message(), t.Message, depth+1)
		return err
	case f.Kind() == protoreflect.StringKind && t.Kind == schema.String:
		s.Form = Text
	case number(f.Kind(), t.Kind):
		s.Form = Number
	default:
		return cannot
	}
	return nil
}

// number reports whether a number goes from one kind to the other and back.
func number(p protoreflect.Kind, r schema.Kind) bool {
	switch p {
	case protoreflect.FloatKind:
		return r == schema.Float32
	case protoreflect.DoubleKind:
		return r == schema.Float64
	case protoreflect.BoolKind:
		return r == schema.Bool
	}
	_, scalar := scalarKinds[p]
	return scalar && r != schema.Bool && r != schema.Float32 && r != schema.Float64 && r != schema.LongDouble &&
		r != schema.Time && r != schema.Duration && r.Size() > 0
}
