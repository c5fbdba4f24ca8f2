package mapping

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"maps"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/convert/apollo"
	"github.com/bagconv/bagconv/convert/transcode"
	protoapollo "github.com/bagconv/bagconv/proto/apollo"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/schema/protoschema"
	"github.com/bagconv/bagconv/schema/rosmsg"
	"github.com/bagconv/bagconv/storage"
)

// ProtoTypes says what protobuf messages become in ROS, and ROS messages in protobuf.
type ProtoTypes uint8

const (
	ProtoMapped    ProtoTypes = iota // Apollo's types become the standard ROS types that they correspond to, others are generated
	ProtoGenerated                   // each field becomes a field, for all types
	ProtoRaw                         // the bytes stay protobuf where the target can carry them
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

// descriptor finds the descriptor of a protobuf topic's messages.
func (m *Mapper) descriptor(t *storage.Topic) (md protoreflect.MessageDescriptor, origin string, err error) {
	if len(t.Schema.Data) > 0 && t.Schema.Encoding == "protobuf" {
		set, err := m.proto.parse(t.Schema.Data)
		if err != nil {
			return nil, "", err
		}
		md, err := set.Message(t.Type)
		return md, "file", err
	}
	if md := protoapollo.Message(t.Type); md != nil {
		return md, "builtin apollo", nil
	}
	return nil, "", fmt.Errorf("the recording has no descriptor of it, and it is none of Apollo's types that are built in; --proto-types raw keeps the bytes in a rosbag2 folder")
}

// fromProto maps a protobuf topic to ROS.
func (m *Mapper) fromProto(t *storage.Topic) (*Result, error) {
	if m.o.ProtoTypes == ProtoRaw && m.o.Encoding == "cdr" {
		res := &Result{Topic: *t, Definition: "file"}
		res.remark("protobuf-raw", "messages stay protobuf; ROS 2 nodes cannot read them")
		return res, nil
	}
	md, from, err := m.descriptor(t)
	if err != nil {
		return nil, err
	}
	if origins := protoschema.Origins(md); origins != nil {
		if res, err := m.backToROS(t, md, origins); err == nil {
			return res, nil
		}
	}
	res := (&definition{origin: from}).result(t)
	if from != "file" {
		res.remark("definition-builtin", "the recording has no descriptor of %s; the one built in is used, which may lack fields", t.Type)
	}
	if m.o.ProtoTypes == ProtoRaw {
		res.remark("protobuf-generated", "a bag cannot carry protobuf; messages become a generated type")
	}
	dst := m.standard(res, md)
	if dst == nil {
		if dst, err = m.proto.namer.ROS(md); err != nil {
			return nil, err
		}
		plan, err := transcode.CompileFromProto(md, dst, m.wire())
		if err != nil {
			return nil, err
		}
		res.Plan = plan
	}
	res.Remarks = append(res.Remarks, Remark{Code: "presence", Loss: true, ByDesign: true,
		Message: "fields that are not set have their default; which they were is not kept"})
	res.setROS(dst, m.o.Encoding)
	meta := res.Topic.Metadata
	meta[storage.MetaProtoType] = t.Type
	if len(t.Schema.Data) > 0 {
		meta[storage.MetaProtoDesc] = pack(t.Schema.Data)
	}
	if m.o.Encoding == "cdr" {
		res.Topic.QoS = ros2QoS(t)
	} else if tfStatic(t.Name) {
		meta[storage.MetaLatching] = "1"
	}
	return res, nil
}

func (m *Mapper) wire() transcode.Wire {
	if m.o.Encoding == "ros1" {
		return transcode.ROS1
	}
	return transcode.CDR
}

// standard makes the program to the standard ROS type of one of Apollo's types,
// and returns that type; nil when there is none, or none is asked for.
func (m *Mapper) standard(res *Result, md protoreflect.MessageDescriptor) *schema.Message {
	name := apollo.ROSType(string(md.FullName()))
	if name == "" || m.o.ProtoTypes != ProtoMapped {
		return nil
	}
	p, err := apollo.ToROS(md, apollo.Options{CDR: m.o.Encoding == "cdr", Frames: m.o.Frames})
	if err != nil {
		res.remark("not-mapped", "%s does not become %s but a generated type: %v", md.FullName(), name, err)
		return nil
	}
	res.Plan = mapped{p}
	if d := p.Dropped(); len(d) > 0 {
		res.Remarks = append(res.Remarks, Remark{Code: "apollo-fields", Loss: true, ByDesign: true,
			Message: fmt.Sprintf("%s has no place for %s; --proto-types generated keeps all fields", name, list(d))})
	}
	if p.RoundsTimes() {
		res.Remarks = append(res.Remarks, Remark{Code: "point-times", Loss: true, ByDesign: true,
			Message: "times of points become seconds in float64, up to 119 ns off; --proto-types generated keeps every ns"})
	}
	if m.o.Encoding == "cdr" {
		return m.lib.ros2(m.o.Distro, ros2Name(name))
	}
	return m.lib.ros1(name)
}

// mapped is a program of package apollo.
type mapped struct{ *apollo.ToROSProgram }

// Append implements Program, for messages at time 0.
func (p mapped) Append(dst, src []byte) ([]byte, error) { return p.AppendAt(dst, src, 0) }

// AppendAt implements Timed.
func (p mapped) AppendAt(dst, src []byte, logTime int64) ([]byte, error) {
	return p.ToROSProgram.Append(dst, src, logTime)
}

// setROS gives the topic its ROS type.
func (r *Result) setROS(msg *schema.Message, encoding string) {
	r.Topic.Type, r.Topic.Encoding = msg.Name, encoding
	if encoding == "cdr" {
		r.Topic.Schema = storage.Schema{Encoding: "ros2msg", Data: rosmsg.Format(msg, rosmsg.ROS2)}
		r.setTypeHash(msg)
		return
	}
	r.Topic.Schema = storage.Schema{Encoding: "ros1msg", Data: rosmsg.Format(msg, rosmsg.ROS1)}
	r.Topic.Metadata[storage.MetaMD5Sum] = schema.MD5(msg)
	r.Topic.Metadata[storage.MetaLatching] = "0"
}

// backToROS maps a topic whose descriptor was made from a ROS type: it becomes
// that type again, and from there what the type becomes in the target.
func (m *Mapper) backToROS(t *storage.Topic, md protoreflect.MessageDescriptor, origins map[string]*protoschema.Origin) (*Result, error) {
	msg, wire, err := original(md, origins)
	if err != nil {
		return nil, err
	}
	encoding := "ros1"
	if wire == transcode.CDR {
		encoding = "cdr"
	}
	first, err := fromProtoPlain(md, msg, wire)
	if err != nil {
		return nil, err
	}
	mid := storage.Topic{Name: t.Name, Type: msg.Name, Encoding: encoding, Metadata: maps.Clone(t.Metadata)}
	r := &Result{Topic: mid}
	if r.Topic.Metadata == nil {
		r.Topic.Metadata = map[string]string{}
	}
	r.setROS(msg, encoding)
	if encoding == "cdr" {
		r.Topic.QoS = ros2QoS(t)
	} else if tfStatic(t.Name) {
		r.Topic.Metadata[storage.MetaLatching] = "1"
	}
	res, err := m.Map(&r.Topic)
	if err != nil {
		return nil, err
	}
	res.Plan = chained(first, res.Plan)
	return res, nil
}

// original parses the ROS type that a descriptor was made from.
func original(md protoreflect.MessageDescriptor, origins map[string]*protoschema.Origin) (*schema.Message, transcode.Wire, error) {
	o := protoschema.OriginOf(md)
	dialect, wire := rosmsg.ROS1, transcode.ROS1
	if o.Dialect == "ros2msg" {
		dialect, wire = rosmsg.ROS2, transcode.CDR
	}
	msg, err := rosmsg.Parse(o.Name, []byte(o.Text), dialect, func(name string) (string, bool) {
		if o := origins[name]; o != nil {
			return o.Text, true
		}
		return "", false
	})
	return msg, wire, err
}

// toProto maps a ROS topic to protobuf.
func (m *Mapper) toProto(t *storage.Topic) (*Result, error) {
	var src *definition
	var err error
	wire, dialect := transcode.ROS1, rosmsg.ROS1
	if t.Encoding == "cdr" {
		wire, dialect = transcode.CDR, rosmsg.ROS2
		src, err = m.lib.ros2Definition(t, m.o.SourceDistro)
	} else {
		src, err = m.lib.ros1Definition(t)
	}
	if err != nil {
		return nil, err
	}
	res := src.result(t)
	for _, k := range []string{storage.MetaProtoType, storage.MetaProtoDesc, storage.MetaMD5Sum, storage.MetaTypeHash} {
		delete(res.Topic.Metadata, k)
	}
	res.Topic.Encoding, res.Topic.QoS = "protobuf", nil
	if len(t.QoS) > 0 && !(tfStatic(t.Name) && len(t.QoS) == 1 && t.QoS[0] == latchedQoS) {
		res.Remarks = append(res.Remarks, Remark{Code: "qos", Loss: true, ByDesign: true, Message: "quality of service does not exist in a record"})
	}
	if t.Metadata[storage.MetaLatching] == "1" && !tfStatic(t.Name) {
		res.Remarks = append(res.Remarks, Remark{Code: "latching", Loss: true, ByDesign: true, Message: "a record does not say that a topic is latched"})
	}
	if t.Metadata[storage.MetaCallerID] != "" {
		res.Remarks = append(res.Remarks, Remark{Code: "callerid", Loss: true, ByDesign: true, Message: "a record does not say which node published a topic"})
	}
	if m.backToProto(res, t, src.msg, wire) || m.toApollo(res, t, src.msg) {
		return res, nil
	}
	plain := plainTypes(src.msg, map[*schema.Message]*schema.Message{})
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
	if res.Plan, err = toProtoPlain(src.msg, plain, wire, md); err != nil {
		return nil, err
	}
	res.Topic.Type, res.Topic.Schema = name, storage.Schema{Encoding: "protobuf", Data: data}
	return res, nil
}

// backToProto maps a topic that was made from a protobuf type back to it.
func (m *Mapper) backToProto(res *Result, t *storage.Topic, msg *schema.Message, wire transcode.Wire) bool {
	name := t.Metadata[storage.MetaProtoType]
	if name == "" {
		return false
	}
	data, err := unpack(t.Metadata[storage.MetaProtoDesc])
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
		if d := p.Dropped(); len(d) > 0 {
			res.Remarks = append(res.Remarks, Remark{Code: "fields-dropped", Loss: true, Message: fmt.Sprintf("%s has no field for %s", name, list(d))})
		}
	}
	res.Topic.Type, res.Topic.Schema = name, storage.Schema{Encoding: "protobuf", Data: data}
	return true
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

// fromROS makes the program from a standard ROS type to one of Apollo's, when
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
	p, err := apollo.FromROS(ros, md, apollo.Options{CDR: cdr, Frames: m.o.Frames})
	if err != nil {
		res.remark("not-mapped", "%s does not become %s but a generated type: %v", msg.Name, md.FullName(), err)
		return false
	}
	res.Plan = mappedBack{p}
	if d := p.Dropped(); len(d) > 0 {
		res.Remarks = append(res.Remarks, Remark{Code: "ros-fields", Loss: true, ByDesign: true,
			Message: fmt.Sprintf("%s has no place for %s; --proto-types generated keeps all fields", md.FullName(), list(d))})
	}
	return true
}

