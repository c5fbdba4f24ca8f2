package mapping

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/convert/apollo"
	"github.com/bagconv/bagconv/internal/schema/protoschema"
	protoapollo "github.com/bagconv/bagconv/proto/apollo"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
)

// fromApollo makes the program to the standard ROS type of one of Apollo's types,
// and returns that type; nil if no type corresponds, or it is not asked for.
func (m *Mapper) fromApollo(res *Result, md protoreflect.MessageDescriptor) *schema.Message {
	name := apollo.ROSType(string(md.FullName()))
	if name == "" || m.o.ProtoTypes != ProtoMapped {
		return nil
	}
	p, err := apollo.ToROS(md, apollo.Options{CDR: m.o.Encoding == "cdr", Frames: m.o.Frames})
	if err != nil {
		res.remark("not-mapped", "%s becomes a generated type and not %s: %v", md.FullName(), name, err)
		return nil
	}
	res.Plan = p
	res.noPlace("apollo-fields", name, p.Dropped())
	if p.RoundsTimes() {
		res.byDesign("point-times",
			"times of points become seconds in float64, up to 119 ns off; --proto-types generated keeps every ns")
	}
	return m.standard(name)
}

// standard returns the standard type of the target that has this name in ROS 1.
func (m *Mapper) standard(ros1 string) *schema.Message {
	if m.o.Encoding == "cdr" {
		return m.lib.ros2(m.o.Distro, ros2Name(ros1))
	}
	return m.lib.ros1(ros1)
}

// toApollo maps a topic of a standard ROS type to the Apollo type that
// corresponds to it.
func (m *Mapper) toApollo(res *Result, t *storage.Topic, msg *schema.Message) bool {
	ros := ros1Name(msg.Name)
	name := apollo.ProtoType(ros)
	if name == "" || m.o.ProtoTypes != ProtoMapped {
		return false
	}
	md := protoapollo.Message(name)
	if md == nil || !m.fromROS(res, msg, ros, md) {
		return false
	}
	layout := m.o.Layout
	if layout == "" {
		layout = protoapollo.Layouts()[0]
	}
	data, err := protoschema.FileSet(md, func(file string) string { return protoapollo.FileName(layout, file) })
	if err != nil {
		return false
	}
	res.Topic.Type, res.Topic.Schema = name, storage.Schema{Encoding: "protobuf", Data: data}
	return true
}

// fromROS makes the program from a standard ROS type to a type of Apollo, if
// the definition of the source is the standard one.
func (m *Mapper) fromROS(res *Result, msg *schema.Message, ros string, md protoreflect.MessageDescriptor) bool {
	std := m.lib.ros1(ros)
	if ros == "tf/tfMessage" {
		std = m.lib.ros1("tf2_msgs/TFMessage")
	}
	cdr := res.cdr(msg)
	switch {
	case std == nil:
		return false
	case cdr && !sameWire(std, msg), !cdr && schema.MD5(std) != schema.MD5(msg):
		res.remark("not-mapped", "%s does not have the fields of the standard type, and becomes a generated type", msg.Name)
		return false
	}
	if cdr {
		std = m.lib.ros2(DefaultDistro, ros2Name(std.Name))
	}
	p, err := apollo.FromROS(std, md, apollo.Options{CDR: cdr, Frames: m.o.Frames})
	if err != nil {
		res.remark("not-mapped", "%s becomes a generated type and not %s: %v", msg.Name, md.FullName(), err)
		return false
	}
	res.Plan = p
	res.noPlace("ros-fields", string(md.FullName()), p.Dropped())
	return true
}

// cdr reports whether a definition is a definition of ROS 2.
func (r *Result) cdr(msg *schema.Message) bool { return ros1Name(msg.Name) != msg.Name }
