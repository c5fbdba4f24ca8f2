package check

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/convert/transcode"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/schema/protoschema"
)

// A decoder walks over the messages of one type by its definition, and fetches
// the stamp of their header. It may be used by any number of goroutines.
//
// ROS messages are re-encoded into a struct that has nothing but that stamp: the
// program steps over all other fields and compares every length with the bytes
// that are there. Protobuf messages are re-encoded into the ROS type that is
// generated from their descriptor.
type decoder struct {
	head  mapping.Program // makes the messages those of plan; nil: they are
	plan  *transcode.Plan // of ROS messages
	cdr   bool
	proto *transcode.FromProto // of protobuf messages
	stamp *transcode.FromProto // fetches their stamp; nil when they have none
	time  bool                 // as two 32-bit words, else as float64 seconds
}

// decode walks over one message. stamp is noStamp when it has none; rest is the
// number of bytes after its last field that are not padding. out is memory to use again.
func (d *decoder) decode(out *[]byte, data []byte) (stamp int64, rest int, err error) {
	if d.plan == nil {
		return d.decodeProto(out, data)
	}
	buf := (*out)[:0]
	if d.head != nil {
		if buf, err = d.head.Append(buf, data); err != nil {
			return noStamp, 0, err
		}
		data = buf
	}
	b, behind, err := d.plan.AppendRest(buf, data)
	*out, b = b, b[len(buf):]
	rest = transcode.Trailing(behind)
	if err != nil || len(b) < 8 {
		return noStamp, rest, err
	}
	return d.words(b), rest, nil
}

func (d *decoder) decodeProto(out *[]byte, data []byte) (stamp int64, rest int, err error) {
	b, err := d.proto.Append((*out)[:0], data)
	*out = b[:0]
	if err != nil || d.stamp == nil {
		return noStamp, 0, err
	}
	if b, err = d.stamp.Append((*out)[:0], data); err != nil || len(b) < 8 {
		return noStamp, 0, err
	}
	if d.time {
		return d.words(b), 0, nil
	}
	sec := math.Float64frombits(binary.LittleEndian.Uint64(b))
	if !(sec > -maxSeconds && sec < maxSeconds) || sec == 0 { // 0 is what a field has that is not set
		return noStamp, 0, nil
	}
	return mapping.Nanoseconds(sec), 0, nil
}

const maxSeconds = 9e9 // as many as int64 holds in ns, about

// words reads seconds and nanoseconds; ROS 1 has no negative ones.
func (d *decoder) words(b []byte) int64 {
	sec := int64(binary.LittleEndian.Uint32(b))
	if d.cdr {
		sec = int64(int32(sec))
	}
	return sec*1e9 + int64(binary.LittleEndian.Uint32(b[4:]))
}

// rosDecoder compiles the decoder of a ROS type, whose messages head makes.
func rosDecoder(msg *schema.Message, cdr bool, head mapping.Program) (*decoder, error) {
	o := transcode.Options{From: transcode.ROS1, To: transcode.ROS1}
	if cdr {
		o.From = transcode.CDR
	}
	plan, err := transcode.Compile(msg, stampOf(msg), o)
	if err != nil {
		return nil, err
	}
	return &decoder{head: head, plan: plan, cdr: cdr}, nil
}

// stampOf returns a struct with the stamp in the header of msg and nothing else, an
// empty one when it has no header.
func stampOf(msg *schema.Message) *schema.Message {
	out := &schema.Message{Name: msg.Name}
	for _, f := range msg.Fields {
		if f.Name != "header" || f.Type.Kind != schema.Struct || f.Type.Array != schema.Single {
			continue
		}
		for _, g := range f.Type.Message.Fields {
			if g.Name == "stamp" && g.Type.Array == schema.Single && g.Type.TimeKind() == schema.Time {
				out.Fields = []schema.Field{headerField(schema.Field{Name: "stamp", Type: schema.Type{Kind: schema.Time}})}
			}
		}
	}
	return out
}

func headerField(stamp schema.Field) schema.Field {
	return schema.Field{Name: "header", Type: schema.Type{Kind: schema.Struct, Message: &schema.Message{Name: "header", Fields: []schema.Field{stamp}}}}
}

// protoDecoder compiles the decoder of a protobuf type.
func protoDecoder(md protoreflect.MessageDescriptor) (*decoder, error) {
	msg, err := protoschema.NewNamer(false).ROS(md)
	if err != nil {
		return nil, err
	}
	d := &decoder{}
	if d.proto, err = transcode.CompileFromProto(md, msg, transcode.ROS1); err != nil {
		return nil, err
	}
	header := md.Fields().ByName("header")
	if header == nil || header.Message() == nil || header.IsList() {
		return d, nil
	}
	stamp := schema.Field{Name: "timestamp_sec", Type: schema.Type{Kind: schema.Float64}}
	if header.Message().Fields().ByName("timestamp_sec") == nil {
		if header.Message().Fields().ByName("stamp") == nil {
			return d, nil
		}
		stamp, d.time = schema.Field{Name: "stamp", Type: schema.Type{Kind: schema.Time}}, true
	}
	if p, err := transcode.CompileFromProto(md, &schema.Message{Name: "stamp", Fields: []schema.Field{headerField(stamp)}}, transcode.ROS1); err == nil {
		d.stamp = p
	}
	return d, nil
}
