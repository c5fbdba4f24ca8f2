package transcode

import (
	"fmt"
	"math/rand/v2"

	"github.com/bagconv/bagconv/schema"
)

// A maker makes random types and values.
type maker struct{ *rand.Rand }

var numberKinds = []schema.Kind{schema.Bool, schema.Int8, schema.Uint8, schema.Int16, schema.Uint16, schema.Int32,
	schema.Uint32,
	schema.Int64, schema.Uint64, schema.Float32, schema.Float64, schema.Byte, schema.Char}

var (
	testTime = &schema.Message{Name: "builtin_interfaces/msg/Time", Fields: []schema.Field{field("sec", schema.Int32),
		field("nanosec", schema.Uint32)}}
	testHeader1 = &schema.Message{Name: "std_msgs/Header", Fields: []schema.Field{field("seq", schema.Uint32),
		field("stamp", schema.Time), field("frame_id", schema.String)}}
	testHeader2 = &schema.Message{Name: "std_msgs/msg/Header", Fields: []schema.Field{strct("stamp", testTime),
		field("frame_id", schema.String)}}
)

func field(name string, k schema.Kind) schema.Field {
	return schema.Field{Name: name, Type: schema.Type{Kind: k}}
}

func strct(name string, m *schema.Message) schema.Field {
	return schema.Field{Name: name, Type: schema.Type{Kind: schema.Struct, Message: m}}
}

func many(f schema.Field, a schema.Array, n int) schema.Field {
	f.Type.Array, f.Type.Len = a, n
	return f
}

// twins makes a ROS 1 type and its ROS 2 twin.
func (r maker) twins(depth int) (a, b *schema.Message) {
	n := r.IntN(6)
	if depth == 0 {
		n++
	}
	a, b = &schema.Message{Name: fmt.Sprintf("p/T%d", r.Uint32())}, &schema.Message{Name: "p/msg/T"}
	for i := range n {
		name := fmt.Sprintf("f%d", i)
		var x, y schema.Field
		switch k := r.IntN(20); {
		case k < 9:
			x = field(name, numberKinds[r.IntN(len(numberKinds))])
			y = x
		case k < 12:
			x = field(name, schema.String)
			y = x
		case k < 14:
			x, y = field(name, schema.Time), strct(name, testTime)
		case k < 16:
			x, y = strct(name, testHeader1), strct(name, testHeader2)
		case depth < 4:
			p, q := r.twins(depth + 1)
			x, y = strct(name, p), strct(name, q)
		default:
			x = field(name, schema.Float64)
			y = x
		}
		switch r.IntN(6) {
		case 0:
			x, y = many(x, schema.Unbounded, 0), many(y, schema.Unbounded, 0)
		case 1:
			k := r.IntN(5)
			x, y = many(x, schema.Fixed, k), many(y, schema.Fixed, k)
		case 2:
			x, y = many(x, schema.Unbounded, 0), many(y, schema.Bounded, 1000)
		}
		a.Fields, b.Fields = append(a.Fields, x), append(b.Fields, y)
	}
	return a, b
}

// value makes a random value of a type; bools are 0 or 1.
func (r maker) value(t schema.Type, depth int) any {
	one := single(t)
	if t.Array != schema.Single {
		n := t.Len
		if t.Array != schema.Fixed {
			n = r.IntN(5)
			if depth > 2 {
				n = r.IntN(3)
			}
		}
		out := list{}
		for range n {
			out = append(out, r.value(one, depth+1))
		}
		return out
	}
	switch t.Kind {
	case schema.Struct:
		s := &strc{}
		for _, f := range t.Message.Fields {
			s.names = append(s.names, f.Name)
			s.vals = append(s.vals, r.value(f.Type, depth))
		}
		return s
	case schema.String:
		b := make([]byte, r.IntN(12))
		for i := range b {
			b[i] = byte('a' + r.IntN(26))
		}
		return string(b)
	case schema.Time, schema.Duration:
		nsec := r.number(4)
		nsec.bytes[3] &= 0x7f // from 2^31 ns on see TestTimes
		return &strc{names: []string{"sec", "nanosec"}, vals: []any{r.number(4), nsec}}
	case schema.Bool:
		return num{[]byte{byte(r.IntN(2))}}
	}
	return r.number(t.Kind.Size())
}

func (r maker) number(n int) num {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return num{b}
}

// scramble makes a destination that lacks fields, has others and stands in
// another order.
func (r maker) scramble(m *schema.Message) *schema.Message {
	d := &schema.Message{Name: m.Name}
	for _, f := range m.Fields {
		if r.IntN(4) == 0 {
			continue
		}
		if f.Type.Kind == schema.Struct && f.Type.Message != testTime && f.Type.Message != testHeader2 {
			f.Type.Message = r.scramble(f.Type.Message)
		}
		d.Fields = append(d.Fields, f)
	}
	for range r.IntN(3) {
		d.Fields = append(d.Fields, field(fmt.Sprintf("new%d", r.Uint32()),
			append(numberKinds, schema.String)[r.IntN(len(numberKinds)+1)]))
	}
	if r.IntN(2) == 0 {
		r.Shuffle(len(d.Fields), func(i, j int) { d.Fields[i], d.Fields[j] = d.Fields[j], d.Fields[i] })
	}
	return d
}