// cdr tells whether a definition is one of ROS 2.
func (r *Result) cdr(msg *schema.Message) bool { return ros1Name(msg.Name) != msg.Name }

// mappedBack is a program of package apollo.
type mappedBack struct{ *apollo.FromROSProgram }

// Append implements Program, for messages at time 0.
func (p mappedBack) Append(dst, src []byte) ([]byte, error) { return p.AppendAt(dst, src, 0) }

// AppendAt implements Timed.
func (p mappedBack) AppendAt(dst, src []byte, logTime int64) ([]byte, error) {
	return p.FromROSProgram.Append(dst, src, logTime)
}

// plainTypes replaces kinds that protobuf and .msg text have no words for: wide
// strings become strings, IDL's enums and chars numbers.
func plainTypes(m *schema.Message, made map[*schema.Message]*schema.Message) *schema.Message {
	if p := made[m]; p != nil {
		return p
	}
	p := &schema.Message{Name: m.Name, Constants: m.Constants}
	same := true
	for _, f := range m.Fields {
		old := f.Type
		switch f.Type.Kind {
		case schema.WString:
			f.Type.Kind = schema.String
		case schema.Enum:
			f.Type.Kind = schema.Int32
		case schema.IDLChar:
			f.Type.Kind = schema.Uint8
		case schema.Struct:
			f.Type.Message = plainTypes(f.Type.Message, made)
		}
		same = same && f.Type == old
		p.Fields = append(p.Fields, f)
	}
	if same {
		p = m
	}
	made[m] = p
	return p
}

