package mapping

import (
	"github.com/bagconv/bagconv/internal/convert/apollo"
	"github.com/bagconv/bagconv/internal/convert/foxglove"
	"github.com/bagconv/bagconv/internal/convert/transcode"
	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/internal/schema/serial"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
)

// toProto maps a ROS topic to protobuf.
func (m *Mapper) toProto(t *storage.Topic) (*Result, error) {
	wire, dialect := serial.Of(t.Encoding), rosmsg.ROS1
	if wire == serial.CDR {
		dialect = rosmsg.ROS2
	}
	src, err := m.sourceDefinition(t)
	if err != nil {
		return nil, err
	}
	res := src.result(t)
	for _, k := range []string{MetaProtoType, MetaProtoDesc, storage.MetaMD5Sum, storage.MetaTypeHash} {
		delete(res.Topic.Metadata, k)
	}
	res.Topic.Encoding, res.Topic.QoS = "protobuf", nil
	if len(t.QoS) > 0 && !(tfStatic(t.Name) && len(t.QoS) == 1 && t.QoS[0] == latchedQoS) {
		res.byDesign("qos", "records have no place for quality of service")
	}
	if t.Metadata[storage.MetaLatching] == "1" && !tfStatic(t.Name) {
		res.byDesign("latching", "records cannot mark a topic as latched")
	}
	if t.Metadata[storage.MetaCallerID] != "" {
		res.byDesign("callerid", "records do not store which node published a message")
	}
	if m.backToProto(res, t, src.ROS, wire) || m.toApollo(res, t, src.ROS) {
		res.Plan = After(src.Head, res.Plan)
		return res, nil
	}
	plain := plainTypes(src.ROS, map[*schema.Message]*schema.Message{}, true)
	data, name, err := protoschema.Describe(plain, func(msg *schema.Message) *protoschema.Origin {
		o := &protoschema.Origin{Dialect: "ros1msg", Name: msg.Name, Text: string(rosmsg.FormatSingle(msg, dialect))}
		if dialect == rosmsg.ROS2 {
			o.Dialect = "ros2msg"
		}
		return o
	})
	if err != nil {
		return nil, err
	}
	set, err := protoschema.Parse(data)
	if err != nil {
		return nil, err
	}
	md, err := set.Message(name)
	if err != nil {
		return nil, err
	}
	if res.Plan, err = toProtoPlain(src.ROS, plain, wire, md); err != nil {
		return nil, err
	}
	res.Plan = After(src.Head, res.Plan)
	res.Topic.Type, res.Topic.Schema = name, storage.Schema{Encoding: "protobuf", Data: data}
	return res, nil
}

// backToProto maps a topic that was made from a protobuf type back to it.
func (m *Mapper) backToProto(res *Result, t *storage.Topic, msg *schema.Message, wire serial.Encoding) bool {
	name := t.Metadata[MetaProtoType]
	if name == "" {
		return false
	}
	if known := foxglove.ROSType(name, t.Encoding == "cdr"); known != "" && known == ros1Name(msg.Name) {
		return false // there is no way back from the standard type
	}
	data, err := unpack(t.Metadata[MetaProtoDesc])
	if err != nil || len(data) == 0 {
		return false
	}
	set, err := m.proto.parse(data)
	if err != nil {
		return false
	}
	md, err := set.Message(name)
	if err != nil {
		return false
	}
	if ros := apollo.ROSType(name); ros != "" && ros == ros1Name(msg.Name) {
		if !m.fromROS(res, msg, ros, md) {
			return false
		}
	} else {
		p, err := transcode.CompileToProto(msg, wire, md)
		if err != nil {
			return false
		}
		res.Plan = p
		res.dropped(name, p.Dropped())
	}
	res.Topic.Type, res.Topic.Schema = name, storage.Schema{Encoding: "protobuf", Data: data}
	return true
}
