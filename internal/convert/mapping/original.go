package mapping

import (
	"fmt"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/convert/transcode"
	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
)

// backToROS maps a topic whose descriptor was made from a ROS type: it becomes
// that type again, and from there what the type becomes in the target.
func (m *Mapper) backToROS(t *storage.Topic, md protoreflect.MessageDescriptor,
	origins map[string]*protoschema.Origin) (*Result, error) {
	msg, wire, err := original(md, origins)
	if err != nil {
		return nil, err
	}
	first, err := fromProtoPlain(md, msg, wire)
	if err != nil {
		return nil, err
	}
	mid := &Result{Topic: storage.Topic{Name: t.Name, Metadata: t.Metadata, QoS: t.QoS}}
	mid.becomeROS(msg, wire.String())
	res, err := m.Map(&mid.Topic)
	if err != nil {
		return nil, err
	}
	res.Plan = chained(first, res.Plan)
	return res, nil
}

// original parses the ROS type that a descriptor was made from.
func original(md protoreflect.MessageDescriptor, origins map[string]*protoschema.Origin) (*schema.Message,
	serial.Encoding, error) {
	o := protoschema.OriginOf(md)
	dialect, wire := rosmsg.ROS1, serial.ROS1
	if o.Dialect == "ros2msg" {
		dialect, wire = rosmsg.ROS2, serial.CDR
	}
	msg, err := rosmsg.Parse(o.Name, []byte(o.Text), dialect, func(name string) (string, bool) {
		if o := origins[name]; o != nil {
			return o.Text, true
		}
		return "", false
	})
	return msg, wire, err
}

// plainTypes replaces kinds that .msg text has no words for, IDL's enums and chars, by
// numbers of the same bytes, and leaves out what only IDL has in CDR; with proto also wide strings
// become strings.
func plainTypes(m *schema.Message, made map[*schema.Message]*schema.Message, proto bool) *schema.Message {
	if p := made[m]; p != nil {
		return p
	}
	p := &schema.Message{Name: m.Name, Constants: m.Constants}
	same := !m.Union && m.Extensibility == schema.Unstated
	for _, f := range m.Fields {
		old := f
		f.Member, f.Type.Enumerated = nil, false
		switch f.Type.Kind {
		case schema.WString:
			if proto {
				f.Type.Kind = schema.String
			}
		case schema.Enum:
			f.Type.Kind = schema.Int32
		case schema.IDLChar:
			f.Type.Kind = schema.Uint8
		case schema.Struct:
			f.Type.Message = plainTypes(f.Type.Message, made, proto)
		}
		same = same && f == old
		p.Fields = append(p.Fields, f)
	}
	if same {
		p = m
	}
	made[m] = p
	return p
}

// toProtoPlain makes the program from src to md, which was made from plain.
func toProtoPlain(src, plain *schema.Message, wire serial.Encoding, md protoreflect.MessageDescriptor) (Program,
	error) {
	p, err := transcode.CompileToProto(plain, wire, md)
	if err == nil && len(p.Dropped()) > 0 {
		err = fmt.Errorf("internal error: %s has no field for %s", md.FullName(), transcode.List(p.Dropped()))
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
func fromProtoPlain(md protoreflect.MessageDescriptor, dst *schema.Message, wire serial.Encoding) (Program, error) {
	plain := plainTypes(dst, map[*schema.Message]*schema.Message{}, true)
	p, err := transcode.CompileFromProto(md, plain, wire)
	if err == nil && len(p.Dropped()) > 0 {
		err = fmt.Errorf("%s has no field for %s", dst.Name, transcode.List(p.Dropped()))
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
