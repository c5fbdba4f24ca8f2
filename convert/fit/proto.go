package fit

import (
	"fmt"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/wire/pb"
)

// maxDepth is how deep messages may nest.
const maxDepth = 100

// Proto does what Test does for a protobuf message: the error is about a field that is cut, or that
// has another wire type than the descriptor says. doubt names the first field that the descriptor
// does not have, or text that is not UTF-8.
func Proto(md protoreflect.MessageDescriptor, data []byte) (doubt string, err error) {
	w := protoWalk{}
	w.message(md, data, 0)
	return w.doubt, w.err
}

type protoWalk struct {
	doubt string
	err   error
}

func (w *protoWalk) message(md protoreflect.MessageDescriptor, data []byte, depth int) {
	if depth > maxDepth {
		w.err = fmt.Errorf("messages nest more than %d deep in %s", maxDepth, md.FullName())
		return
	}
	s := pb.Scan(data)
	for s.Next() {
		f := md.Fields().ByNumber(s.Num)
		if f == nil {
			if w.doubt == "" {
				w.doubt = fmt.Sprintf("field %d, which %s does not have", s.Num, md.FullName())
			}
			continue
		}
		if w.field(f, &s, depth); w.err != nil {
			return
		}
	}
	if at, wrong := s.Wrong(); wrong != "" {
		w.err = fmt.Errorf("%s at byte %d of a %s", wrong, at, md.FullName())
	}
}

func (w *protoWalk) field(f protoreflect.FieldDescriptor, s *pb.Scanner, depth int) {
	want := wireType(f.Kind())
	packed := f.IsList() && want != protowire.BytesType && want != protowire.StartGroupType && s.Wire == protowire.BytesType
	switch {
	case packed:
		for rest := s.Content(); len(rest) > 0; {
			n := protowire.ConsumeFieldValue(s.Num, want, rest)
			if n < 0 {
				w.err = fmt.Errorf("the packed values of %s are cut or wrong", f.FullName())
				return
			}
			rest = rest[n:]
		}
	case s.Wire != want:
		w.err = fmt.Errorf("%s has wire type %d, and the descriptor says %d", f.FullName(), s.Wire, want)
	case f.Kind() == protoreflect.StringKind && !utf8.Valid(s.Content()):
		if w.doubt == "" {
			w.doubt = fmt.Sprintf("text that is not UTF-8 in %s", f.FullName())
		}
	case f.Message() != nil && !f.Message().IsPlaceholder():
		w.message(f.Message(), s.Content(), depth+1)
	}
}

func wireType(k protoreflect.Kind) protowire.Type {
	switch k {
	case protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind, protoreflect.FloatKind:
		return protowire.Fixed32Type
	case protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind, protoreflect.DoubleKind:
		return protowire.Fixed64Type
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.MessageKind:
		return protowire.BytesType
	case protoreflect.GroupKind:
		return protowire.StartGroupType
	}
	return protowire.VarintType
}
