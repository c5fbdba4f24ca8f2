package rosidl

import (
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/internal/schema/names"

	"github.com/bagconv/bagconv/schema"
)

// An enumDef is an enum as it is written.
type enumDef struct {
	name   string
	kind   schema.Kind  // of its constants
	values []enumerator // none if one of them has a number that is not known
}

type enumerator struct {
	name   string
	number int64
}

// enum reads names of numbers: 32 bits, or as many as @bit_bound has. A name has the number of its
// @value, or else one more than the name before.
func (p *parser) enum(scope []string, bits int) error {
	name, err := p.word()
	if err == nil {
		err = p.expect("{")
	}
	if err != nil {
		return err
	}
	kind := schema.Enum
	switch {
	case bits > 32:
		return p.fail("an enum of more than 32 bits")
	case bits > 16 || bits == 0:
	case bits > 8:
		kind = schema.Int16
	default:
		kind = schema.Int8
	}
	e, next, odd := &enumDef{name: name, kind: kind}, int64(0), false
	for !p.accept("}") {
		noted, err := p.annotations(scope)
		if err != nil {
			return err
		}
		value, err := p.word()
		if err != nil {
			return err
		}
		if p.fields++; p.fields > maxFields {
			return p.fail("more than 100,000 fields and constants")
		}
		if noted.number != nil {
			next = *noted.number
		}
		limit := int64(1) << (8*kind.Size() - 1)
		odd = odd || noted.odd || next < -limit || next >= limit
		e.values = append(e.values, enumerator{value, next})
		p.numbers[within(scope, value)] = next
		p.numbers[within(scope, name)+"::"+value] = next
		next++
		p.accept(",")
	}
	if kind == schema.Enum {
		e.kind = schema.Int32
	}
	if odd {
		for _, v := range e.values {
			delete(p.numbers, within(scope, v.name))
			delete(p.numbers, within(scope, name)+"::"+v.name)
		}
		e.values = nil
	}
	return p.name(within(scope, name), typeRef{kind: kind, enum: e, enumerated: kind != schema.Enum})
}

// valueNumber returns the number of @value(N), whose parenthesis comes next and stays there.
func (p *parser) valueNumber(scope []string) (number *int64, odd bool) {
	at := p.at
	defer func() { p.at = at }()
	if !p.accept("(") {
		return nil, true
	}
	if p.accept("value") {
		p.accept("=")
	}
	n, err := p.expression(scope, 0, 0, false)
	if err != nil || !p.accept(")") {
		return nil, true
	}
	return &n, false
}

// number returns the number of a default that is one of the names, and other defaults as they are.
func (e *enumDef) number(value string) string {
	if e != nil && value != "" {
		_, last, found := cutLast(value, "::")
		for _, v := range e.values {
			if v.name == value || found && v.name == last {
				return strconv.FormatInt(v.number, 10)
			}
		}
	}
	return value
}

// cutLast cuts a text at the last separator.
func cutLast(text, separator string) (before, after string, found bool) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(separator):], true
}

// addEnums makes the values of enums constants of the message that has fields of them.
func (p *parser) addEnums(m *schema.Message) error {
	if len(p.enums[m]) == 0 {
		return nil
	}
	used, added := map[string]int{}, map[*enumDef]bool{}
	for _, c := range m.Constants {
		used[c.Name] = 1
	}
	for _, f := range m.Fields {
		used[f.Name] = 1
	}
	for _, e := range p.enums[m] {
		if added[e] {
			continue
		}
		added[e] = true
		if p.flattened += len(e.values); p.flattened > maxFields {
			return &Error{Type: m.Name, What: "more than 100,000 fields and constants"}
		}
		for _, v := range e.values {
			name := unique(used, names.Constant(e.name, v.name))
			m.Constants = append(m.Constants, schema.Constant{Kind: e.kind, Name: name, Text: strconv.FormatInt(v.number, 10)})
		}
	}
	return nil
}

// unique returns name, with a number after it if it is taken.
func unique(used map[string]int, name string) string {
	base := name
	for used[name] > 0 {
		used[base]++
		name = base + strconv.Itoa(used[base])
	}
	used[name] = 1
	return name
}
