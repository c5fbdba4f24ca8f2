package schema

// A Measure finds how many bytes values take at least in a serialization of ROS, without
// padding: numbers, and the counts of strings and lists. The zero value is for ROS 1.
type Measure struct {
	Struct int // bytes before the fields of each struct
	Empty  int // bytes of a struct without fields

	known map[*Message]int
}

// MaxLeast stands for that many bytes and more.
const MaxLeast = 1 << 30

// Least returns how many bytes a value of a type takes at least.
func (m *Measure) Least(t Type) int {
	one := t.Kind.Size()
	switch t.Kind {
	case String, WString:
		one = 4
	case Struct:
		one = m.structSize(t.Message)
	}
	switch {
	case t.Array == Bounded || t.Array == Unbounded:
		return 4
	case t.Array == Single:
		return one
	case one > 0 && t.Len > MaxLeast/one:
		return MaxLeast
	}
	return one * t.Len
}

func (m *Measure) structSize(msg *Message) int {
	n, ok := m.known[msg]
	if ok {
		return n
	}
	n = m.Struct
	if len(msg.Fields) == 0 {
		n += m.Empty
	}
	for _, f := range msg.Fields {
		n = min(MaxLeast, n+m.Least(f.Type))
	}
	if m.known == nil {
		m.known = map[*Message]int{}
	}
	m.known[msg] = n
	return n
}
