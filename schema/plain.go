package schema

// Plain returns the type whose messages in CDR have no more than their fields, as ROS 2 writes
// them: m itself, or a copy without what only IDL has, unions, optional members and
// extensibilities. The fields are the same.
func Plain(m *Message) *Message { return plain(m, map[*Message]*Message{}) }

func plain(m *Message, made map[*Message]*Message) *Message {
	if p := made[m]; p != nil {
		return p
	}
	p := &Message{Name: m.Name, Constants: m.Constants, Fields: make([]Field, len(m.Fields))}
	same := m.Extensibility == Unstated && !m.Union
	for i, f := range m.Fields {
		if f.Type.Kind == Struct {
			f.Type.Message = plain(f.Type.Message, made)
		}
		same = same && f.Member == nil && !f.Type.Enumerated && f.Type.Message == m.Fields[i].Type.Message
		f.Member, f.Type.Enumerated = nil, false
		p.Fields[i] = f
	}
	if same {
		p = m
	}
	made[m] = p
	return p
}

// Chosen returns the field of a union that a discriminator chooses, -1 if it chooses none.
func (m *Message) Chosen(discriminator int64) int {
	other := -1
	for i, f := range m.Fields {
		if f.Member == nil {
			continue
		}
		for _, label := range f.Member.Labels {
			if label == discriminator {
				return i
			}
		}
		if f.Member.Default {
			other = i
		}
	}
	return other
}

// Discriminator returns the number that the bytes of a discriminator are, in little endian. Those
// of 64 bits without a sign wrap around, as labels do.
func Discriminator(k Kind, p []byte) int64 {
	var v uint64
	for i, b := range p {
		v |= uint64(b) << (8 * i)
	}
	switch k {
	case Bool:
		return int64(min(v, 1))
	case Int8, Int16, Int32, Enum:
		unused := 64 - 8*len(p)
		return int64(v) << unused >> unused
	}
	return int64(v)
}
