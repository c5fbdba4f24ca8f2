package mapping

import (
	"github.com/bagconv/bagconv/internal/schema/serial"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/convert/foxglove"
	"github.com/bagconv/bagconv/internal/convert/transcode"
	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/schema"
)

// wellKnown makes the program to the standard ROS type of one of Foxglove's schemas,
// and returns that type; nil if no type corresponds, or it is not asked for. src is the ROS 1
// type that is generated from the schema, head makes messages of src.
func (m *Mapper) wellKnown(res *Result, name string, src *schema.Message, head Program) *schema.Message {
	cdr := m.o.Encoding == "cdr"
	ros := foxglove.ROSType(name, cdr)
	if ros == "" || m.o.ProtoTypes != ProtoMapped {
		return nil
	}
	p, err := foxglove.ToROS(name, src, foxglove.Options{CDR: cdr})
	if err != nil {
		res.remark("not-mapped", "%s becomes a generated type and not %s: %v", name, ros, err)
		return nil
	}
	dst := m.standard(ros)
	if dst == nil {
		return nil
	}
	res.Plan = timedChain{&chain{first: head, second: p}} // timed, as all that changes what messages mean
	res.noPlace("foxglove-fields", ros, p.Dropped())
	if p.Rounds() {
		res.byDesign("rounded-fields", "numbers of %s are float32 in %s; --proto-types generated keeps all bits", name, ros)
	}
	return dst
}

// wellKnownProto is wellKnown for a protobuf topic.
func (m *Mapper) wellKnownProto(res *Result, md protoreflect.MessageDescriptor) *schema.Message {
	name := string(md.FullName())
	if foxglove.ROSType(name, false) == "" {
		return nil
	}
	src, err := protoschema.NewNamer(false).ROS(md)
	if err != nil {
		return nil
	}
	head, err := transcode.CompileFromProto(md, src, serial.ROS1)
	if err != nil {
		return nil
	}
	return m.wellKnown(res, name, src, head)
}
