package rosidl

import (
	"crypto/md5"
	"encoding/binary"

	"github.com/bagconv/bagconv/schema"
)

// The numbers of members, which stand in the bytes of @mutable structs (OMG DDS-XTypes 1.3, 7.3.1.2.1).
const (
	maxID   = 0x0fffffff
	hashIDs = "HASH" // of @autoid
)

// hashID returns the number that a member has by its name.
func hashID(name string) *uint32 {
	sum := md5.Sum([]byte(name))
	id := binary.LittleEndian.Uint32(sum[:]) & maxID
	return &id
}

// setID gives a field the number of its @id or hash, or else one more than the field before has.
func (p *parser) setID(m *schema.Message, f fieldDef, field *schema.Field) error {
	id := uint32(0)
	if len(m.Fields) > 0 {
		id = p.lastID[m] + 1
	}
	if f.id != nil {
		id = *f.id
	}
	p.lastID[m] = id
	if m.Extensibility != schema.Mutable {
		if field.Member != nil {
			field.Member.ID = id
		}
		return nil
	}
	if field.Member == nil {
		field.Member = &schema.Member{Type: field.Type}
	}
	field.Member.ID = id
	if p.ids[m] == nil {
		p.ids[m] = map[uint32]string{}
		for _, before := range m.Fields { // of the base
			p.ids[m][before.Member.ID] = before.Name
		}
	}
	if other := p.ids[m][id]; other != "" {
		return &Error{Type: m.Name, What: "the members " + other + " and " + field.Name + " share one number"}
	}
	p.ids[m][id] = field.Name
	return nil
}

// numberBase gives the fields of a base that is not @mutable the numbers that they have in a struct
// that is.
func (p *parser) numberBase(m *schema.Message, base string) error {
	if n := len(m.Fields); n > 0 && p.lastID[m] != uint32(n-1) {
		return &Error{Type: m.Name, What: "it is @mutable and its base " + base + " is not, but has numbers of members"}
	}
	for i := range m.Fields {
		member := schema.Member{Type: m.Fields[i].Type}
		if old := m.Fields[i].Member; old != nil {
			member = *old
		}
		member.ID = uint32(i)
		m.Fields[i].Member = &member
	}
	return nil
}
