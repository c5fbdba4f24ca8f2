package values

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/wire/pb"
)

// A protoField is what only fields of protobuf have.
type protoField struct {
	*pb.Field
	presence bool // it is known whether it is set
	always   bool // it is written in any case: required, or of an entry of a map
	packed   bool
	utf8     bool
	bits     uint64 // the default of a number, as pb.Number returns it
	text     []byte // that of a string or bytes
}

func newProtoField(f *pb.Field, fd protoreflect.FieldDescriptor, entry bool) *protoField {
	d := &protoField{Field: f, presence: fd.HasPresence() && !entry, always: fd.Cardinality() == protoreflect.Required || entry,
		packed: fd.IsPacked(), utf8: fd.ParentFile().Syntax() != protoreflect.Proto2}
	switch {
	case f.Kind == protoreflect.MessageKind && fd.Message().IsPlaceholder():
		f.Kind, f.Parts = protoreflect.BytesKind, false
	case f.Kind == protoreflect.EnumKind && fd.Enum().IsPlaceholder():
		f.Kind = protoreflect.Int32Kind
	case f.List || f.Parts:
	case f.Kind == protoreflect.StringKind:
		d.text = []byte(fd.Default().String())
	case f.Kind == protoreflect.BytesKind:
		d.text = fd.Default().Bytes()
	default:
		d.bits = pb.Default(fd)
	}
	return d
}

// isTime reports whether a message is a google.protobuf.Timestamp or Duration with a place as one:
// {1 int64 seconds, 2 int32 nanos}.
func (s *slot) isTime() bool { return s.form == formTime || s.form == formNanos }

// appendTime writes a google.protobuf.Timestamp or Duration.
func appendTime(dst []byte, sec, nsec int64) []byte {
	if sec != 0 {
		dst = protowire.AppendVarint(append(dst, 1<<3), uint64(sec))
	}
	if nsec != 0 {
		dst = protowire.AppendVarint(append(dst, 2<<3), uint64(nsec))
	}
	return dst
}
