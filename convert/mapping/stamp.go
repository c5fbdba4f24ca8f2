package mapping

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/convert/transcode"
	"github.com/bagconv/bagconv/internal/wire/pb"
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
)

// A Stamp finds the time in the header of a topic's messages, without decoding
// them. It may be used by any number of goroutines.
//
//	ROS 1     seq u32 | stamp: sec u32, nsec u32 | ...             std_msgs/Header first
//	CDR       encapsulation 4 bytes | stamp: sec i32, nsec u32 | ...
//	          XCDR2 delimited: a size before the message, the header and the stamp
//	tf        as above, of the first of the transforms: after their count u32
//	protobuf  header.timestamp_sec, a double: Apollo's types       any field numbers
type Stamp struct {
	wire   transcode.Wire
	bare   bool             // the message is a header itself
	list   bool             // the header is that of the first element of a list
	proto  bool             // then wire means nothing
	header protowire.Number // field of the message
	second protowire.Number // field of the header

	structs []schema.Extensibility // of the message and all below down to the stamp
}

// Stamp returns where the stamp of a topic's messages is; nil when they do not
// begin with a header, or their type is not known.
func (m *Mapper) Stamp(t *storage.Topic) *Stamp {
	switch t.Encoding {
	case "ros1", "cdr":
		if d, err := m.sourceDefinition(t); err == nil && d.head == nil {
			return stampOf(d.msg, wireOf(t.Encoding))
		}
	case "protobuf":
		if d, err := m.descriptor(t); err == nil {
			return protoStamp(d.proto)
		}
	}
	return nil
}

func stampOf(msg *schema.Message, wire transcode.Wire) *Stamp {
	if isHeader(msg) {
		return &Stamp{wire: wire, bare: true, structs: extents(msg)}
	}
	if len(msg.Fields) == 0 || msg.Fields[0].Type.Kind != schema.Struct {
		return nil
	}
	first := &msg.Fields[0].Type
	switch {
	case first.Array == schema.Single && isHeader(first.Message):
		return &Stamp{wire: wire, structs: extents(msg)}
	case ros1Name(msg.Name) == "tf2_msgs/TFMessage" && first.Array == schema.Unbounded &&
		len(first.Message.Fields) > 0 && first.Message.Fields[0].Type.Kind == schema.Struct && isHeader(first.Message.Fields[0].Type.Message):
		return &Stamp{wire: wire, list: true, structs: extents(msg)}
	}
	return nil
}

// extents returns what the structs are that begin a message, from the outermost to the stamp. In a
// header of ROS 1 the counter comes before the stamp.
func extents(msg *schema.Message) (out []schema.Extensibility) {
	for msg != nil {
		out = append(out, msg.Extensibility)
		fields := msg.Fields
		if msg = nil; len(fields) > 0 {
			msg = fields[0].Type.Message
		}
	}
	return out
}

func isHeader(msg *schema.Message) bool {
	switch msg.Name {
	case "std_msgs/Header", "std_msgs/msg/Header", "roslib/Header":
		return true
	}
	return false
}

func protoStamp(md protoreflect.MessageDescriptor) *Stamp {
	header := md.Fields().ByName("header")
	if header == nil || header.Kind() != protoreflect.MessageKind || header.Cardinality() == protoreflect.Repeated {
		return nil
	}
	second := header.Message().Fields().ByName("timestamp_sec")
	if second == nil || second.Kind() != protoreflect.DoubleKind || second.Cardinality() == protoreflect.Repeated {
		return nil
	}
	return &Stamp{proto: true, header: header.Number(), second: second.Number()}
}

// Settable reports whether Set can write the stamp: that of a list of transforms is
// one of several.
func (s *Stamp) Settable() bool { return !s.list }

// Time returns the stamp of a message, ns since 1970; false when it has none,
// or it is 0, which means the same.
func (s *Stamp) Time(data []byte) (int64, bool) {
	b, order := s.find(data)
	switch {
	case b == nil:
		return 0, false
	case s.proto:
		sec := math.Float64frombits(binary.LittleEndian.Uint64(b))
		if !(sec > 0 && sec < math.MaxInt64/1e9) {
			return 0, false
		}
		return Nanoseconds(sec), true
	}
	sec, nsec := order.Uint32(b), order.Uint32(b[4:])
	ns := int64(sec)
	if s.wire == transcode.CDR {
		ns = int64(int32(sec))
	}
	return ns*1e9 + int64(nsec), sec != 0 || nsec != 0
}

// Nanoseconds returns seconds as a time in nanoseconds: those of the whole seconds, and the rest rounded,
// so that no bit of the number is lost.
func Nanoseconds(sec float64) int64 {
	whole := math.Floor(sec)
	return int64(whole)*1e9 + int64(math.Round((sec-whole)*1e9))
}

// Set writes the stamp into a message; false when there is no place for it: the
// message is too short, has no such field, or the time is out of its range.
func (s *Stamp) Set(data []byte, ns int64) bool {
	b, order := s.find(data)
	if b == nil || s.list || ns < 0 {
		return false
	}
	if s.proto {
		binary.LittleEndian.PutUint64(b, math.Float64bits(float64(ns/1e9)+float64(ns%1e9)/1e9))
		return true
	}
	if sec := ns / 1e9; sec > math.MaxUint32 || s.wire == transcode.CDR && sec > math.MaxInt32 {
		return false
	}
	order.PutUint32(b, uint32(ns/1e9))
	order.PutUint32(b[4:], uint32(ns%1e9))
	return true
}

// find returns the 8 bytes of the stamp, nil when the message has none, or is in a
// form of CDR that is not known.
func (s *Stamp) find(data []byte) ([]byte, binary.ByteOrder) {
	if s.proto {
		return lastField(lastField(data, s.header, protowire.BytesType), s.second, protowire.Fixed64Type), nil
	}
	var r ros.Reader
	if r.Open(data, s.wire == transcode.CDR) != nil {
		return nil, nil
	}
	delimited := r.Delimited
	for i, extent := range s.structs { // their sizes do not matter
		if i == 1 && s.list {
			r.Size()
			if r.U32() == 0 {
				return nil, nil
			}
		}
		switch {
		case extent == schema.Mutable:
			return nil, nil
		case i > 0 && extent != schema.Unstated:
			delimited = extent == schema.Appendable && r.Sizes
		}
		if delimited {
			r.U32()
		}
	}
	if s.wire == transcode.ROS1 {
		r.U32() // Header.seq
	}
	var order binary.ByteOrder = binary.LittleEndian
	if r.BigEndian {
		order = binary.BigEndian
	}
	return r.Numbers(2, 4), order
}

// lastField returns the value of the last field of that number and type, without the
// length of bytes; nil when there is none, or the message is malformed.
func lastField(data []byte, number protowire.Number, wire protowire.Type) (found []byte) {
	s := pb.Scan(data)
	for s.Next() {
		switch {
		case s.Num != number || s.Wire != wire:
		case wire == protowire.BytesType:
			found = s.Content()
		default:
			found = s.Value()
		}
	}
	if _, wrong := s.Wrong(); wrong != "" {
		return nil
	}
	return found
}
