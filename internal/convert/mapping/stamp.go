package mapping

import (
	"encoding/binary"
	"math"
	"strings"

	"github.com/bagconv/bagconv/internal/convert/apollo"
	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
)

// A Stamp finds the time in the header of a topic's messages, without decoding them. It may be used by any
// number of goroutines.
//
//	ROS 1, CDR   stamp of the std_msgs/Header that the message is or begins with
//	tf           stamp of the first transform
//	protobuf     header.timestamp_sec, a double: Apollo's types
type Stamp struct {
	typ  *message.Type
	path *message.Path // to the seconds
	cdr  bool
	list bool // the header is in the first element of a list
}

// Stamp returns where the stamp of a topic's messages is; nil when they do not
// begin with a header, or their type is not known.
func (m *Mapper) Stamp(t *storage.Topic) *Stamp {
	typ, d, err := m.Type(t)
	if err != nil || d.Head != nil {
		return nil
	}
	path := "header.timestamp_sec"
	if d.ROS != nil {
		path = stampPath(d.ROS)
	}
	return newStamp(typ, path)
}

// stampPath returns the path to the stamp of a ROS type; "" if it has no stamp.
func stampPath(msg *schema.Message) string {
	if isHeader(msg) {
		return "stamp"
	}
	if len(msg.Fields) == 0 || msg.Fields[0].Type.Kind != schema.Struct {
		return ""
	}
	name, first := msg.Fields[0].Name, &msg.Fields[0].Type
	switch {
	case first.Array == schema.Single && isHeader(first.Message):
		return name + ".stamp"
	case ros1Name(msg.Name) == "tf2_msgs/TFMessage" && first.Array == schema.Unbounded &&
		len(first.Message.Fields) > 0 && first.Message.Fields[0].Type.Kind == schema.Struct &&
		isHeader(first.Message.Fields[0].Type.Message):
		return name + "[0]." + first.Message.Fields[0].Name + ".stamp"
	}
	return ""
}

// newStamp returns the stamp at a path; nil if no time is there.
func newStamp(typ *message.Type, path string) *Stamp {
	p, err := typ.Path(path)
	switch {
	case err != nil || p.Field.List:
		return nil
	case isWords(p.Field) && !typ.Protobuf():
		if p, err = typ.Path(path + "." + p.Field.Type.Fields[0].Name); err != nil {
			return nil
		}
	case p.Field.Kind != message.Float || p.Field.Size != 8 || !typ.Protobuf():
		return nil
	}
	return &Stamp{typ, p, typ.CDR(), strings.Contains(path, "[")}
}

// isWords reports whether a field is a struct of two numbers of 32 bits, seconds and nanoseconds.
func isWords(f *message.Field) bool {
	return f.Type != nil && len(f.Type.Fields) == 2 && f.Type.Fields[0].Size == 4 && f.Type.Fields[1].Size == 4
}

func isHeader(msg *schema.Message) bool {
	switch msg.Name {
	case "std_msgs/Header", "std_msgs/msg/Header", "roslib/Header":
		return true
	}
	return false
}

// Settable reports whether Set can write the stamp: a list of transforms has several
// stamps.
func (s *Stamp) Settable() bool { return !s.list }

// Time returns the stamp of a message, ns since 1970; false if it has no stamp,
// or the stamp 0, which means the same.
func (s *Stamp) Time(data []byte) (int64, bool) {
	b, order := s.find(data)
	switch {
	case b == nil:
		return 0, false
	case s.typ.Protobuf():
		ns, ok := apollo.Nanoseconds(math.Float64frombits(binary.LittleEndian.Uint64(b)))
		return ns, ok && ns > 0
	}
	sec, nsec := order.Uint32(b), order.Uint32(b[4:])
	ns := int64(sec)
	if s.cdr {
		ns = int64(int32(sec))
	}
	return ns*1e9 + int64(nsec), sec != 0 || nsec != 0
}

// Set writes the stamp into a message; false when there is no place for it: the
// message is too short, has no such field, or the time is out of its range.
func (s *Stamp) Set(data []byte, ns int64) bool {
	b, order := s.find(data)
	if b == nil || s.list || ns < 0 {
		return false
	}
	if s.typ.Protobuf() {
		binary.LittleEndian.PutUint64(b, math.Float64bits(float64(ns/1e9)+float64(ns%1e9)/1e9))
		return true
	}
	if sec := ns / 1e9; sec > math.MaxUint32 || s.cdr && sec > math.MaxInt32 {
		return false
	}
	order.PutUint32(b, uint32(ns/1e9))
	order.PutUint32(b[4:], uint32(ns%1e9))
	return true
}

// find returns the 8 bytes of the stamp, nil if the message has no stamp, or is in a
// form of CDR that is not known.
func (s *Stamp) find(data []byte) ([]byte, binary.ByteOrder) {
	c := message.OpenInPlace(s.typ, data)
	defer c.Close()
	if !c.Seek(s.path) {
		return nil, nil
	}
	n := 8 / s.path.Field.Size // seconds and nanoseconds, or a double
	if c.Layout().BigEndian {
		return c.Raw(s.path.Field, n), binary.BigEndian
	}
	return c.Raw(s.path.Field, n), binary.LittleEndian
}
