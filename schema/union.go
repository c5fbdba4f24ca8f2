package schema

// Chosen returns the field of a union that a discriminator chooses, -1 if it chooses no field.
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
