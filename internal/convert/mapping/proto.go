package mapping

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/convert/transcode"
	"github.com/bagconv/bagconv/internal/schema/protoschema"
	protoapollo "github.com/bagconv/bagconv/proto/apollo"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
)

// ProtoTypes describes what protobuf messages become in ROS, and ROS messages in protobuf.
type ProtoTypes uint8

const (
	// Apollo's and Foxglove's types become the standard ROS types that they correspond to, others are generated
	ProtoMapped    ProtoTypes = iota
	ProtoGenerated            // each field becomes a field, for all types
	ProtoRaw                  // the bytes stay protobuf if the target can carry them
)

// protoTypes is what the mapper knows of protobuf types.
type protoTypes struct {
	namer *protoschema.Namer
	sets  map[[32]byte]parsedSet // by hash of the descriptors: each is read once
}

type parsedSet struct {
	set *protoschema.Set
	err error
}

func (p *protoTypes) parse(data []byte) (*protoschema.Set, error) {
	k := sha256.Sum256(data)
	s, ok := p.sets[k]
	if !ok {
		s.set, s.err = protoschema.Parse(data)
		p.sets[k] = s
	}
	return s.set, s.err
}

// descriptor finds the descriptor of a protobuf topic's messages: the recording's own, the one that
// fits the messages, the user's, or the built-in one.
func (m *Mapper) descriptor(t *storage.Topic) (*Definition, error) {
	if len(t.Schema.Data) > 0 && (t.Schema.Encoding == "protobuf" || protoapollo.Message(t.Type) == nil) {
		set, err := m.proto.parse(t.Schema.Data)
		if err != nil && t.Schema.Encoding != "protobuf" {
			err = fmt.Errorf("its definition is in %q: %w", t.Schema.Encoding, err)
		}
		if err != nil {
			return nil, err
		}
		md, err := set.Message(t.Type)
		if err != nil {
			return nil, err
		}
		return &Definition{Proto: md, Origin: "file"}, nil
	}
	if trial := m.lib.evidence.of(t); trial != nil {
		d, _, err := trial.decide("the recording")
		return d, err
	}
	for _, set := range m.lib.sets {
		if md := set.Descriptor(t.Type); md != nil {
			return (&Definition{Proto: md, Origin: Given + set.Place}).because("the recording has no descriptor of %s", t.Type),
				nil
		}
	}
	if md := protoapollo.Message(t.Type); md != nil {
		d := &Definition{Proto: md, Origin: "builtin apollo"}
		d.remark("definition-builtin",
			"the recording has no descriptor of %s; the built-in one is used, which may lack fields", t.Type)
		return d, nil
	}
	return nil, fmt.Errorf("the recording has no descriptor of it, and it is not one of the built-in Apollo types; "+
		"--defs names a place that has it; --proto-types raw keeps the bytes if the output allows it%s",
		m.lib.without(t.Type))
}

// fromProto maps a protobuf topic to ROS.
func (m *Mapper) fromProto(t *storage.Topic) (*Result, error) {
	if m.o.ProtoTypes == ProtoRaw && m.o.Encoding == "cdr" {
		res := &Result{Topic: *t, Definition: "file"}
		res.remark("protobuf-raw", "messages stay protobuf; ROS 2 nodes cannot read them")
		return res, nil
	}
	src, err := m.descriptor(t)
	if err != nil {
		return nil, err
	}
	md := src.Proto
	if origins := protoschema.Origins(md); origins != nil {
		if res, err := m.backToROS(t, md, origins); err == nil {
			return res, nil
		}
	}
	res := src.result(t)
	if m.o.ProtoTypes == ProtoRaw {
		res.remark("protobuf-generated", "ROS 1 messages cannot carry protobuf; messages become a generated type")
	}
	dst := m.fromApollo(res, md)
	if dst == nil {
		dst = m.wellKnownProto(res, md)
	}
	if dst == nil {
		if dst, err = m.proto.namer.ROS(md); err != nil {
			return nil, err
		}
		plan, err := transcode.CompileFromProto(md, dst, m.wire())
		if err != nil {
			return nil, err
		}
		res.Plan = plan
		res.dropped(dst.Name, plan.Dropped())
	}
	res.byDesign("presence", "fields that are not set have their default; which fields those were is not kept")
	res.becomeROS(dst, m.o.Encoding)
	res.Topic.Metadata[MetaProtoType] = t.Type
	if data := src.descriptors(t); len(data) > 0 {
		res.Topic.Metadata[MetaProtoDesc] = pack(data)
	}
	return res, nil
}

// descriptors returns the serialized descriptors of a protobuf topic: the recording's own, or the
// user's; nil for built-in ones.
func (d *Definition) descriptors(t *storage.Topic) []byte {
	if !strings.HasPrefix(d.Origin, Given) {
		return t.Schema.Data
	}
	data, err := protoschema.FileSet(d.Proto, nil)
	if err != nil {
		return nil // it was read from such data
	}
	return data
}

func (m *Mapper) wire() serial.Encoding {
	if m.o.Encoding == "ros1" {
		return serial.ROS1
	}
	return serial.CDR
}

// becomeROS turns a topic that was not of ROS into a topic of ROS with that type.
func (r *Result) becomeROS(msg *schema.Message, encoding string) {
	if encoding == "cdr" {
		r.setROS2(msg)
		r.latch()
		return
	}
	r.setROS1(msg)
	r.setMetadata(storage.MetaLatching, "0")
	if tfStatic(r.Topic.Name) {
		r.Topic.Metadata[storage.MetaLatching] = "1"
	}
}
