package content

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"

	"github.com/bagconv/bagconv/internal/schema/facts"

	"github.com/bagconv/bagconv/internal/schema/measure"

	"github.com/bagconv/bagconv/schema"
)

// The canonical type of a message is its ROS type with everything left out that
// only a wire or a dialect knows. Messages of it are serialized so:
//
//	field                          canonical      bytes, little endian
//	bool                           bool           00 or 01
//	byte, char, octet, uint8       uint8          1
//	other numbers, enum as int32   the same       1, 2, 4, 8
//	float32, float64               the same       4, 8; every NaN is 7fc00000, 7ff8000000000000
//	time, builtin_interfaces/Time  time           i64 ns since 1970
//	duration, .../Duration         duration       i64 ns
//	string, wstring, bounded ones  string         u32 length, UTF-8
//	T[N]                           T[N]           N values
//	T[], T[<=N]                    T[]            u32 count, values
//	struct                         struct         its fields in order
//	Header.seq of ROS 1            kept, or left out if one side does not have it;
//	sequence_num of Apollo's       so too
//
// docs/content-hash.md is the same for others to implement.

// Canonical returns the canonical type of a message, with the counters of Headers
// or without. A message that is a time or duration of ROS 2 becomes one field
// "data" of that kind, as ROS 1 has it in std_msgs/Time.
func Canonical(m *schema.Message, seq bool) *schema.Message {
	c := &canonizer{seq, map[*schema.Message]*schema.Message{}}
	if k := m.TimeKind(); k != schema.Invalid {
		return &schema.Message{Name: m.Name, Fields: []schema.Field{{Name: "data", Type: schema.Type{Kind: k}}}}
	}
	return c.message(m)
}

// A canonizer makes canonical types.
type canonizer struct {
	seq  bool // keep the counters of Headers
	made map[*schema.Message]*schema.Message
}

func (c *canonizer) message(m *schema.Message) *schema.Message {
	if d := c.made[m]; d != nil {
		return d
	}
	d := &schema.Message{Name: m.Name}
	c.made[m] = d
	for i, f := range m.Fields {
		if !c.seq && isCounter(m, i) {
			continue
		}
		d.Fields = append(d.Fields, schema.Field{Name: f.Name, Type: c.field(f.Type)})
	}
	return d
}

func (c *canonizer) field(t schema.Type) schema.Type {
	t = canonicalType(t)
	if t.Kind == schema.Struct {
		t.Message = c.message(t.Message)
	}
	return t
}

// canonicalType returns the canonical type of a field, except that a struct keeps its
// message.
func canonicalType(t schema.Type) schema.Type {
	t.StringBound, t.Enumerated = 0, false
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
		if k := t.Message.TimeKind(); k != schema.Invalid {
			t.Kind, t.Message = k, nil
		}
	}
	return t
}

// isCounter reports whether field i is the counter of a Header of ROS 1 or of Apollo.
func isCounter(m *schema.Message, i int) bool {
	if m.Name == "apollo_common/Header" {
		return m.Fields[i].Name == "sequence_num" && m.Fields[i].Type == schema.Type{Kind: schema.Uint32}
	}
	return i == 0 && facts.IsROS1Header(m)
}

// HasCounter reports whether a canonical type has the counter of a Header somewhere.
func HasCounter(m *schema.Message) bool {
	return facts.Any(m, func(m *schema.Message) bool {
		for i := range m.Fields {
			if isCounter(m, i) {
				return true
			}
		}
		return false
	})
}

// A Shape identifies what a canonical type looks like: names of fields without
// regard to case, kinds, arrays. Names of types do not count.
type Shape [sha256.Size]byte

// ShapeOf returns the shape of a canonical type.
func ShapeOf(m *schema.Message) Shape { return shaper{}.shape(m) }

type shaper map[*schema.Message]Shape

func (s shaper) shape(m *schema.Message) Shape {
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
	h := Shape(sha256.Sum256(b))
	s[m] = h
	return h
}

// HasNoBytes reports whether a canonical type has no values: its messages have no bytes.
func HasNoBytes(m *schema.Message) bool {
	return new(measure.Measure).Least(schema.Type{Kind: schema.Struct, Message: m}) == 0
}
