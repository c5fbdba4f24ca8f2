package rosidl

import (
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/schema"
)

// A label is a value of the discriminator, or the name of one that is not known yet.
type label struct {
	number int64
	name   string // "": number counts
}

// union reads union NAME switch (TYPE) { case LABEL: TYPE NAME; ... default: TYPE NAME; }.
func (p *parser) union(scope []string, own notes) error {
	name, err := p.word()
	if err != nil || p.accept(";") { // declared ahead
		return err
	}
	if !p.accept("switch") {
		return p.fail("a switch is missing after the name of a union")
	}
	if err = p.expect("("); err == nil {
		_, err = p.annotations(scope)
	}
	if err != nil {
		return err
	}
	ref, err := p.typeSpec(scope, 0)
	if err == nil {
		err = p.expect(")")
	}
	if err == nil {
		err = p.expect("{")
	}
	if err != nil {
		return err
	}
	def := p.define(scope, name)
	before := *def
	p.begin(def, own)
	def.union = true
	zero := uint32(0)
	def.fields = []fieldDef{{name: "discriminator", ref: ref, id: &zero}}
	seen := map[string]bool{}
	for !p.accept("}") {
		if err := p.unionCase(def, scope, seen); err != nil {
			return err
		}
	}
	for seen[def.fields[0].name] {
		def.fields[0].name += "_"
	}
	return p.repeated(name, &before, def)
}

// unionCase reads the labels and the member of a case.
func (p *parser) unionCase(def *structDef, scope []string, seen map[string]bool) error {
	var labels []label
	other := false
	for {
		if p.accept("default") {
			other = true
		} else if p.accept("case") {
			l, err := p.label(scope)
			if err != nil {
				return err
			}
			labels = append(labels, l)
		} else {
			break
		}
		if err := p.expect(":"); err != nil {
			return err
		}
		if p.fields++; p.fields > maxFields {
			return p.fail("more than 100,000 fields and labels")
		}
	}
	if len(labels) == 0 && !other {
		return p.fail("a case is missing before " + strconv.Quote(clip(p.peek().text)))
	}
	noted, err := p.annotations(scope)
	if err != nil {
		return err
	}
	ref, err := p.typeSpec(scope, 0)
	if err == nil {
		err = p.field(def, ref, noted, scope, seen)
	}
	if err != nil {
		return err
	}
	f := &def.fields[len(def.fields)-1]
	f.labels, f.other = labels, other
	return p.expect(";")
}

// label reads a number, a letter, TRUE, FALSE or the name of a constant or of a value of an enum.
func (p *parser) label(scope []string) (label, error) {
	t := p.peek()
	switch {
	case t.kind == stringToken && len(t.text) == 1:
		p.next()
		return label{number: int64(t.text[0])}, nil
	case p.accept("TRUE"):
		return label{number: 1}, nil
	case p.accept("FALSE"):
		return label{number: 0}, nil
	}
	start := p.at
	n, err := p.expression(scope, 0, 0, false)
	if err == nil {
		return label{number: n}, nil
	}
	p.at = start
	if name, wrong := p.scopedName(); wrong == nil && p.peek().text == ":" {
		return label{name: name}, nil
	}
	p.at = start
	return label{}, err
}

// number returns the value that a label stands for.
func (p *parser) labelNumber(l label, def *structDef, e *enumDef, user string) (int64, error) {
	if l.name == "" {
		return l.number, nil
	}
	if n, err := strconv.ParseInt(e.number(l.name), 10, 64); err == nil {
		return n, nil
	}
	for _, name := range candidates(l.name, def.scope) {
		if n, ok := p.numbers[name]; ok {
			return n, nil
		}
	}
	return 0, &Error{Type: user, What: "label " + l.name + " is missing"}
}

// discriminator checks the type of a discriminator.
func (p *parser) discriminator(m *schema.Message, def *structDef, f *schema.Field) error {
	switch f.Type.Kind {
	case schema.Bool, schema.Int8, schema.Uint8, schema.Int16, schema.Uint16, schema.Int32, schema.Uint32, schema.Int64,
		schema.Uint64,
		schema.Byte, schema.Char, schema.IDLChar, schema.Enum:
		if f.Type.Array == schema.Single && len(def.fields) > 1 {
			return nil
		}
	}
	return &Error{Type: m.Name, What: "it is a union without members, or its discriminator is a " + f.Type.Text()}
}

