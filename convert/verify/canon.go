package verify

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"

	"github.com/bagconv/bagconv/schema"
)

// The canonical type of a message is its ROS type with everything left out that
// only a wire or a dialect knows. Messages of it are serialized as ROS 1 does:
//
//	field                          canonical      bytes, little endian
//	bool                           bool           00 or 01
//	byte, char, octet, uint8       uint8          1
//	other numbers, enum as int32   the same       1, 2, 4, 8
//	float32, float64               the same       4, 8; every NaN is 7fc00000, 7ff8000000000000
//	time, builtin_interfaces/Time  time           u32 seconds, u32 nanoseconds
//	duration, .../Duration         duration       i32 seconds, i32 nanoseconds
//	string, wstring, bounded ones  string         u32 length, UTF-8
//	T[N]                           T[N]           N values
//	T[], T[<=N]                    T[]            u32 count, values
//	struct                         struct         its fields in order
//	Header.seq of ROS 1            kept, or left out when one side has none;
//	sequence_num of Apollo's       so too
//
// docs/content-hash.md is the same for others to implement.

// A canonizer makes canonical types.
type canonizer struct {
	seq  bool // keep Header.seq
	made map[*schema.Message]*schema.Message
}

func canonical(m *schema.Message, seq bool) *schema.Message {
	return (&canonizer{seq, map[*schema.Message]*schema.Message{}}).message(m)
}

func (c *canonizer) message(m *schema.Message) *schema.Message {
	if d := c.made[m]; d != nil {
		return d
	}
	d := &schema.Message{Name: m.Name}
	c.made[m] = d
	drop := !c.seq && hasSeq(m)
	for i, f := range m.Fields {
		if drop && i == 0 || !c.seq && f.Name == "sequence_num" && m.Name == "apollo_common/Header" {
			continue
		}
		d.Fields = append(d.Fields, schema.Field{Name: f.Name, Type: c.field(f.Type)})
	}
	return d
}

func (c *canonizer) field(t schema.Type) schema.Type {
	t.StringBound = 0
	if t.Array == schema.Bounded {
		t.Array = schema.Unbounded
	}
	if t.Array != schema.Fixed {
		t.Len = 0
	}
	switch t.Kind {
	case schema.Byte, schema.Char, schema.IDLChar:
		t.Kind = schema.Uint8
	case schema.WString:
		t.Kind = schema.String
	case schema.Enum:
		t.Kind, t.Message = schema.Int32, nil
	case schema.Struct:
		switch {
		case isTime(t.Message, "Time"):
			t.Kind, t.Message = schema.Time, nil
		case isTime(t.Message, "Duration"):
			t.Kind, t.Message = schema.Duration, nil
		default:
			t.Message = c.message(t.Message)
		}
	}
	return t
}

// hasSeq tells a ROS 1 Header: {uint32 seq, time stamp, string frame_id}.
func hasSeq(m *schema.Message) bool {
	plain := func(i int, name string, k schema.Kind) bool {
		return m.Fields[i].Name == name && m.Fields[i].Type == schema.Type{Kind: k}
	}
	return strings.HasSuffix(m.Name, "/Header") && len(m.Fields) == 3 &&
		plain(0, "seq", schema.Uint32) && plain(1, "stamp", schema.Time) && plain(2, "frame_id", schema.String)
}

// isTime tells a time or duration of ROS 2.
func isTime(m *schema.Message, short string) bool {
	return m.Name == "builtin_interfaces/msg/"+short && len(m.Fields) == 2 &&
		m.Fields[0].Type == schema.Type{Kind: schema.Int32} && m.Fields[1].Type == schema.Type{Kind: schema.Uint32}
}

// A shape identifies what a canonical type looks like: names of fields without
// regard to case, kinds, arrays. Names of types do not count.
type shape [sha256.Size]byte

func shapeOf(m *schema.Message) shape { return shaper{}.shape(m) }

type shaper map[*schema.Message]shape

func (s shaper) shape(m *schema.Message) shape {
	if h, ok := s[m]; ok {
		return h
	}
	var b []byte
	for _, f := range m.Fields {
		name := strings.ToLower(f.Name)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(name)))
		b = append(append(b, name...), byte(f.Type.Kind), byte(f.Type.Array))
		b = binary.LittleEndian.AppendUint64(b, uint64(f.Type.Len))
		if f.Type.Message != nil {
			h := s.shape(f.Type.Message)
			b = append(b, h[:]...)
		}
	}
	h := shape(sha256.Sum256(b))
	s[m] = h
	return h
}
