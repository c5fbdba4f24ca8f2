package apollo

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	protoapollo "github.com/bagconv/bagconv/proto/apollo"
)

// vendorFile returns the file of an Apollo type, changed by edit.
func vendorFile(t testing.TB, name string, edit func(f *descriptorpb.FileDescriptorProto)) protoreflect.MessageDescriptor {
	t.Helper()
	md := protoapollo.Message(name)
	f := protodesc.ToFileDescriptorProto(md.ParentFile())
	edit(f)
	fd, err := protodesc.NewFile(f, protoregistry.GlobalFiles)
	if err != nil {
		t.Fatal(err)
	}
	return fd.Messages().ByName(md.Name())
}

func scalar(name string, num int32, kind descriptorpb.FieldDescriptorProto_Type) *descriptorpb.FieldDescriptorProto {
	return &descriptorpb.FieldDescriptorProto{Name: proto.String(name), Number: proto.Int32(num), Type: kind.Enum(),
		Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()}
}

// vendorCloud is a PointCloud whose points have other numbers, doubles for
// coordinates, a signed intensity and a ring.
func vendorCloud(t testing.TB) protoreflect.MessageDescriptor {
	return vendorFile(t, "apollo.drivers.PointCloud", func(f *descriptorpb.FileDescriptorProto) {
		for _, m := range f.MessageType {
			for _, fd := range m.Field {
				if m.GetName() == "PointXYZIT" {
					fd.Number = proto.Int32(40 - fd.GetNumber())
					if fd.GetType() == descriptorpb.FieldDescriptorProto_TYPE_FLOAT {
						fd.Type = descriptorpb.FieldDescriptorProto_TYPE_DOUBLE.Enum()
					}
					if fd.GetName() == "intensity" {
						fd.Type = descriptorpb.FieldDescriptorProto_TYPE_SINT32.Enum()
					}
				} else {
					fd.Number = proto.Int32(100 - fd.GetNumber())
				}
			}
			if m.GetName() == "PointXYZIT" {
				m.Field = append(m.Field, scalar("ring", 3, descriptorpb.FieldDescriptorProto_TYPE_INT32), scalar("label", 4, descriptorpb.FieldDescriptorProto_TYPE_STRING))
			}
		}
	})
}

// ringCloud is a PointCloud whose points have a ring behind the usual fields.
func ringCloud(t testing.TB) protoreflect.MessageDescriptor {
	return vendorFile(t, "apollo.drivers.PointCloud", func(f *descriptorpb.FileDescriptorProto) {
		for _, m := range f.MessageType {
			if m.GetName() == "PointXYZIT" {
				m.Field = append(m.Field, scalar("ring", 6, descriptorpb.FieldDescriptorProto_TYPE_UINT32))
			}
		}
	})
}
