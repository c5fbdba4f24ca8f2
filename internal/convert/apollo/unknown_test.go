package apollo

import (
	"bytes"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// TestUnknown counts the messages with fields that the descriptor does not have,
// in the message, in what it holds, and in the elements of lists; not those with
// fields that the rules leave out, which Dropped names.
func TestUnknown(t *testing.T) {
	foreign := protowire.AppendVarint(protowire.AppendTag(nil, 777, protowire.VarintType), 1)
	for name, m := range testMessages() {
		if name == "PointCloud" {
			m = testCloud(50, 7)
		}
		p, err := ToROS(m.ProtoReflect().Descriptor(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		plain, err := p.AppendAt(nil, testBytes(t, m), now)
		if err != nil || p.Unknown() != 0 {
			t.Fatal(name, p.Unknown(), err)
		}
		places := []protoreflect.Message{m.ProtoReflect(),
			m.ProtoReflect().Mutable(m.ProtoReflect().Descriptor().Fields().ByName("header")).Message()}
		for _, list := range []protoreflect.Name{"point", "transforms"} {
			if fd := m.ProtoReflect().Descriptor().Fields().ByName(list); fd != nil {
				places = append(places, m.ProtoReflect().Get(fd).List().Get(3).Message())
			}
		}
		for i, at := range places {
			at.SetUnknown(foreign)
			out, err := p.AppendAt(nil, testBytes(t, m), now)
			if err != nil || !bytes.Equal(out, plain) {
				t.Errorf("%s: an unknown field changes the result: %v", name, err)
			}
			if p.Unknown() != int64(i+1) {
				t.Errorf("%s: %d messages with unknown fields, want %d (%s)", name, p.Unknown(), i+1, at.Descriptor().FullName())
			}
			at.SetUnknown(nil)
		}
		if _, err := p.AppendAt(nil, []byte{8<<3 | 7}, now); err == nil || p.Unknown() != int64(len(places)) {
			t.Errorf("%s: a message that fails is counted: %v", name, err)
		}
		p.Reset()
		otherWire := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 1) // of the header
		if _, err := p.AppendAt(nil, otherWire, now); err != nil || p.Unknown() != 1 {
			t.Errorf("%s: a header that is a number: %d, %v", name, p.Unknown(), err)
		}
	}
}

// TestUnwantedNumbers: a field of the descriptor is not unknown, whatever its number.
func TestUnwantedNumbers(t *testing.T) {
	for _, num := range []int32{12, 31, 63, 64, 65, 20000} {
		p, err := ToROS(vendorFile(t, "apollo.drivers.Image", func(f *descriptorpb.FileDescriptorProto) {
			for _, m := range f.MessageType {
				if m.GetName() == "Image" {
					m.Field = append(m.Field, scalar("gain", num, descriptorpb.FieldDescriptorProto_TYPE_INT32))
				}
			}
		}), Options{})
		if err != nil || !slices.Contains(p.Dropped(), "gain") {
			t.Fatal(err, p.Dropped())
		}
		for i, n := range []int32{num, num - 1, num + 1} {
			b := protowire.AppendVarint(protowire.AppendTag(nil, protowire.Number(n), protowire.VarintType), 1)
			if _, err := p.AppendAt(nil, b, now); err != nil || p.Unknown() != int64(i) {
				t.Errorf("gain is field %d, set is %d: %d messages with unknown fields, %v", num, n, p.Unknown(), err)
			}
		}
	}
}
