package schema

// Dependencies returns the messages that m uses, directly or below, in
// depth-first pre-order, each once, without m itself.
func Dependencies(m *Message) []*Message {
	var deps []*Message
	seen := map[*Message]bool{m: true}
	var walk func(*Message)
	walk = func(m *Message) {
		for _, f := range m.Fields {
			if d := f.Type.Message; d != nil && !seen[d] {
				seen[d] = true
				deps = append(deps, d)
				walk(d)
			}
		}
	}
	walk(m)
	return deps
}

// Equal tells whether two messages have the same name, fields, constants and
// dependencies. Defaults, which no wire shows, are left aside.
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
	r := a.Name == b.Name && len(a.Fields) == len(b.Fields) && len(a.Constants) == len(b.Constants)
	for i := 0; r && i < len(a.Constants); i++ {
		r = a.Constants[i] == b.Constants[i]
	}
	for i := 0; r && i < len(a.Fields); i++ {
		f, g := a.Fields[i], b.Fields[i]
		r = f.Name == g.Name && e.same(f.Type.Message, g.Type.Message)
		f.Type.Message, g.Type.Message = nil, nil
		r = r && f.Type == g.Type
	}
	e[k] = r
	return r
}
