package cyber

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

// testFile is a file with one message "String", of one field.
func testFile(name, pkg string, imports ...string) *descriptorpb.FileDescriptorProto {
	return &descriptorpb.FileDescriptorProto{
		Name: proto.String(name), Package: proto.String(pkg), Dependency: imports, Syntax: proto.String("proto2"),
		MessageType: []*descriptorpb.DescriptorProto{{
			Name: proto.String("String"),
			Field: []*descriptorpb.FieldDescriptorProto{{
				Name: proto.String("data"), Number: proto.Int32(1),
				Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
				Type:  descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum(),
			}},
		}},
	}
}

// testSet is the FileDescriptorSet of "test.String".
func testSet() []byte {
	return marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{testFile("base.proto",
		"base"), testFile("test.proto", "test", "base.proto")}})
}

func marshal(m proto.Message) []byte {
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		panic(err)
	}
	return b
}
