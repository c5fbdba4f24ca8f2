package facts

import (
	"slices"

	"github.com/bagconv/bagconv/schema"
)

// Any reports whether a message, or one that it uses, is what is asked for.
func Any(m *schema.Message, is func(*schema.Message) bool) bool {
	seen := map[*schema.Message]bool{}
	var look func(*schema.Message) bool
	look = func(m *schema.Message) bool {
		if m == nil || seen[m] {
			return false
		}
		seen[m] = true
		return is(m) || slices.ContainsFunc(m.Fields, func(f schema.Field) bool { return look(f.Type.Message) })
	}
	return look(m)
}

// Plain returns the type whose messages in CDR have no more than their fields, as ROS 2 writes
// them: m itself, or a copy without what only IDL has, unions, optional members and
// extensibilities. The fields are the same.
func Plain(m *schema.Message) *schema.Message { return plain(m, map[*schema.Message]*schema.Message{}) }

func plain(m *schema.Message, made map[*schema.Message]*schema.Message) *schema.Message {
	if p := made[m]; p != nil {
		return p
	}
	p := &schema.Message{Name: m.Name, Constants: m.Constants, Fields: make([]schema.Field, len(m.Fields))}
	same := m.Extensibility == schema.Unstated && !m.Union
	for i, f := range m.Fields {
		if f.Type.Kind == schema.Struct {
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
