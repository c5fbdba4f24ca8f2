package schema

import "slices"

// Dependencies returns the messages that m uses, directly or below, in
// depth-first pre-order, each name once, without m itself. Equal types may stand
// in a graph as several objects; see Ambiguous for types that are not equal.
func Dependencies(m *Message) []*Message {
	var deps []*Message
	seen := map[string]bool{m.Name: true}
	var walk func(*Message)
	walk = func(m *Message) {
		for _, f := range m.Fields {
			if d := f.Type.Message; d != nil && !seen[d.Name] {
				seen[d.Name] = true
				deps = append(deps, d)
				walk(d)
			}
		}
	}
	walk(m)
	return deps
}

// Ambiguous returns a name that two different types in the graph of m have, and "" if no name has
// two. No text or hash can describe a graph that has one. The parsers never return such a graph;
// one that is put together may be.
func Ambiguous(m *Message) string {
	first, seen, equal := map[string]*Message{}, map[*Message]bool{}, equals{}
	var walk func(*Message) string
	walk = func(m *Message) string {
		if seen[m] {
			return ""
		}
		seen[m] = true
		if have := first[m.Name]; have == nil {
			first[m.Name] = m
		} else if !equal.same(have, m) {
			return m.Name
		}
		for _, f := range m.Fields {
			if f.Type.Message != nil {
				if name := walk(f.Type.Message); name != "" {
					return name
				}
			}
		}
		return ""
	}
	return walk(m)
}

// Equal reports whether two messages have the same name, fields, constants and
// dependencies, and the same bytes in CDR. Defaults, which no wire shows, are left aside.
func Equal(a, b *Message) bool { return equals{}.same(a, b) }

// equals remembers the pairs that were compared: graphs share their parts.
type equals map[[2]*Message]bool

func (e equals) same(a, b *Message) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil {
		return false
	}
	k := [2]*Message{a, b}
	if r, ok := e[k]; ok {
		return r
	}
	r := a.Name == b.Name && len(a.Fields) == len(b.Fields) && len(a.Constants) == len(b.Constants) &&
		a.Extensibility == b.Extensibility && a.Union == b.Union
	for i := 0; r && i < len(a.Constants); i++ {
		r = a.Constants[i] == b.Constants[i]
	}
	for i := 0; r && i < len(a.Fields); i++ {
		f, g := a.Fields[i], b.Fields[i]
		r = f.Name == g.Name && e.same(f.Type.Message, g.Type.Message) && f.Member.same(g.Member)
		f.Type.Message, g.Type.Message = nil, nil
		r = r && f.Type == g.Type
	}
	e[k] = r
	return r
}

// same reports whether two members, or none, stand in CDR in the same way; the types of their
// fields are the same.
func (m *Member) same(n *Member) bool {
	if m == nil || n == nil {
		return m == n
	}
	return m.ID == n.ID && m.Type.Array == n.Type.Array && m.Optional == n.Optional && m.Default == n.Default &&
		slices.Equal(m.Labels, n.Labels)
}
