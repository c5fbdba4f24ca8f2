// Package measure finds how many bytes values of a type take at least. See Measure, which is for one goroutine.
package measure

import "github.com/bagconv/bagconv/schema"

// A Measure finds how many bytes values take at least in a serialization of ROS, without
// padding: numbers, and the counts of strings and lists. The zero value is for ROS 1.
type Measure struct {
	Struct int // bytes before the fields of each struct
	Empty  int // bytes of a struct without fields

	known map[*schema.Message]int
}

// Most stands for that many bytes and more.
const Most = 1 << 30

// Least returns how many bytes a value of a type takes at least.
func (m *Measure) Least(t schema.Type) int {
	one := t.Kind.Size()
	switch t.Kind {
	case schema.String, schema.WString:
		one = 4
	case schema.Struct:
		one = m.structSize(t.Message)
	}
	switch {
	case t.Array == schema.Bounded || t.Array == schema.Unbounded:
		return 4
	case t.Array == schema.Single:
		return one
	case one > 0 && t.Len > Most/one:
		return Most
	}
	return one * t.Len
}

func (m *Measure) structSize(msg *schema.Message) int {
	n, ok := m.known[msg]
	if ok {
		return n
	}
	n = m.Struct
	if len(msg.Fields) == 0 {
		n += m.Empty
	}
	for _, f := range msg.Fields {
		n = min(Most, n+m.Least(f.Type))
	}
	if m.known == nil {
		m.known = map[*schema.Message]int{}
	}
	m.known[msg] = n
	return n
}