// unionMember makes a field the field of a union.
func (p *parser) unionMember(m *schema.Message, def *structDef, f fieldDef, field *schema.Field, e *enumDef) error {
	member := &schema.Member{Type: field.Type, Default: f.other}
	for _, l := range f.labels {
		n, err := p.labelNumber(l, def, e, m.Name)
		if err != nil {
			return err
		}
		if i := m.Chosen(n); i >= 0 && !m.Fields[i].Member.Default {
			return &Error{Type: m.Name, What: "two cases have the label " + strconv.FormatInt(n, 10)}
		}
		member.Labels = append(member.Labels, n)
	}
	field.Member, field.Default = member, ""
	atMostOne(&field.Type)
	return nil
}

// atMostOne makes a type a list that may have no values.
func atMostOne(t *schema.Type) {
	switch t.Array {
	case schema.Single:
		t.Array, t.Len = schema.Bounded, 1
	case schema.Fixed:
		t.Array = schema.Bounded
	}
}

// optionalMember makes a field an optional one. A list becomes the field of a struct, so that one
// that is absent differs from one without values.
func (p *parser) optionalMember(m *schema.Message, field *schema.Field) error {
	field.Member, field.Default = &schema.Member{Type: field.Type, Optional: true}, ""
	if a := field.Type.Array; a == schema.Bounded || a == schema.Unbounded {
		t := resolved{Type: field.Type}
		if err := p.wrap(&t, "Value", "data"); err != nil {
			return err
		}
		field.Type = t.Type
	}
	atMostOne(&field.Type)
	return nil
}

// wrap makes of a type a struct with one field of that type.
func (p *parser) wrap(t *resolved, suffix, field string) error {
	m, err := p.bare(suffix, schema.Field{Name: field, Type: t.Type})
	t.Type = schema.Type{Kind: schema.Struct, Message: m}
	return err
}

// bare makes a struct that IDL does not have.
func (p *parser) bare(suffix string, fields ...schema.Field) (*schema.Message, error) {
	if p.typeNames == nil {
		p.typeNames = map[string]int{}
		for name := range p.structs {
			p.typeNames[RosName(name)] = 1
		}
	}
	name := unique(p.typeNames, p.within+suffix)
	if p.flattened += len(fields); p.flattened > maxFields || len(name) > 2*maxName {
		return nil, &Error{Type: clip(name), What: "more than 100,000 fields, or lists within lists that are nested too deep"}
	}
	return &schema.Message{Name: name, Extensibility: schema.Bare, Fields: fields}, nil
}

// entries resolves a map.
func (p *parser) entries(r typeRef, scope []string, user string, depth int) (resolved, error) {
	defer func(outer string) { p.within = outer }(p.within)
	outer := p.within
	p.within = outer + "EntryKey"
	key, err := p.resolve(*r.key, scope, user, depth+1)
	if err != nil {
		return resolved{}, err
	}
	if key.Array != schema.Single {
		return resolved{}, &Error{Type: user, What: "the keys of a map are lists"}
	}
	p.within = outer + "EntryValue"
	value, err := p.resolve(*r.elem, scope, user, depth+1)
	if err != nil {
		return resolved{}, err
	}
	p.within = outer
	m, err := p.bare("Entry", schema.Field{Name: "key", Type: key.Type}, schema.Field{Name: "value", Type: value.Type})
	if err != nil {
		return resolved{}, err
	}
	for _, e := range []*enumDef{key.enum, value.enum} {
		if e != nil {
			p.enums[m] = append(p.enums[m], e)
		}
	}
	return resolved{Type: schema.Type{Kind: schema.Struct, Message: m, Array: r.array, Len: r.len}}, p.addEnums(m)
}

// camel returns the name of a field as a part of the name of a type: "my_names" is "MyNames".
func camel(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(name, "_") {
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}