// toProtoPlain makes the program from src to md, which was made from plain.
func toProtoPlain(src, plain *schema.Message, wire transcode.Wire, md protoreflect.MessageDescriptor) (Program, error) {
	p, err := transcode.CompileToProto(plain, wire, md)
	if err == nil && len(p.Dropped()) > 0 {
		err = fmt.Errorf("internal error: %s has no field for %s", md.FullName(), list(p.Dropped()))
	}
	if err != nil || plain == src {
		return p, err
	}
	first, err := transcode.Compile(src, plain, transcode.Options{From: wire, To: wire})
	if err != nil {
		return nil, err
	}
	return chained(first, p), nil
}

// fromProtoPlain makes the program from md to dst.
func fromProtoPlain(md protoreflect.MessageDescriptor, dst *schema.Message, wire transcode.Wire) (Program, error) {
	plain := plainTypes(dst, map[*schema.Message]*schema.Message{})
	p, err := transcode.CompileFromProto(md, plain, wire)
	if err == nil && len(p.Dropped()) > 0 {
		err = fmt.Errorf("%s has no field for %s", dst.Name, list(p.Dropped()))
	}
	if err != nil || plain == dst {
		return p, err
	}
	second, err := transcode.Compile(plain, dst, transcode.Options{From: wire, To: wire})
	if err != nil {
		return nil, err
	}
	return chained(p, second), nil
}

// pack writes descriptors as text that any metadata can hold.
func pack(data []byte) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(data) // a bytes.Buffer takes everything
	_ = z.Close()
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// maxDescriptor bounds what a descriptor in metadata may unpack to, bytes.
const maxDescriptor = 64 << 20

func unpack(text string) ([]byte, error) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(z, maxDescriptor+1))
	if err == nil && len(data) > maxDescriptor {
		err = fmt.Errorf("descriptors of more than %d bytes", maxDescriptor)
	}
	return data, err
}
